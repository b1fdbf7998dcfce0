/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First half of C4. The maximum is subtracted, so with nothing known of exp but its contract every
 * argument of exp is at most 0 and some exponential (a key's or the sink's) is exactly 1.
 */
#include "proofs/harness/narrow_row.h"

int main(void) {
    static narrow_row r;
    run_row(&r);
    PROVE(narrow_exp_in_domain, "C4 exponents at most 0");
    PROVE(r.some_exp_is_one, "C4 some exponential is 1");
    REACHED(r.visible[0] && r.visible[N - 1] && r.score[0] != r.score[N - 1], "end");
}
