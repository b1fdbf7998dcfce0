/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_lemmas.h - equal inputs give equal bits, and writes elsewhere change nothing. Every lemma is
 * proved, those named *_same over an index by induction. Nothing here is compiled.
 */
#ifndef ATTN_ROW_LEMMAS_H
#define ATTN_ROW_LEMMAS_H

#include "reference/kernel/row_theory.h"

/* Equal inputs give equal bits: L1 and L2 may be two states, the pointers may differ. */
/*@ predicate same_reals{L1, L2}(attn_real *a, attn_real *b, integer n) =
  @   \forall integer c; 0 <= c < n ==> same(\at(a[c], L1), \at(b[c], L2));
  @
  @ predicate same_row{L1, L2}(attn_real *a, attn_real *b, unsigned char *x, unsigned char *y,
  @                            integer n) =
  @   \forall integer j; 0 <= j < n ==>
  @     (\at(x[j], L1) != 0 <==> \at(y[j], L2) != 0) &&
  @     (\at(x[j], L1) != 0 ==> same(\at(a[j], L1), \at(b[j], L2)));
  @
  @ predicate same_column{L1, L2}(attn_real **v, attn_real **u, unsigned char *x, integer n,
  @                               integer c) =
  @   \forall integer j; 0 <= j < n && \at(x[j], L1) != 0 ==>
  @     same(\at(v[j][c], L1), \at(u[j][c], L2));
  @
  @ predicate same_dot{L1, L2}(attn_real *q, attn_real *k, attn_real *r, attn_real *l, integer d) =
  @   same(dot_of{L1}(q, k, d), dot_of{L2}(r, l, d));
  @
  @ predicate same_max{L1, L2}(attn_real *s, attn_real *t, unsigned char *x, unsigned char *y,
  @                            integer n) = same(max_of{L1}(s, x, n), max_of{L2}(t, y, n));
  @
  @ predicate same_sum{L1, L2}(attn_real *e, attn_real *f, unsigned char *x, unsigned char *y,
  @                            integer n) = same(sum_of{L1}(e, x, n), sum_of{L2}(f, y, n));
  @
  @ predicate same_mix{L1, L2}(attn_real *w, attn_real *z, attn_real **v, attn_real **u,
  @                            unsigned char *x, unsigned char *y, integer n, integer c) =
  @   same(mix_of{L1}(w, v, x, n, c), mix_of{L2}(z, u, y, n, c));
  @
  @ lemma reals_last{L1, L2}: \forall attn_real *a, *b, integer n;
  @   0 < n ==> same_reals{L1, L2}(a, b, n) ==> same_reals{L1, L2}(a, b, n - 1);
  @ lemma row_last{L1, L2}: \forall attn_real *a, *b, unsigned char *x, *y, integer n;
  @   0 < n ==> same_row{L1, L2}(a, b, x, y, n) ==> same_row{L1, L2}(a, b, x, y, n - 1);
  @ lemma column_last{L1, L2}: \forall attn_real **v, **u, unsigned char *x, integer n, c;
  @   0 < n ==> same_column{L1, L2}(v, u, x, n, c) ==> same_column{L1, L2}(v, u, x, n - 1, c);
  @
  @ lemma dot_base{L1, L2}: \forall attn_real *q, *k, *r, *l, integer n;
  @   n <= 0 ==> same_dot{L1, L2}(q, k, r, l, n);
  @ lemma dot_step{L1, L2}: \forall attn_real *q, *k, *r, *l, integer n;
  @   0 < n ==> same_reals{L1, L2}(q, r, n) ==> same_reals{L1, L2}(k, l, n) ==>
  @   same_dot{L1, L2}(q, k, r, l, n - 1) ==> same_dot{L1, L2}(q, k, r, l, n);
  @ lemma dot_same{L1, L2}: \forall attn_real *q, *k, *r, *l, integer n;
  @   same_reals{L1, L2}(q, r, n) ==> same_reals{L1, L2}(k, l, n) ==>
  @   same_dot{L1, L2}(q, k, r, l, n);
  @
  @ lemma max_base{L1, L2}: \forall attn_real *a, *b, unsigned char *x, *y, integer n;
  @   n <= 0 ==> same_max{L1, L2}(a, b, x, y, n);
  @ lemma max_step{L1, L2}: \forall attn_real *a, *b, unsigned char *x, *y, integer n;
  @   0 < n ==> same_row{L1, L2}(a, b, x, y, n) ==>
  @   same_max{L1, L2}(a, b, x, y, n - 1) ==> same_max{L1, L2}(a, b, x, y, n);
  @ lemma max_same{L1, L2}: \forall attn_real *a, *b, unsigned char *x, *y, integer n;
  @   same_row{L1, L2}(a, b, x, y, n) ==> same_max{L1, L2}(a, b, x, y, n);
  @
  @ lemma sum_base{L1, L2}: \forall attn_real *a, *b, unsigned char *x, *y, integer n;
  @   n <= 0 ==> same_sum{L1, L2}(a, b, x, y, n);
  @ lemma sum_step{L1, L2}: \forall attn_real *a, *b, unsigned char *x, *y, integer n;
  @   0 < n ==> same_row{L1, L2}(a, b, x, y, n) ==>
  @   same_sum{L1, L2}(a, b, x, y, n - 1) ==> same_sum{L1, L2}(a, b, x, y, n);
  @ lemma sum_same{L1, L2}: \forall attn_real *a, *b, unsigned char *x, *y, integer n;
  @   same_row{L1, L2}(a, b, x, y, n) ==> same_sum{L1, L2}(a, b, x, y, n);
  @
  @ lemma mix_base{L1, L2}: \forall attn_real *w, *z, **v, **u, unsigned char *x, *y, integer n, c;
  @   n <= 0 ==> same_mix{L1, L2}(w, z, v, u, x, y, n, c);
  @ lemma mix_step{L1, L2}: \forall attn_real *w, *z, **v, **u, unsigned char *x, *y, integer n, c;
  @   0 < n ==> same_row{L1, L2}(w, z, x, y, n) ==> same_column{L1, L2}(v, u, x, n, c) ==>
  @   same_mix{L1, L2}(w, z, v, u, x, y, n - 1, c) ==> same_mix{L1, L2}(w, z, v, u, x, y, n, c);
  @ lemma mix_same{L1, L2}: \forall attn_real *w, *z, **v, **u, unsigned char *x, *y, integer n, c;
  @   same_row{L1, L2}(w, z, x, y, n) ==> same_column{L1, L2}(v, u, x, n, c) ==>
  @   same_mix{L1, L2}(w, z, v, u, x, y, n, c);
  @*/

