/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each weight is in [0, 1], exactly +0 for a hidden key, and without a sink at least one is
 * positive. Exponentials are anywhere in [0, 1], one of them 1: C4 proves that (link.c).
 */
#include "proofs/harness/narrow_row.h"

int main(void) {
    static narrow_row r;
    run_row(&r);
    __CPROVER_assume(r.some_exp_is_one); /* C4, link.c */
    _Bool in_range = 1, masked_zero = 1, positive = 0;
    for (int j = 0; j < N; j++) {
        in_range = in_range && r.w[j] >= ZERO && r.w[j] <= ONE;
        masked_zero = masked_zero && (r.visible[j] || word_of(r.w[j]) == 0);
        positive = positive || r.w[j] > ZERO;
    }
    PROVE(in_range, "C3 weights in [0, 1]");
    PROVE(masked_zero, "C3 masked weight is +0");
#ifndef WITH_SINK
    PROVE(positive, "C3 some weight is positive");
#endif
    REACHED(r.visible[0] && !r.visible[N - 1], "end with a hidden key");
}
