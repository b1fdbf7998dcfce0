/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row.h - one row of attention on typed, checked pointers. K and V come as tables of row pointers;
 * the pointer of a key that is not visible is never followed (ISO-01).
 */
#ifndef ATTN_ROW_H
#define ATTN_ROW_H

#include "reference/arithmetic/scalar.h"

typedef struct ATTN_NAME(attn_score_options) {
    attn_real scale;
    attn_real softcap; /* in force where has_softcap is not 0 */
    int has_softcap;
} ATTN_NAME(attn_score_options);

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

#include "reference/kernel/row_sums.h"

/*@ requires \valid_read(q + (0 .. d - 1)) && \valid_read(k + (0 .. d - 1));
  @ terminates \true;
  @ assigns \nothing;
  @ ensures C2: same(\result, dot_of(q, k, d));
  @*/
attn_real ATTN_NAME(attn_dot)(const attn_real *q, const attn_real *k, size_t d);

/* softcap(scale * dot): SEM-04, SEM-05. */
/*@ requires \valid_read(options);
  @ terminates \true;
  @ assigns \nothing;
  @ ensures C2: same(\result, bend(options->has_softcap, options->softcap,
  @                                   f_mul(options->scale, dot)));
  @*/
attn_real ATTN_NAME(attn_score)(attn_real dot, const ATTN_NAME(attn_score_options) * options);

/* bias - slope * distance: SEM-08. */
/*@ terminates \true;
  @ assigns \nothing;
  @*/
attn_real ATTN_NAME(attn_add_alibi)(attn_real bias, attn_real slope, int64_t distance);

/* Largest visible entry, -inf where none is; NaN entries are passed over. */
/*@ requires \valid_read(visible + (0 .. n - 1));
  @ requires \forall integer j; 0 <= j < n && visible[j] != 0 ==> \valid_read(s + j);
  @ terminates \true;
  @ assigns \nothing;
  @ ensures C2: same(\result, max_of(s, visible, n));
  @*/
attn_real ATTN_NAME(attn_row_max)(const attn_real *s, const unsigned char *visible, size_t n);

/* e[j] = exp(s[j] - max) where visible, +0 elsewhere. */
/*@ requires \valid(e + (0 .. n - 1)) && \valid_read(visible + (0 .. n - 1));
  @ requires \forall integer j; 0 <= j < n && visible[j] != 0 ==> \valid_read(s + j);
  @ requires \separated(e + (0 .. n - 1), s + (0 .. n - 1));
  @ requires \separated(e + (0 .. n - 1), visible + (0 .. n - 1));
  @ terminates \true;
  @ assigns e[0 .. n - 1];
  @ ensures C2: exp_row(e, s, visible, n, max);
  @ ensures C4: lowered{Pre}(s, visible, n, max) ==> unit_row(e, visible, n);
  @ ensures C4: lowered{Pre}(s, visible, n, max) ==> attains{Pre}(s, visible, n, max) ==>
  @               has_one(e, visible, n);
  @*/
void ATTN_NAME(attn_row_exp)(attn_real *e, const attn_real *s, const unsigned char *visible,
                             size_t n, attn_real max);

/*@ requires \valid_read(visible + (0 .. n - 1));
  @ requires \forall integer j; 0 <= j < n && visible[j] != 0 ==> \valid_read(e + j);
  @ terminates \true;
  @ assigns \nothing;
  @ ensures C2: same(\result, sum_of(e, visible, n));
  @*/
attn_real ATTN_NAME(attn_row_sum)(const attn_real *e, const unsigned char *visible, size_t n);

/* w[j] = e[j] / sum where visible, +0 elsewhere. */
/*@ requires \valid(w + (0 .. n - 1)) && \valid_read(visible + (0 .. n - 1));
  @ requires \forall integer j; 0 <= j < n && visible[j] != 0 ==> \valid_read(e + j);
  @ requires \separated(w + (0 .. n - 1), e + (0 .. n - 1));
  @ requires \separated(w + (0 .. n - 1), visible + (0 .. n - 1));
  @ terminates \true;
  @ assigns w[0 .. n - 1];
  @ ensures C2: divide_row(w, e, visible, n, sum);
  @*/