/* Two problems that look the same to the row: what it cannot see may differ in any way. */
/*@ predicate same_setting{L1, L2}(ATTN_NAME(attn_row_problem) *p, ATTN_NAME(attn_row_problem) *r) =
  @   \at(p->d, L1) == \at(r->d, L2) && \at(p->dv, L1) == \at(r->dv, L2) &&
  @   (\at(p->bias, L1) == \null <==> \at(r->bias, L2) == \null) &&
  @   same(\at(p->score.scale, L1), \at(r->score.scale, L2)) &&
  @   same(\at(p->score.softcap, L1), \at(r->score.softcap, L2)) &&
  @   \at(p->score.has_softcap, L1) == \at(r->score.has_softcap, L2) &&
  @   same(\at(p->sink, L1), \at(r->sink, L2)) && \at(p->has_sink, L1) == \at(r->has_sink, L2) &&
  @   same_reals{L1, L2}(\at(p->q, L1), \at(r->q, L2), \at(p->d, L1));
  @
  @ predicate same_key{L1, L2}(ATTN_NAME(attn_row_problem) *p, ATTN_NAME(attn_row_problem) *r,
  @                            integer j) =
  @   same_reals{L1, L2}(\at(p->k[j], L1), \at(r->k[j], L2), \at(p->d, L1)) &&
  @   same_reals{L1, L2}(\at(p->v[j], L1), \at(r->v[j], L2), \at(p->dv, L1)) &&
  @   (\at(p->bias, L1) != \null ==> same(\at(p->bias[j], L1), \at(r->bias[j], L2)));
  @
  @ predicate same_view{L1, L2}(ATTN_NAME(attn_row_problem) *p, ATTN_NAME(attn_row_problem) *r,
  @                             integer n) =
  @   same_setting{L1, L2}(p, r) &&
  @   (\forall integer j; 0 <= j < n ==>
  @      (\at(p->visible[j], L1) != 0 <==> \at(r->visible[j], L2) != 0) &&
  @      (\at(p->visible[j], L1) != 0 ==> same_key{L1, L2}(p, r, j)));
  @
  @ lemma key_dot{L1, L2}: \forall ATTN_NAME(attn_row_problem) *p, *r, integer j;
  @   same_setting{L1, L2}(p, r) ==> same_key{L1, L2}(p, r, j) ==>
  @   same_dot{L1, L2}(\at(p->q, L1), \at(p->k[j], L1), \at(r->q, L2), \at(r->k[j], L2),
  @                    \at(p->d, L1));
  @ lemma raw_same{L1, L2}: \forall ATTN_NAME(attn_row_problem) *p, *r, integer j;
  @   same_setting{L1, L2}(p, r) ==> same_key{L1, L2}(p, r, j) ==>
  @   same(raw_of{L1}(p, j), raw_of{L2}(r, j));
  @ lemma score_same{L1, L2}: \forall ATTN_NAME(attn_row_problem) *p, *r, integer j;
  @   same_setting{L1, L2}(p, r) ==> same_key{L1, L2}(p, r, j) ==>
  @   same(score_of{L1}(p, j), score_of{L2}(r, j));
  @ lemma column_same{L1, L2}: \forall ATTN_NAME(attn_row_problem) *p, *r, integer n, c;
  @   same_view{L1, L2}(p, r, n) ==> 0 <= c < \at(p->dv, L1) ==>
  @   same_column{L1, L2}(\at(p->v, L1), \at(r->v, L2), \at(p->visible, L1), n, c);
  @*/

