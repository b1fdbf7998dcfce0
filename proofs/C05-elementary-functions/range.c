/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clauses of attn_expf that C3 and C4 rest on, for every binary32 x <= 0 on the shipped source
 * bit for bit: 0 <= exp(x) <= 1, exp(0) = 1, exp(-inf) = 0. The sweep finds the same by running it.
 */
#include <math.h>

#include "reference/arithmetic/elementary.h"
#include "proofs/harness/proof.h"

float nondet_float(void);

int main(void) {
    const float x = nondet_float();
    const float y = attn_expf(x);
    PROVE(!(x <= 0) || (y >= 0 && y <= 1), "C5 exp is in [0, 1] below 0");
    PROVE(x != 0 || y == 1, "C5 exp(0) = 1");
    PROVE(x != -INFINITY || y == 0, "C5 exp(-inf) = 0");
    REACHED(x < -1 && y > 0, "an ordinary value");
}
