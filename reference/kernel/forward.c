/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/kernel/forward.h"

#include <stdio.h>

#include "reference/kernel/shell.h"
#include "reference/problem/normal.h"

attest_status attn_forward(const attest_problem *problem, const attn_profile *profile,
                           char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal normal;
    attest_status status = attn_normalise(&normal, problem, profile, 0, message);
    if (status != ATTEST_OK) {
        return status;
    }
    int wide = problem->q.dtype == ATTEST_F64 || problem->k.dtype == ATTEST_F64 ||
               problem->o.dtype == ATTEST_F64;
    status = wide ? attn_shell_f64(&normal) : attn_shell_f32(&normal);
    if (status != ATTEST_OK && message) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "not enough memory for one row of %lld keys",
                 (long long)normal.keys);
    }
    return status;
}
