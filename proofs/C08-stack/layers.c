/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two causal layers, each with a mask of its own inside the causal one. Projections and the
 * feed-forward part with its residual are arbitrary functions of one position's vector. Inputs that
 * agree up to position ROW give the same vector at ROW after both layers.
 */
#include "reference/problem/mask.h"
#include "proofs/harness/pass.h"

#if D != 2
#error "the projections below take the vectors of two scalars"
#endif

attn_real __CPROVER_uninterpreted_project(int layer, int which, int c, attn_real x0, attn_real x1);
attn_real __CPROVER_uninterpreted_feed(int layer, int c, attn_real x0, attn_real x1, attn_real o0,
                                       attn_real o1);

#define LAYERS 2

static void stack(attn_real x[S][D], const unsigned char hidden[LAYERS][S][S], attn_real scale) {
    static pass_inputs in;
    static pass_results result;
    in.scale = scale;
    for (int layer = 0; layer < LAYERS; layer++) {
        for (int i = 0; i < S; i++) {
            for (int c = 0; c < D; c++) {
                in.q[i][c] = __CPROVER_uninterpreted_project(layer, 0, c, x[i][0], x[i][1]);
                in.k[i][c] = __CPROVER_uninterpreted_project(layer, 1, c, x[i][0], x[i][1]);
                in.v[i][c] = __CPROVER_uninterpreted_project(layer, 2, c, x[i][0], x[i][1]);
            }
            for (int j = 0; j < S; j++) {
                in.visible[i][j] = attn_sees_causal(i, 0, j) && !hidden[layer][i][j];
            }
        }
        pass(&in, &result);
        for (int i = 0; i < S; i++) {
            const attn_real x0 = x[i][0], x1 = x[i][1];
            for (int c = 0; c < D; c++) {
                x[i][c] = __CPROVER_uninterpreted_feed(layer, c, x0, x1, result.out[i][0],
                                                       result.out[i][1]);
            }
        }
    }
}

int main(void) {
    static attn_real a[S][D], b[S][D];
    static unsigned char hidden_a[LAYERS][S][S], hidden_b[LAYERS][S][S];
    const attn_real scale = nondet_scalar();
    any_rows(a);
    any_rows(b);
    for (int i = 0; i < S; i++) {
        for (int layer = 0; layer < LAYERS; layer++) {
            for (int j = 0; j < S; j++) {
                hidden_a[layer][i][j] = nondet_byte();
                hidden_b[layer][i][j] = i <= ROW ? hidden_a[layer][i][j] : nondet_byte();
            }
        }
        for (int c = 0; c < D; c++) {
            b[i][c] = i <= ROW ? a[i][c] : b[i][c];
        }
    }
    const _Bool differ = a[S - 1][0] != b[S - 1][0];
    stack(a, hidden_a, scale);
    stack(b, hidden_b, scale);
    PROVE(same_rows(a[ROW], b[ROW]), "C8 stack is causal");
    REACHED(differ || ROW == S - 1, "end with other inputs later on");
}
