/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_theory.h - the logic that the contracts of row.h speak. Nothing here is compiled.
 *
 * The functions *_of say to the bit what a loop of row.c computes: recursive definitions, not
 * axioms. row_lemmas.h has what follows about memory; row_causality.h, row_prefix.h, row_range.h
 * and row_sums.h what is claimed of a row.
 */
#ifndef ATTN_ROW_THEORY_H
#define ATTN_ROW_THEORY_H

#include "reference/arithmetic/float_theory.h"

/* What the loops compute. */
/*@ logic attn_real dot_of{L}(attn_real *q, attn_real *k, integer d) =
  @   d <= 0 ? ZERO : f_add(dot_of(q, k, d - 1), f_mul(q[d - 1], k[d - 1]));
  @
  @ logic attn_real max_of{L}(attn_real *s, unsigned char *visible, integer n) =
  @   n <= 0 ? ATTN_NAME(f_neg_inf)
  @   : visible[n - 1] != 0 ? f_max(s[n - 1], max_of(s, visible, n - 1))
  @                         : max_of(s, visible, n - 1);
  @
  @ logic attn_real sum_of{L}(attn_real *e, unsigned char *visible, integer n) =
  @   n <= 0 ? ZERO
  @   : visible[n - 1] != 0 ? f_add(sum_of(e, visible, n - 1), e[n - 1])
  @                         : sum_of(e, visible, n - 1);
  @
  @ logic attn_real mix_of{L}(attn_real *w, attn_real **v, unsigned char *visible, integer n,
  @                           integer c) =
  @   n <= 0 ? ZERO
  @   : visible[n - 1] != 0
  @     ? f_add(mix_of(w, v, visible, n - 1, c), f_mul(w[n - 1], v[n - 1][c]))
  @     : mix_of(w, v, visible, n - 1, c);
  @
  @ predicate exp_row{L}(attn_real *e, attn_real *s, unsigned char *visible, integer n,
  @                      attn_real max) =
  @   \forall integer j; 0 <= j < n ==>
  @     (visible[j] != 0 ==> same(e[j], f_exp(f_sub(s[j], max)))) &&
  @     (visible[j] == 0 ==> same(e[j], ZERO));
  @
  @ predicate divide_row{L}(attn_real *w, attn_real *e, unsigned char *visible, integer n,
  @                         attn_real sum) =
  @   \forall integer j; 0 <= j < n ==>
  @     (visible[j] != 0 ==> same(w[j], f_div(e[j], sum))) &&
  @     (visible[j] == 0 ==> same(w[j], ZERO));
  @
  @ predicate mix_row{I, O}(attn_real *out, attn_real *w, attn_real **v, unsigned char *visible,
  @                         integer n, integer dv) =
  @   \forall integer c; 0 <= c < dv ==> same(\at(out[c], O), mix_of{I}(w, v, visible, n, c));
  @
  @ predicate empty{L}(unsigned char *visible, integer n) =
  @   \forall integer j; 0 <= j < n ==> visible[j] == 0;
  @*/

/* What a problem needs: only visible rows are readable, and no result overlaps what is read. */
/*@ predicate readable{L}(ATTN_NAME(attn_row_problem) *p) =
  @   \valid_read(p) && \valid_read(p->q + (0 .. p->d - 1)) &&
  @   \valid_read(p->visible + (0 .. p->n - 1)) &&
  @   (\forall integer j; 0 <= j < p->n && p->visible[j] != 0 ==>
  @      \valid_read(p->k + j) && \valid_read(p->k[j] + (0 .. p->d - 1)) &&
  @      \valid_read(p->v + j) && \valid_read(p->v[j] + (0 .. p->dv - 1)) &&
  @      (p->bias != \null ==> \valid_read(p->bias + j)));
  @
  @ predicate apart{L}(attn_real *a, integer size, ATTN_NAME(attn_row_problem) *p) =
  @   \valid(a + (0 .. size - 1)) && \separated(a + (0 .. size - 1), p) &&
  @   \separated(a + (0 .. size - 1), p->q + (0 .. p->d - 1)) &&
  @   \separated(a + (0 .. size - 1), p->visible + (0 .. p->n - 1)) &&
  @   (\forall integer j; 0 <= j < p->n && p->visible[j] != 0 ==>
  @      \separated(a + (0 .. size - 1), p->k + j) &&
  @      \separated(a + (0 .. size - 1), p->k[j] + (0 .. p->d - 1)) &&
  @      \separated(a + (0 .. size - 1), p->v + j) &&
  @      \separated(a + (0 .. size - 1), p->v[j] + (0 .. p->dv - 1)) &&
  @      (p->bias != \null ==> \separated(a + (0 .. size - 1), p->bias + j)));
  @*/

