/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mask predicates on every int64_t against the sets of mask.h, written apart in integers wide
 * enough that nothing overflows. One predicate a run (PART): together they are too much for a
 * solver.
 */
#include "reference/problem/mask.h"
#include "proofs/harness/proof.h"

typedef __CPROVER_bitvector[67] integer; /* any sum or difference of three int64_t */

#define PART_CAUSAL 1
#define PART_LEFT 2
#define PART_RIGHT 3
#define PART_BAND 4

int main(void) {
    const int64_t i = nondet_long(), j = nondet_long(), offset = nondet_long();
    const int64_t left = nondet_long(), right = nondet_long(), length = nondet_long();
    const integer wide_i = i, wide_j = j, wide_offset = offset;
    __CPROVER_assume(i >= 0 && j >= 0); /* rows and keys are counted from 0 */
#if PART == PART_CAUSAL
    PROVE(attn_sees_causal(i, offset, j) == (wide_j <= wide_i + wide_offset), "C9 causal");
    PROVE(attn_sees_length(length, j) == (j < length), "C9 length");
    REACHED(attn_sees_causal(i, offset, j), "a visible key");
#elif PART == PART_LEFT
    const _Bool inside = left < 0 || wide_i + wide_offset - (integer)left <= wide_j;
    PROVE(attn_sees_window(i, offset, left, ATTN_NO_LIMIT, j) == inside, "C9 window, left side");
    REACHED(left >= 0 && inside, "a visible key");
#elif PART == PART_RIGHT
    const _Bool inside = right < 0 || wide_j <= wide_i + wide_offset + (integer)right;
    PROVE(attn_sees_window(i, offset, ATTN_NO_LIMIT, right, j) == inside, "C9 window, right side");
    REACHED(right >= 0 && inside, "a visible key");
#else
    const attn_band band = {
        .offset = offset,
        .left = left,
        .right = right,
        .length = length,
        .causal = nondet_int(),
    };
    const _Bool window = attn_sees_window(i, offset, left, right, j);
    PROVE(window == (attn_sees_window(i, offset, left, ATTN_NO_LIMIT, j) &&
                     attn_sees_window(i, offset, ATTN_NO_LIMIT, right, j)),
          "C9 window is the intersection of its sides");
    PROVE(attn_sees_band(&band, i, j) == ((!band.causal || attn_sees_causal(i, offset, j)) &&
                                          window && attn_sees_length(length, j)),
          "C9 band is the intersection");
    REACHED(attn_sees_band(&band, i, j) && band.causal && left >= 0 && right >= 0, "a visible key");
#endif
}
