/* SPDX-License-Identifier: Apache-2.0 */
/* validate.h - is this a valid problem? Every field is looked at before anything is computed. */
#ifndef ATTN_VALIDATE_H
#define ATTN_VALIDATE_H

#include "spec/attest.h"

/* Limits that keep every position and every product of two axes inside int64_t (SEM-03). */
#define ATTN_MAX_AXIS (INT64_C(1) << 40)
#define ATTN_MAX_OFFSET (INT64_C(1) << 62)

/*
 * ATTEST_OK, or ATTEST_INVALID or ATTEST_UNSUPPORTED with a message that names the field and why
 * (ERR-01..06). With `metadata_only`, data pointers may be NULL and what they hold is not read.
 */
attest_status attn_check(const attest_problem *problem, int metadata_only,
                         char message[ATTEST_MESSAGE_BYTES]);

/* Bytes an element of this type takes; 0 for a type that does not exist. */
int64_t attn_dtype_bytes(attest_dtype dtype);

#endif
