/* SPDX-License-Identifier: Apache-2.0 */
#include "impl/frame/entry.h"

#include "reference/problem/normal.h"

uint64_t attn_drive_bytes_f32(const attn_normal *normal);
uint64_t attn_drive_bytes_f64(const attn_normal *normal);
attest_status attn_drive_f32(const attn_normal *normal, const struct attn_engine_f32 *engine,
                             char message[ATTEST_MESSAGE_BYTES]);
attest_status attn_drive_f64(const attn_normal *normal, const struct attn_engine_f64 *engine,
                             char message[ATTEST_MESSAGE_BYTES]);

static int is_wide(const attest_problem *p) {
    return p->q.dtype == ATTEST_F64 || p->k.dtype == ATTEST_F64 || p->o.dtype == ATTEST_F64;
}

attest_status attn_entry_supports(const attest_problem *problem,
                                  char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal normal;
    return attn_normalise(&normal, problem, &attn_profile_attest, 1, message);
}

uint64_t attn_entry_workspace(const attest_problem *problem, int always_wide) {
    char message[ATTEST_MESSAGE_BYTES];
    attn_normal normal;
    if (attn_normalise(&normal, problem, &attn_profile_attest, 1, message) != ATTEST_OK) {
        return 0;
    }
    int wide = always_wide || is_wide(problem);
    return wide ? attn_drive_bytes_f64(&normal) : attn_drive_bytes_f32(&normal);
}

attest_status attn_entry_forward(const attest_problem *problem, const struct attn_engine_f32 *f32,
                                 const struct attn_engine_f64 *f64,
                                 char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal normal;
    attest_status status = attn_normalise(&normal, problem, &attn_profile_attest, 0, message);
    if (status != ATTEST_OK) {
        return status;
    }
    return !f32 || is_wide(problem) ? attn_drive_f64(&normal, f64, message)
                                    : attn_drive_f32(&normal, f32, message);
}
