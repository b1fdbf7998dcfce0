/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry.h - what stands between the ABI and the walk around the frame: a problem is checked,
 * resolved, and handed to the width it needs. Included by the one file that makes a kernel.
 */
#ifndef ATTN_ENTRY_H
#define ATTN_ENTRY_H

#include "spec/attest.h"

struct attn_engine_f32;
struct attn_engine_f64;

#define ATTN_ALL_FLOATS                                                                            \
    (UINT64_C(1) << ATTEST_F32 | UINT64_C(1) << ATTEST_F64 | UINT64_C(1) << ATTEST_F16 |           \
     UINT64_C(1) << ATTEST_BF16)
#define ATTN_ALL_SAME                                                                              \
    (ATTEST_SAME_THREADS | ATTEST_SAME_POSITION | ATTEST_SAME_BATCH | ATTEST_SAME_CHUNK |          \
     ATTEST_SAME_DECODE | ATTEST_SAME_PREFIX)

/* What every kernel on the frame says of itself; name, model and calls are its own. */
#define ATTN_ENTRY_DESCRIPTOR                                                                      \
    .struct_bytes = sizeof(attest_kernel), .abi_version = ATTEST_ABI_VERSION, .vendor = "attest",  \
    .version = "1", .profile = "attest", .features = ATTEST_ALL_FEATURES,                          \
    .shapes = ATTEST_ALL_SHAPES, .dtypes = ATTN_ALL_FLOATS, .isolation = ATTEST_ISOLATION_FULL,    \
    .determinism = ATTN_ALL_SAME, .reentrant = 1, .supports = attn_entry_supports

attest_status attn_entry_supports(const attest_problem *problem,
                                  char message[ATTEST_MESSAGE_BYTES]);

/* `always_wide`: as for a call of attn_entry_forward without an engine for binary32. */
uint64_t attn_entry_workspace(const attest_problem *problem, int always_wide);

/* Binary64 is used where q, k or o is, and for everything where f32 is NULL. */
attest_status attn_entry_forward(const attest_problem *problem, const struct attn_engine_f32 *f32,
                                 const struct attn_engine_f64 *f64,
                                 char message[ATTEST_MESSAGE_BYTES]);

#endif