void ATTN_NAME(attn_row_divide)(attn_real *w, const attn_real *e, const unsigned char *visible,
                                size_t n, attn_real sum);

/* out[c] = sum over visible j of w[j] * v[j][c]. */
/*@ requires \valid(out + (0 .. dv - 1)) && \valid_read(visible + (0 .. n - 1));
  @ requires \forall integer j; 0 <= j < n && visible[j] != 0 ==>
  @            \valid_read(w + j) && \valid_read(v + j) && \valid_read(v[j] + (0 .. dv - 1)) &&
  @            \separated(out + (0 .. dv - 1), v + j) &&
  @            \separated(out + (0 .. dv - 1), v[j] + (0 .. dv - 1));
  @ requires \separated(out + (0 .. dv - 1), w + (0 .. n - 1));
  @ requires \separated(out + (0 .. dv - 1), visible + (0 .. n - 1));
  @ terminates \true;
  @ assigns out[0 .. dv - 1];
  @ ensures C2: mix_row{Post, Post}(out, w, v, visible, n, dv);
  @*/
void ATTN_NAME(attn_row_mix)(attn_real *out, const attn_real *w, const attn_real *const *v,
                             const unsigned char *visible, size_t n, size_t dv);

/*
 * The row: out (dv scalars) and *lse; s, e and w (n scalars each) hold scores, exponentials and
 * weights afterwards. A row that sees no key gives out = 0 and *lse = -inf, or the sink.
 */
/*@ requires readable(p);
  @ requires apart(out, p->dv, p) && apart(lse, 1, p);
  @ requires apart(s, p->n, p) && apart(e, p->n, p) && apart(w, p->n, p);
  @ requires \separated(out + (0 .. p->dv - 1), lse, s + (0 .. p->n - 1), e + (0 .. p->n - 1),
  @                     w + (0 .. p->n - 1));
  @ terminates \true;
  @ assigns out[0 .. p->dv - 1], *lse, s[0 .. p->n - 1], e[0 .. p->n - 1], w[0 .. p->n - 1];
  @ ensures C2: row(out, lse, s, e, w, p, p->n);
  @ ensures C3: \forall integer j; 0 <= j < p->n && p->visible[j] == 0 ==> same(w[j], ZERO);
  @ ensures C3: tame(s, p, p->n) ==> unit_row(w, p->visible, p->n);
  @ ensures C3: tame(s, p, p->n) ==> p->has_sink == 0 ==>
  @               \exists integer j; 0 <= j < p->n && p->visible[j] != 0 && w[j] > 0;
  @ ensures C4: tame(s, p, p->n) ==> p->has_sink == 0 ==> p->n <= 1048576 ==>
  @               \abs(real_sum(w, p->visible, p->n) - 1) <=
  @                 2.3 * p->n * 0x1p-24 + p->n * 0x1p-150;
  @ ensures C4: tame(s, p, p->n) ==> p->has_sink != 0 ==> p->n <= 1048576 ==>
  @               \abs(real_sum(w, p->visible, p->n) + sink_weight(s, e, p, p->n) - 1) <=
  @                 2.3 * (p->n + 1) * 0x1p-24 + p->n * 0x1p-150;
  @ ensures C12: empty(p->visible, p->n) ==>
  @                \forall integer c; 0 <= c < p->dv ==> same(out[c], ZERO);
  @ ensures C12: empty(p->visible, p->n) ==>
  @                same(*lse, p->has_sink != 0 ? p->sink : ATTN_NAME(f_neg_inf));
  @*/
void ATTN_NAME(attn_row)(attn_real *out, attn_real *lse, attn_real *s, attn_real *e, attn_real *w,
                         const ATTN_NAME(attn_row_problem) * p);

#endif
