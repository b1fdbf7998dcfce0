/* SPDX-License-Identifier: Apache-2.0 */
/*
 * narrow_row.h - one row of N keys in a narrow format: any of them visible, not none, any finite
 * scores. With a head size of 0 the dot products are 0 and the bias is the score, so attn_row runs
 * on every vector of scores. Every N' <= N is covered by the masks that show N' keys.
 */
#ifndef ATTN_PROOF_NARROW_ROW_H
#define ATTN_PROOF_NARROW_ROW_H

#include <string.h>

#include "proofs/harness/proof.h"
#include "reference/kernel/row.h"

attn_real narrow_last_exp, narrow_last_log_argument;
_Bool narrow_exp_in_domain = 1;

typedef struct narrow_row {
    attn_real score[N], s[N], e[N], w[N], sink, lse;
    unsigned char visible[N];
    _Bool some_exp_is_one;
} narrow_row;

#if PROOF_FORMAT == 143 || PROOF_FORMAT == 152
typedef unsigned char narrow_word;
#else
typedef unsigned short narrow_word;
#endif

static narrow_word word_of(attn_real x) {
    narrow_word word;
    memcpy(&word, &x, sizeof word);
    return word;
}

static _Bool is_finite(attn_real x) { return x - x == ZERO; }

static void run_row(narrow_row *r) {
    const attn_real *no_rows[N];
    _Bool any = 0, finite = 1;
    for (int j = 0; j < N; j++) {
        r->score[j] = nondet_scalar();
        r->visible[j] = nondet_bool();
        no_rows[j] = NULL;
        any = any || r->visible[j];
        finite = finite && (!r->visible[j] || is_finite(r->score[j]));
    }
    r->sink = nondet_scalar();
    ATTN_NAME(attn_row_problem)
    row = {
        .k = no_rows,
        .v = no_rows,
        .visible = r->visible,
        .bias = r->score,
        .n = N,
        .score = {.scale = ONE},
        .sink = r->sink,
    };
#ifdef WITH_SINK
    row.has_sink = 1;
    finite = finite && is_finite(r->sink);
#endif
    __CPROVER_assume(any && finite); /* the premises of C3 and C4 */
    ATTN_NAME(attn_row)(NULL, &r->lse, r->s, r->e, r->w, &row);
    r->some_exp_is_one = 0;
    for (int j = 0; j < N; j++) {
        r->some_exp_is_one = r->some_exp_is_one || (r->visible[j] && r->e[j] == ONE);
    }
#ifdef WITH_SINK
    r->some_exp_is_one = r->some_exp_is_one || narrow_last_exp == ONE;
#endif
}

#endif
