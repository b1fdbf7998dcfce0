/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row.h - one row of attention on typed, checked pointers. K and V come as tables of row pointers;
 * the pointer of a key that is not visible is never followed (ISO-01).
 */
#ifndef ATTN_ROW_H
#define ATTN_ROW_H

#include "scalar.h"

/*@ requires \valid_read(q + (0 .. d - 1)) && \valid_read(k + (0 .. d - 1));
  @ assigns \nothing;
  @*/
attn_real ATTN_NAME(attn_dot)(const attn_real *q, const attn_real *k, size_t d);

typedef struct ATTN_NAME(attn_score_options) {
    attn_real scale;
    attn_real softcap; /* in force where has_softcap is not 0 */
    int has_softcap;
} ATTN_NAME(attn_score_options);

/* softcap(scale * dot): SEM-04, SEM-05. */
attn_real ATTN_NAME(attn_score)(attn_real dot, const ATTN_NAME(attn_score_options) * options);

/* bias - slope * distance: SEM-08. */
attn_real ATTN_NAME(attn_add_alibi)(attn_real bias, attn_real slope, int64_t distance);

/* Largest visible entry, -inf where none is; NaN entries are passed over. */
attn_real ATTN_NAME(attn_row_max)(const attn_real *s, const unsigned char *visible, size_t n);

/* e[j] = exp(s[j] - max) where visible, +0 elsewhere. */
void ATTN_NAME(attn_row_exp)(attn_real *e, const attn_real *s, const unsigned char *visible,
                             size_t n, attn_real max);

attn_real ATTN_NAME(attn_row_sum)(const attn_real *e, const unsigned char *visible, size_t n);

/* w[j] = e[j] / sum where visible, +0 elsewhere. */
void ATTN_NAME(attn_row_divide)(attn_real *w, const attn_real *e, const unsigned char *visible,
                                size_t n, attn_real sum);

/* out[c] = sum over visible j of w[j] * v[j][c]. */
void ATTN_NAME(attn_row_mix)(attn_real *out, const attn_real *w, const attn_real *const *v,
                             const unsigned char *visible, size_t n, size_t dv);

typedef struct ATTN_NAME(attn_row_problem) {
    const attn_real *q;
    const attn_real *const *k; /* n row pointers of d scalars */
    const attn_real *const *v; /* n row pointers of dv scalars */
    const unsigned char *visible;
    const attn_real *bias; /* n scalars, or NULL */
    size_t n, d, dv;
    ATTN_NAME(attn_score_options) score;
    attn_real sink; /* in force where has_sink is not 0 */
    int has_sink;
} ATTN_NAME(attn_row_problem);

/*
 * The row: out (dv scalars) and *lse; s, e and w (n scalars each) hold scores, exponentials and
 * weights afterwards. A row that sees no key gives out = 0 and *lse = -inf, or the sink.
 */
void ATTN_NAME(attn_row)(attn_real *out, attn_real *lse, attn_real *s, attn_real *e, attn_real *w,
                         const ATTN_NAME(attn_row_problem) * p);

#endif
