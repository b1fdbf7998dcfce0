/* SPDX-License-Identifier: Apache-2.0 */
/* forward.h - the reference: every option, every stride, every type, one row at a time. */
#ifndef ATTN_FORWARD_H
#define ATTN_FORWARD_H

#include "reference/problem/profile.h"
#include "spec/attest.h"

/*
 * Computes o (and lse) of a problem. In binary64 where q, k or o is, otherwise in binary32;
 * narrower inputs are widened exactly, outputs rounded once. On anything but ATTEST_OK nothing is
 * written and `message`, unless NULL, names the field and why.
 */
attest_status attn_forward(const attest_problem *problem, const attn_profile *profile,
                           char message[ATTEST_MESSAGE_BYTES]);

#endif