/* The row as a whole, of the first n keys of p. */
/*@ logic attn_real bend(integer has_softcap, attn_real softcap, attn_real score) =
  @   has_softcap != 0 ? f_mul(softcap, f_tanh(f_div(score, softcap))) : score;
  @
  @ logic attn_real raw_of{L}(ATTN_NAME(attn_row_problem) *p, integer j) =
  @   f_mul(p->score.scale, dot_of(p->q, p->k[j], p->d));
  @
  @ logic attn_real bent_of{L}(ATTN_NAME(attn_row_problem) *p, integer j) =
  @   bend(p->score.has_softcap, p->score.softcap, raw_of(p, j));
  @
  @ logic attn_real score_of{L}(ATTN_NAME(attn_row_problem) *p, integer j) =
  @   p->bias != \null ? f_add(bent_of(p, j), p->bias[j]) : bent_of(p, j);
  @
  @ logic attn_real shift_of{L}(attn_real *s, ATTN_NAME(attn_row_problem) *p, integer n) =
  @   p->has_sink != 0 ? f_max(p->sink, max_of(s, p->visible, n)) : max_of(s, p->visible, n);
  @
  @ logic attn_real total_of{L}(attn_real *e, ATTN_NAME(attn_row_problem) *p, integer n,
  @                             attn_real max) =
  @   p->has_sink != 0 ? f_add(sum_of(e, p->visible, n), f_exp(f_sub(p->sink, max)))
  @                    : sum_of(e, p->visible, n);
  @
  @ predicate score_row{I, O}(attn_real *s, ATTN_NAME(attn_row_problem) *p, integer n) =
  @   \forall integer j; 0 <= j < n ==>
  @     (\at(p->visible[j], I) != 0 ==> same(\at(s[j], O), score_of{I}(p, j))) &&
  @     (\at(p->visible[j], I) == 0 ==> same(\at(s[j], O), ATTN_NAME(f_neg_inf)));
  @
  @ predicate lse_row{L}(attn_real lse, attn_real *s, attn_real *e,
  @                      ATTN_NAME(attn_row_problem) *p, integer n) =
  @   empty(p->visible, n)
  @   ? (p->has_sink != 0 ? same(lse, p->sink) : same(lse, ATTN_NAME(f_neg_inf)))
  @   : same(lse, f_add(shift_of(s, p, n), f_log(total_of(e, p, n, shift_of(s, p, n)))));
  @
  @ predicate softmax_row{L}(attn_real *lse, attn_real *s, attn_real *e, attn_real *w,
  @                          ATTN_NAME(attn_row_problem) *p, integer n) =
  @   exp_row(e, s, p->visible, n, shift_of(s, p, n)) &&
  @   divide_row(w, e, p->visible, n, total_of(e, p, n, shift_of(s, p, n))) &&
  @   lse_row(*lse, s, e, p, n);
  @
  @ predicate row{L}(attn_real *out, attn_real *lse, attn_real *s, attn_real *e, attn_real *w,
  @                  ATTN_NAME(attn_row_problem) *p, integer n) =
  @   score_row{L, L}(s, p, n) && softmax_row(lse, s, e, w, p, n) &&
  @   mix_row{L, L}(out, w, p->v, p->visible, n, p->dv);
  @*/

#endif
