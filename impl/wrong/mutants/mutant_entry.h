/* SPDX-License-Identifier: Apache-2.0 */
/* mutant_entry.h - the ABI side of a family; included after run() and scratch_bytes(). */
#ifndef ATTN_MUTANT_ENTRY_H
#define ATTN_MUTANT_ENTRY_H

#include <stdio.h>

#include "reference/problem/normal.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

static attest_status check(attn_normal *n, const attest_problem *p, int metadata_only,
                           char message[ATTEST_MESSAGE_BYTES]) {
    attest_status status = attn_normalise(n, p, &attn_profile_attest, metadata_only, message);
    if (status == ATTEST_OK &&
        (p->q.dtype == ATTEST_F64 || p->k.dtype == ATTEST_F64 || p->o.dtype == ATTEST_F64)) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "dtype: binary64 is not in this kernel");
        return ATTEST_UNSUPPORTED;
    }
    return status;
}

static attest_status plain_supports(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal n;
    return check(&n, p, 1, message);
}

static uint64_t plain_workspace_bytes(const attest_problem *p) {
    char message[ATTEST_MESSAGE_BYTES];
    attn_normal n;
    return check(&n, p, 1, message) == ATTEST_OK ? scratch_bytes(&n) : 0;
}

static attest_status plain_forward(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal n;
    attest_status status = check(&n, p, 0, message);
    if (status != ATTEST_OK) {
        return status;
    }
    if (p->workspace_bytes < scratch_bytes(&n) || (scratch_bytes(&n) > 0 && !p->workspace)) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "workspace_bytes: too few");
        return ATTEST_NO_MEMORY;
    }
    run(&n);
    return ATTEST_OK;
}

#define ALL_SAME                                                                                   \
    (ATTEST_SAME_THREADS | ATTEST_SAME_POSITION | ATTEST_SAME_BATCH | ATTEST_SAME_CHUNK |          \
     ATTEST_SAME_DECODE | ATTEST_SAME_PREFIX)

/* A family may put its own in place of these. */
#ifndef SUPPORTS
#define SUPPORTS plain_supports
#endif
#ifndef WORKSPACE_BYTES
#define WORKSPACE_BYTES plain_workspace_bytes
#endif
#ifndef FORWARD
#define FORWARD plain_forward
#endif

#ifndef KERNEL_NAME
#define KERNEL_NAME FAMILY "/" TEXT(MUTANT)
#endif
#ifndef MODEL
#define MODEL "f32-strict"
#endif
#ifndef FEATURES
#define FEATURES ATTEST_ALL_FEATURES
#endif

static const attest_kernel kernel = {
    .struct_bytes = sizeof kernel,
    .abi_version = ATTEST_ABI_VERSION,
    .name = KERNEL_NAME,
    .vendor = "attest",
    .version = "1",
    .profile = "attest",
    .model = MODEL,
    .features = FEATURES,
    .shapes = ATTEST_ALL_SHAPES,
    .dtypes = UINT64_C(1) << ATTEST_F32 | UINT64_C(1) << ATTEST_F16 | UINT64_C(1) << ATTEST_BF16,
    .isolation = ATTEST_ISOLATION_FULL,
    .determinism = ALL_SAME,
    .reentrant = 1,
    .supports = SUPPORTS,
    .workspace_bytes = WORKSPACE_BYTES,
    .forward = FORWARD,
};

#ifndef OWN_ENTRY
const attest_kernel *attest_kernel_v1(uint32_t host_abi_version) {
    return host_abi_version == ATTEST_ABI_VERSION ? &kernel : NULL;
}
#endif

#endif