/* A problem looks the same after writes apart from it. */
/*@ predicate untouched{L1, L2}(attn_real *a, integer i, attn_real *b, integer j, attn_real *c,
  @                             integer k) =
  @   \forall attn_real *x;
  @     \separated(x, a + (0 .. i - 1)) ==> \separated(x, b + (0 .. j - 1)) ==>
  @     \separated(x, c + (0 .. k - 1)) ==> same(\at(*x, L1), \at(*x, L2));
  @
  @ predicate same_shape{L1, L2}(ATTN_NAME(attn_row_problem) *p) =
  @   \at(p->q, L1) == \at(p->q, L2) && \at(p->k, L1) == \at(p->k, L2) &&
  @   \at(p->v, L1) == \at(p->v, L2) && \at(p->visible, L1) == \at(p->visible, L2) &&
  @   \at(p->bias, L1) == \at(p->bias, L2) && \at(p->n, L1) == \at(p->n, L2) &&
  @   \at(p->d, L1) == \at(p->d, L2) && \at(p->dv, L1) == \at(p->dv, L2) &&
  @   \at(p->score.has_softcap, L1) == \at(p->score.has_softcap, L2) &&
  @   \at(p->has_sink, L1) == \at(p->has_sink, L2) &&
  @   (\forall integer j; 0 <= j < \at(p->n, L1) ==>
  @      \at(p->visible[j], L1) == \at(p->visible[j], L2) &&
  @      (\at(p->visible[j], L1) != 0 ==>
  @       \at(p->k[j], L1) == \at(p->k[j], L2) && \at(p->v[j], L1) == \at(p->v[j], L2)));
  @
  @ predicate kept{L1, L2}(ATTN_NAME(attn_row_problem) *p, attn_real *a, integer i, attn_real *b,
  @                        integer j, attn_real *c, integer k) =
  @   apart{L1}(a, i, p) && apart{L1}(b, j, p) && apart{L1}(c, k, p) && same_shape{L1, L2}(p) &&
  @   untouched{L1, L2}(a, i, b, j, c, k);
  @
  @ lemma reals_kept{L1, L2}: \forall attn_real *x, *a, *b, *c, integer n, i, j, k;
  @   untouched{L1, L2}(a, i, b, j, c, k) ==> \separated(a + (0 .. i - 1), x + (0 .. n - 1)) ==>
  @   \separated(b + (0 .. j - 1), x + (0 .. n - 1)) ==>
  @   \separated(c + (0 .. k - 1), x + (0 .. n - 1)) ==> same_reals{L1, L2}(x, x, n);
  @ lemma q_kept{L1, L2}:
  @   \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, *b, *c, integer i, j, k;
  @   kept{L1, L2}(p, a, i, b, j, c, k) ==>
  @   same_reals{L1, L2}(\at(p->q, L1), \at(p->q, L2), \at(p->d, L1));
  @ lemma apart_scalars{L}: \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, integer i;
  @   apart(a, i, p) ==> \separated(&p->score.scale, a + (0 .. i - 1)) &&
  @   \separated(&p->score.softcap, a + (0 .. i - 1)) && \separated(&p->sink, a + (0 .. i - 1));
  @ lemma scalars_kept{L1, L2}:
  @   \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, *b, *c, integer i, j, k;
  @   kept{L1, L2}(p, a, i, b, j, c, k) ==>
  @   same(\at(p->score.scale, L1), \at(p->score.scale, L2)) &&
  @   same(\at(p->score.softcap, L1), \at(p->score.softcap, L2)) &&
  @   same(\at(p->sink, L1), \at(p->sink, L2));
  @ lemma setting_kept{L1, L2}:
  @   \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, *b, *c, integer i, j, k;
  @   kept{L1, L2}(p, a, i, b, j, c, k) ==> same_setting{L1, L2}(p, p);
  @ lemma apart_k{L}: \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, integer i, x;
  @   apart(a, i, p) ==> 0 <= x < p->n ==> p->visible[x] != 0 ==>
  @   \separated(a + (0 .. i - 1), p->k[x] + (0 .. p->d - 1));
  @ lemma apart_bias{L}: \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, integer i, x;
  @   apart(a, i, p) ==> 0 <= x < p->n ==> p->visible[x] != 0 ==> p->bias != \null ==>
  @   \separated(p->bias + x, a + (0 .. i - 1));
  @ lemma k_clear{L1, L2}:
  @   \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, *b, *c, integer i, j, k, x;
  @   kept{L1, L2}(p, a, i, b, j, c, k) ==> 0 <= x < \at(p->n, L1) ==>
  @   \at(p->visible[x], L1) != 0 ==>
  @   \separated(a + (0 .. i - 1), \at(p->k[x], L1) + (0 .. \at(p->d, L1) - 1)) &&
  @   \separated(b + (0 .. j - 1), \at(p->k[x], L1) + (0 .. \at(p->d, L1) - 1)) &&
  @   \separated(c + (0 .. k - 1), \at(p->k[x], L1) + (0 .. \at(p->d, L1) - 1));
  @ lemma k_kept{L1, L2}:
  @   \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, *b, *c, integer i, j, k, x;
  @   kept{L1, L2}(p, a, i, b, j, c, k) ==> 0 <= x < \at(p->n, L1) ==>
  @   \at(p->visible[x], L1) != 0 ==>
  @   same_reals{L1, L2}(\at(p->k[x], L1), \at(p->k[x], L2), \at(p->d, L1));
  @ lemma apart_v{L}: \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, integer i, x;
  @   apart(a, i, p) ==> 0 <= x < p->n ==> p->visible[x] != 0 ==>
  @   \separated(a + (0 .. i - 1), p->v[x] + (0 .. p->dv - 1));
  @ lemma v_clear{L1, L2}:
  @   \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, *b, *c, integer i, j, k, x;
  @   kept{L1, L2}(p, a, i, b, j, c, k) ==> 0 <= x < \at(p->n, L1) ==>
  @   \at(p->visible[x], L1) != 0 ==>
  @   \separated(a + (0 .. i - 1), \at(p->v[x], L1) + (0 .. \at(p->dv, L1) - 1)) &&
  @   \separated(b + (0 .. j - 1), \at(p->v[x], L1) + (0 .. \at(p->dv, L1) - 1)) &&
  @   \separated(c + (0 .. k - 1), \at(p->v[x], L1) + (0 .. \at(p->dv, L1) - 1));
  @ lemma v_kept{L1, L2}:
  @   \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, *b, *c, integer i, j, k, x;
  @   kept{L1, L2}(p, a, i, b, j, c, k) ==> 0 <= x < \at(p->n, L1) ==>
  @   \at(p->visible[x], L1) != 0 ==>
  @   same_reals{L1, L2}(\at(p->v[x], L1), \at(p->v[x], L2), \at(p->dv, L1));
  @ lemma bias_clear{L1, L2}:
  @   \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, *b, *c, integer i, j, k, x;
  @   kept{L1, L2}(p, a, i, b, j, c, k) ==> 0 <= x < \at(p->n, L1) ==>
  @   \at(p->visible[x], L1) != 0 ==> \at(p->bias, L1) != \null ==>
  @   \separated(\at(p->bias, L1) + x, a + (0 .. i - 1)) &&
  @   \separated(\at(p->bias, L1) + x, b + (0 .. j - 1)) &&
  @   \separated(\at(p->bias, L1) + x, c + (0 .. k - 1));
  @ lemma bias_kept{L1, L2}:
  @   \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, *b, *c, integer i, j, k, x;
  @   kept{L1, L2}(p, a, i, b, j, c, k) ==> 0 <= x < \at(p->n, L1) ==>
  @   \at(p->visible[x], L1) != 0 ==> \at(p->bias, L1) != \null ==>
  @   same(\at(p->bias[x], L1), \at(p->bias[x], L2));
  @ lemma key_kept{L1, L2}:
  @   \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, *b, *c, integer i, j, k, x;
  @   kept{L1, L2}(p, a, i, b, j, c, k) ==> 0 <= x < \at(p->n, L1) ==>
  @   \at(p->visible[x], L1) != 0 ==> same_key{L1, L2}(p, p, x);
  @ lemma view_kept{L1, L2}:
  @   \forall ATTN_NAME(attn_row_problem) *p, attn_real *a, *b, *c, integer i, j, k;
  @   kept{L1, L2}(p, a, i, b, j, c, k) ==> same_view{L1, L2}(p, p, \at(p->n, L1));
  @ predicate clear_table{L}(attn_real *a, integer i, attn_real **v, unsigned char *x, integer n) =
  @   \forall integer j; 0 <= j < n && x[j] != 0 ==>
  @     \separated(a + (0 .. i - 1), v[j] + (0 .. i - 1));
  @ predicate same_table{L1, L2}(attn_real **v, unsigned char *x, integer n) =
  @   \forall integer j; 0 <= j < n ==> \at(x[j], L1) == \at(x[j], L2) &&
  @     (\at(x[j], L1) != 0 ==> \at(v[j], L1) == \at(v[j], L2));
  @ lemma cell_kept{L1, L2}:
  @   \forall attn_real *a, **v, unsigned char *x, integer i, j, n, c;
  @   untouched{L1, L2}(a, i, a, i, a, i) ==> clear_table{L1}(a, i, v, x, n) ==>
  @   same_table{L1, L2}(v, x, n) ==> 0 <= c < i ==> 0 <= j < n ==> \at(x[j], L1) != 0 ==>
  @   \separated(a + (0 .. i - 1), \at(v[j], L1) + (0 .. i - 1)) &&
  @   same_reals{L1, L2}(\at(v[j], L1), \at(v[j], L1), i) &&
  @   same(\at(v[j][c], L1), \at(v[j][c], L2));
  @ lemma column_kept{L1, L2}:
  @   \forall attn_real *a, **v, unsigned char *x, integer i, n, c;
  @   untouched{L1, L2}(a, i, a, i, a, i) ==> clear_table{L1}(a, i, v, x, n) ==>
  @   same_table{L1, L2}(v, x, n) ==> 0 <= c < i ==> same_column{L1, L2}(v, v, x, n, c);
  @ lemma mix_kept{L1, L2}:
  @   \forall attn_real *a, *w, **v, unsigned char *x, integer i, n, c;
  @   untouched{L1, L2}(a, i, a, i, a, i) ==> clear_table{L1}(a, i, v, x, n) ==>
  @   same_table{L1, L2}(v, x, n) ==> same_row{L1, L2}(w, w, x, x, n) ==> 0 <= c < i ==>
  @   same_column{L1, L2}(v, v, x, n, c) && same_mix{L1, L2}(w, w, v, v, x, x, n, c) &&
  @   same(mix_of{L1}(w, v, x, n, c), mix_of{L2}(w, v, x, n, c));
  @ lemma mix_row_kept{L1, L2}:
  @   \forall attn_real *a, *w, **v, unsigned char *x, integer i, n;
  @   untouched{L1, L2}(a, i, a, i, a, i) ==> clear_table{L1}(a, i, v, x, n) ==>
  @   same_table{L1, L2}(v, x, n) ==> same_row{L1, L2}(w, w, x, x, n) ==>
  @   mix_row{L1, L2}(a, w, v, x, n, i) ==> mix_row{L2, L2}(a, w, v, x, n, i);
  @ lemma exp_next{L}: \forall attn_real *e, *s, unsigned char *x, integer j, n, attn_real max;
  @   n == j + 1 ==> exp_row(e, s, x, j, max) ==>
  @   (x[j] != 0 ==> same(e[j], f_exp(f_sub(s[j], max)))) ==> (x[j] == 0 ==> same(e[j], ZERO)) ==>
  @   exp_row(e, s, x, n, max);
  @ lemma exp_kept{L1, L2}:
  @   \forall attn_real *e, *s, unsigned char *x, integer n, attn_real max;
  @   exp_row{L1}(e, s, x, n, max) ==> same_row{L1, L2}(s, s, x, x, n) ==>
  @   same_reals{L1, L2}(e, e, n) ==> exp_row{L2}(e, s, x, n, max);
  @ lemma divide_kept{L1, L2}:
  @   \forall attn_real *w, *e, unsigned char *x, integer n, attn_real sum;
  @   divide_row{L1}(w, e, x, n, sum) ==> same_row{L1, L2}(e, e, x, x, n) ==>
  @   same_reals{L1, L2}(w, w, n) ==> divide_row{L2}(w, e, x, n, sum);
  @ lemma scores_kept{L1, L2}: \forall attn_real *s, ATTN_NAME(attn_row_problem) *p, integer n;
  @   score_row{L1, L1}(s, p, n) ==> same_view{L1, L2}(p, p, n) ==> same_reals{L1, L2}(s, s, n) ==>
  @   score_row{L2, L2}(s, p, n);
  @
  @ lemma shift_same{L1, L2}:
  @   \forall attn_real *s, *t, ATTN_NAME(attn_row_problem) *p, *r, integer n;
  @   same_setting{L1, L2}(p, r) ==>
  @   same_row{L1, L2}(s, t, \at(p->visible, L1), \at(r->visible, L2), n) ==>
  @   same(shift_of{L1}(s, p, n), shift_of{L2}(t, r, n));
  @ lemma total_same{L1, L2}:
  @   \forall attn_real *e, *f, ATTN_NAME(attn_row_problem) *p, *r, integer n, attn_real max;
  @   same_setting{L1, L2}(p, r) ==>
  @   same_row{L1, L2}(e, f, \at(p->visible, L1), \at(r->visible, L2), n) ==>
  @   same(total_of{L1}(e, p, n, max), total_of{L2}(f, r, n, max));
  @
  @ lemma reals_trans{L1, L2, L3}: \forall attn_real *x, *y, *z, integer n;
  @   same_reals{L1, L2}(x, y, n) ==> same_reals{L2, L3}(y, z, n) ==> same_reals{L1, L3}(x, z, n);
  @ lemma setting_trans{L1, L2, L3}: \forall ATTN_NAME(attn_row_problem) *p, *r, *t;
  @   same_setting{L1, L2}(p, r) ==> same_setting{L2, L3}(r, t) ==> same_setting{L1, L3}(p, t);
  @ lemma key_trans{L1, L2, L3}: \forall ATTN_NAME(attn_row_problem) *p, *r, *t, integer j;
  @   same_setting{L1, L2}(p, r) ==> same_key{L1, L2}(p, r, j) ==> same_key{L2, L3}(r, t, j) ==>
  @   same_key{L1, L3}(p, t, j);
  @ lemma view_trans{L1, L2, L3}: \forall ATTN_NAME(attn_row_problem) *p, *r, *t, integer n;
  @   same_view{L1, L2}(p, r, n) ==> same_view{L2, L3}(r, t, n) ==> same_view{L1, L3}(p, t, n);
  @*/

#endif
