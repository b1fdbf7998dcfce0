/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "reference/problem/convert.h"
#include "vectors/write/emit.h"

/* 1 if any of these values, stored as the output's type, is not what is expected. */
static int notices(const attest_expected *expected, const double *radius, size_t count,
                   attest_dtype stored_as, const double *actual) {
    for (size_t k = 0; k < count; k++) {
        if (!attest_within(expected[k].high, expected[k].low, radius[k],
                           attn_round_to(stored_as, actual[k]))) {
            return 1;
        }
    }
    return 0;
}

int attest_rejections(const attn_normal *n, const attest_expectation *e,
                      unsigned char on[ATTEST_DEFECTS]) {
    const attest_problem *p = n->problem;
    double *o = calloc(e->o_count + 1, sizeof *o), *lse = calloc(e->lse_count + 1, sizeof *lse);
    int status = o && lse ? 0 : -1;
    for (int d = -1; status == 0 && d < ATTEST_DEFECTS; d++) { /* -1: none, must be accepted */
        attest_defect defect = d < 0 ? ATTEST_CHEAT_ZEROS : (attest_defect)d;
        status = attest_defective(n, &defect, d >= 0, o, lse);
        int by_o = notices(e->o, e->o_radius[e->judge], e->o_count, p->o.dtype, o);
        int by_lse = notices(e->lse, e->lse_radius[e->judge], e->lse_count, p->lse.dtype, lse);
        if (d >= 0) {
            on[d] = by_o ? 1 : by_lse ? 2 : 0;
        } else if (by_o || by_lse) {
            status = -1;
        }
    }
    free(o);
    free(lse);
    return status;
}
