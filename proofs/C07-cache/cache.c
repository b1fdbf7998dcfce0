/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One causal pass over S rows gives, word for word, what S decoding steps give: step t writes its
 * key and value to a cache that holds anything before, and attends with one query at offset t.
 */
#include "reference/problem/mask.h"
#include "proofs/harness/pass.h"

/* Step t may be handed the keys so far, or the whole buffer with nothing but a length of t + 1. */
#ifdef WHOLE_BUFFER
#define KEYS(t) S
#define CAUSAL 0
#else
#define KEYS(t) ((t) + 1)
#define CAUSAL 1
#endif

int main(void) {
    static pass_inputs in, cache;
    static pass_results at_once, stepwise;
    any_inputs(&in);
    any_inputs(&cache);
    cache.scale = in.scale;
    for (int i = 0; i < S; i++) {
        for (int j = 0; j < S; j++) {
            in.visible[i][j] = (unsigned char)attn_sees_causal(i, 0, j);
        }
    }
    pass(&in, &at_once);
    pass_scratch scratch;
    _Bool same = 1;
    for (int t = 0; t < S; t++) {
        for (int c = 0; c < D; c++) {
            cache.q[t][c] = in.q[t][c];
            cache.k[t][c] = in.k[t][c];
            cache.v[t][c] = in.v[t][c];
        }
        for (int j = 0; j < S; j++) {
            const attn_band band = {
                .offset = t,
                .left = -1,
                .right = -1,
                .length = t + 1,
                .causal = CAUSAL,
            };
            cache.visible[t][j] = (unsigned char)attn_sees_band(&band, 0, j);
        }
        pass_row(&cache, t, KEYS(t), &scratch, stepwise.out[t], &stepwise.lse[t]);
        same = same && stepwise.lse[t] == at_once.lse[t];
        same = same && same_rows(stepwise.out[t], at_once.out[t]);
    }
    PROVE(same, "C7 steps equal one pass");
    REACHED(same, "end");
}
