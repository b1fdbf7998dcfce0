/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row ROW of a causal pass over S keys is, word for word, the last row of a pass over the first ROW
 * + 1 keys alone. The prefix lives in allocations of exactly its size, so with pointer checks on a
 * read beyond it would fail of its own.
 */
#include <stdlib.h>

#include "reference/problem/mask.h"
#include "proofs/harness/pass.h"

#define N (ROW + 1)

static void causal(pass_inputs *in) {
    for (int i = 0; i < S; i++) {
        for (int j = 0; j < S; j++) {
            in->visible[i][j] = (unsigned char)attn_sees_causal(i, 0, j);
        }
    }
}

int main(void) {
    static pass_inputs all;
    static pass_results result;
    any_inputs(&all);
    causal(&all);
    pass(&all, &result);

    attn_real *k_rows[N], *v_rows[N], *q = malloc(D * sizeof *q);
    const attn_real *k[N], *v[N];
    unsigned char *visible = malloc(N);
    __CPROVER_assume(q && visible);
    for (int c = 0; c < D; c++) {
        q[c] = all.q[ROW][c];
    }
    for (int j = 0; j < N; j++) {
        k_rows[j] = malloc(D * sizeof(attn_real));
        v_rows[j] = malloc(D * sizeof(attn_real));
        __CPROVER_assume(k_rows[j] && v_rows[j]);
        for (int c = 0; c < D; c++) {
            k_rows[j][c] = all.k[j][c];
            v_rows[j][c] = all.v[j][c];
        }
        k[j] = k_rows[j];
        v[j] = v_rows[j];
        visible[j] = (unsigned char)attn_sees_causal(ROW, 0, j);
    }
    attn_real out[D], lse, scores[N], exps[N], weights[N];
    const ATTN_NAME(attn_row_problem) row = {
        .q = q,
        .k = k,
        .v = v,
        .visible = visible,
        .n = N,
        .d = D,
        .dv = D,
        .score = {.scale = all.scale},
    };
    ATTN_NAME(attn_row)(out, &lse, scores, exps, weights, &row);
    PROVE(lse == result.lse[ROW] && same_rows(out, result.out[ROW]), "C6 row equals prefix");
    REACHED(visible[ROW], "end, and the row sees itself");
}
