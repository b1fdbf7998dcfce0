/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grouped query heads: HQ query heads share HKV key-value heads through attn_kv_head. Two passes
 * agree on the query and mask of row ROW of head HEAD and on what that row sees in its own KV head;
 * queries of all others and every other KV head are arbitrary.
 */
#include "reference/problem/normal.h"
#include "proofs/harness/pass.h"

#define HQ 4
#define HKV 2

typedef struct heads {
    attn_real q[HQ][S][D], k[HKV][S][D], v[HKV][S][D];
    unsigned char visible[HQ][S][S];
    attn_real scale;
} heads;

static void any_heads(heads *in) {
    for (int h = 0; h < HQ; h++) {
        any_rows(in->q[h]);
        for (int i = 0; i < S; i++) {
            for (int j = 0; j < S; j++) {
                in->visible[h][i][j] = nondet_byte();
            }
        }
    }
    for (int h = 0; h < HKV; h++) {
        any_rows(in->k[h]);
        any_rows(in->v[h]);
    }
    in->scale = nondet_scalar();
}

static void one_row(const heads *in, int h, int i, attn_real out[D], attn_real *lse) {
    const attn_normal normal = {
        .q_heads = HQ,
        .kv_heads = HKV,
        .profile = {.gqa_order = TILED ? ATTN_GQA_TILED : ATTN_GQA_GROUPED},
    };
    const int64_t kv_head = attn_kv_head(&normal, h);
    attn_real scores[S], exps[S], weights[S];
    const attn_real *k[S], *v[S];
    for (int j = 0; j < S; j++) {
        k[j] = in->k[kv_head][j];
        v[j] = in->v[kv_head][j];
    }
    const ATTN_NAME(attn_row_problem) row = {
        .q = in->q[h][i],
        .k = k,
        .v = v,
        .visible = in->visible[h][i],
        .n = S,
        .d = D,
        .dv = D,
        .score = {.scale = in->scale},
    };
    ATTN_NAME(attn_row)(out, lse, scores, exps, weights, &row);
}

int main(void) {
    static heads a, b;
    static attn_real out_a[HQ][S][D], out_b[HQ][S][D], lse_a[HQ][S], lse_b[HQ][S];
    const int own = TILED ? HEAD % HKV : HEAD / (HQ / HKV);
    any_heads(&a);
    any_heads(&b);
    b.scale = a.scale;
    for (int c = 0; c < D; c++) {
        b.q[HEAD][ROW][c] = a.q[HEAD][ROW][c];
    }
    for (int j = 0; j < S; j++) {
        const _Bool seen = a.visible[HEAD][ROW][j] != 0;
        b.visible[HEAD][ROW][j] = a.visible[HEAD][ROW][j];
        for (int c = 0; c < D; c++) {
            b.k[own][j][c] = seen ? a.k[own][j][c] : b.k[own][j][c];
            b.v[own][j][c] = seen ? a.v[own][j][c] : b.v[own][j][c];
        }
    }
    for (int h = 0; h < HQ; h++) {
        for (int i = 0; i < S; i++) {
            one_row(&a, h, i, out_a[h][i], &lse_a[h][i]);
            one_row(&b, h, i, out_b[h][i], &lse_b[h][i]);
        }
    }
    PROVE(lse_a[HEAD][ROW] == lse_b[HEAD][ROW] && same_rows(out_a[HEAD][ROW], out_b[HEAD][ROW]),
          "C1 row unchanged");
    REACHED(a.k[!own][0][0] != b.k[!own][0][0], "end with another KV head changed");
}
