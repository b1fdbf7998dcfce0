/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass.h - one attention pass over S rows and S keys of D scalars as the shell makes it: every row
 * through attn_row, with scratch that the rows share. Tables of row pointers are built from
 * constant addresses, so that symbolic execution resolves every access.
 */
#ifndef ATTN_PROOF_PASS_H
#define ATTN_PROOF_PASS_H

#include "proofs/harness/proof.h"
#include "reference/kernel/row.h"

attn_real nondet_scalar(void);

typedef struct pass_inputs {
    attn_real q[S][D], k[S][D], v[S][D];
    unsigned char visible[S][S];
#if defined(WITH_MASK) || defined(WITH_ALIBI)
    attn_real mask[S][S];
    attn_real slope;
#endif
    attn_real scale, softcap, sink;
} pass_inputs;

typedef struct pass_results {
    attn_real out[S][D], lse[S];
} pass_results;

/* What is left here by one row must not reach another. Never initialised: it holds anything. */
typedef struct pass_scratch {
    attn_real scores[S], exps[S], weights[S];
} pass_scratch;

static void any_rows(attn_real rows[S][D]) {
    for (int j = 0; j < S; j++) {
        for (int c = 0; c < D; c++) {
            rows[j][c] = nondet_scalar();
        }
    }
}

static void any_inputs(pass_inputs *in) {
    any_rows(in->q);
    any_rows(in->k);
    any_rows(in->v);
    for (int i = 0; i < S; i++) {
        for (int j = 0; j < S; j++) {
            in->visible[i][j] = nondet_byte();
#if defined(WITH_MASK) || defined(WITH_ALIBI)
            in->mask[i][j] = nondet_scalar();
#endif
        }
    }
#if defined(WITH_MASK) || defined(WITH_ALIBI)
    in->slope = nondet_scalar();
#endif
    in->scale = nondet_scalar();
    in->softcap = nondet_scalar();
    in->sink = nondet_scalar();
}

/* Row i of `keys` keys. */
static void pass_row(const pass_inputs *in, int i, int keys, pass_scratch *scratch,
                     attn_real out[D], attn_real *lse) {
    const attn_real *k[S], *v[S], *bias = NULL;
    for (int j = 0; j < keys; j++) {
        k[j] = in->k[j];
        v[j] = in->v[j];
    }
#ifdef WITH_ALIBI
    attn_real alibi[S];
    for (int j = 0; j < keys; j++) {
        if (in->visible[i][j]) {
            int64_t distance = i < j ? j - i : i - j;
            alibi[j] = ATTN_NAME(attn_add_alibi)(in->mask[i][j], in->slope, distance);
        }
    }
    bias = alibi;
#elif defined(WITH_MASK)
    bias = in->mask[i];
#endif
    ATTN_NAME(attn_row_problem)
    row = {
        .q = in->q[i],
        .k = k,
        .v = v,
        .visible = in->visible[i],
        .bias = bias,
        .n = (size_t)keys,
        .d = D,
        .dv = D,
        .score = {.scale = in->scale, .softcap = in->softcap},
        .sink = in->sink,
    };
#ifdef WITH_SOFTCAP
    row.score.has_softcap = 1;
#endif
#ifdef WITH_SINK
    row.has_sink = 1;
#endif
    ATTN_NAME(attn_row)(out, lse, scratch->scores, scratch->exps, scratch->weights, &row);
}

static void pass(const pass_inputs *in, pass_results *result) {
    pass_scratch scratch;
    for (int i = 0; i < S; i++) {
        pass_row(in, i, S, &scratch, result->out[i], &result->lse[i]);
    }
}

static _Bool same_rows(const attn_real *a, const attn_real *b) {
    _Bool same = 1;
    for (int c = 0; c < D; c++) {
        same = same && a[c] == b[c];
    }
    return same;
}

#endif
