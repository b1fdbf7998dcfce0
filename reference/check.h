/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - is this a valid problem? Every field is looked at before anything is computed. */
#ifndef ATTN_CHECK_H
#define ATTN_CHECK_H

#include "attest.h"

/*
 * ATTEST_OK, or ATTEST_INVALID or ATTEST_UNSUPPORTED with a message that names the field and why
 * (ERR-01..06). With `metadata_only`, data pointers may be NULL and what they hold is not read.
 */
attest_status attn_check(const attest_problem *problem, int metadata_only,
                         char message[ATTEST_MESSAGE_BYTES]);

#endif
