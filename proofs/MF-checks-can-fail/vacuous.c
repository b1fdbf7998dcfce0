/* SPDX-License-Identifier: Apache-2.0 */
/* A contradictory assumption: everything after it holds, and nothing after it is reached. */
#include "proofs/harness/proof.h"

int main(void) {
    const int x = nondet_int();
    __CPROVER_assume(x > 3);
    __CPROVER_assume(x < 2);
    PROVE(x == 1000, "x is 1000");
    REACHED(1, "end");
}
