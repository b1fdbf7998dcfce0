/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Second half of C4: exponentials anywhere in [0, 1], one of them 1 (link.c proves both). The sum
 * of the weights, and of the sink's where there is one, is within TERMS * 2^-(fraction bits + 1) of
 * 1.
 *
 * The sum is taken in integers: multiples of 2^-UNIT_LOG2, the least positive number of the format.
 * bfloat16 reaches down to 2^-133; there a weight is cut down to a multiple of 2^-40, and the upper
 * side of the claim makes room for the TERMS cuts.
 */
#include "proofs/harness/narrow_row.h"

#if PROOF_FORMAT == 143
#define FRACTION 3
#define EXPONENT 4
#define UNIT_LOG2 9
#elif PROOF_FORMAT == 152
#define FRACTION 2
#define EXPONENT 5
#define UNIT_LOG2 16
#elif PROOF_FORMAT == 187
#define FRACTION 7
#define EXPONENT 8
#define UNIT_LOG2 40
#else
#define FRACTION 10
#define EXPONENT 5
#define UNIT_LOG2 24
#endif

#ifdef WITH_SINK
#define TERMS (N + 1)
#else
#define TERMS N
#endif
#define LOWEST (2 - (1 << (EXPONENT - 1)) - FRACTION + UNIT_LOG2) /* shift of a denormal */
#define CUTS (LOWEST < 0 ? TERMS : 0)
#ifndef PARTS /* of TERMS * 2^-(FRACTION + 1), in sixteenths */
#define PARTS 16
#endif
#define ONE_UNITS (1ul << UNIT_LOG2)
#define BOUND_UNITS ((ONE_UNITS >> (FRACTION + 1)) * TERMS * PARTS / 16)

static unsigned long units(attn_real weight) {
    const unsigned word = word_of(weight);
    const unsigned fraction = word & ((1u << FRACTION) - 1);
    const int exponent = (int)(word >> FRACTION & ((1u << EXPONENT) - 1));
    const unsigned long digits = exponent == 0 ? fraction : 1ul << FRACTION | fraction;
    const int shift = LOWEST + (exponent == 0 ? 0 : exponent - 1);
    return shift >= 0 ? digits << shift : shift > -20 ? digits >> -shift : 0;
}

int main(void) {
    static narrow_row r;
    run_row(&r);
    __CPROVER_assume(r.some_exp_is_one); /* proved by link.c */
    unsigned long sum = 0;
    for (int j = 0; j < N; j++) {
        sum += units(r.w[j]);
    }
#ifdef WITH_SINK
    sum += units(DIV(narrow_last_exp, narrow_last_log_argument));
#endif
    PROVE(sum + BOUND_UNITS >= ONE_UNITS && sum + CUTS <= ONE_UNITS + BOUND_UNITS,
          "C4 weights sum to 1");
    REACHED(r.visible[0] && r.visible[N - 1] && (N == 1 || r.w[0] != r.w[N - 1]), "end");
}
