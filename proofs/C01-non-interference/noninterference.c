/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two passes that agree on row `row`'s query, mask row and visible keys and values, and on nothing
 * else: that row's output and LSE are the same words. Without ROW the row is symbolic too; arrays
 * are then picked from by comparing constant indices, which the solvers take better than a symbolic
 * index.
 */
#include "proofs/harness/pass.h"

static attn_real pick(_Bool first, attn_real a, attn_real b) { return first ? a : b; }

/* b becomes an input that row `row` of a pass must not tell from a. */
static void agree_on_row(const pass_inputs *a, pass_inputs *b, int row) {
    _Bool seen[S];
    for (int j = 0; j < S; j++) {
        seen[j] = 0;
        for (int i = 0; i < S; i++) {
            seen[j] = seen[j] || (i == row && a->visible[i][j]);
            b->visible[i][j] = i == row ? a->visible[i][j] : b->visible[i][j];
        }
        for (int c = 0; c < D; c++) {
            b->q[j][c] = pick(j == row, a->q[j][c], b->q[j][c]);
            b->k[j][c] = pick(seen[j], a->k[j][c], b->k[j][c]);
            b->v[j][c] = pick(seen[j], a->v[j][c], b->v[j][c]);
        }
#if defined(WITH_MASK) || defined(WITH_ALIBI)
        for (int i = 0; i < S; i++) {
            b->mask[i][j] = pick(i == row && seen[j], a->mask[i][j], b->mask[i][j]);
        }
#endif
    }
#if defined(WITH_MASK) || defined(WITH_ALIBI)
    b->slope = a->slope;
#endif
    b->scale = a->scale;
    b->softcap = a->softcap;
    b->sink = a->sink;
}

int main(void) {
    static pass_inputs a, b;
    static pass_results from_a, from_b;
#ifdef ROW
    const int row = ROW;
#else
    const int row = nondet_byte() % S;
#endif
    any_inputs(&a);
    any_inputs(&b);
    agree_on_row(&a, &b, row);
    pass(&a, &from_a);
    pass(&b, &from_b);
    _Bool same = 1;
    for (int i = 0; i < S; i++) {
        _Bool same_here = from_a.lse[i] == from_b.lse[i] && same_rows(from_a.out[i], from_b.out[i]);
        same = same && (i != row || same_here);
    }
    PROVE(same, "C1 row unchanged");
    REACHED(a.v[S - 1][0] != b.v[S - 1][0] && row < S - 1, "end with another value in a later row");
}
