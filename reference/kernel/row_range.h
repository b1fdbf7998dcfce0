/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_range.h - weights lie in [0, 1] and one is positive, in binary32, for rows of any length.
 * Nothing here is compiled.
 *
 * radd(t, s, e): |t - (s + e)| <= 2^-24 (s + e), what one rounded addition costs.
 * rdiv(x, q): |x - q| <= 2^-24 q + 2^-150, what one rounded division costs.
 * near(i, s, r): |s - r| <= 1.1 i 2^-24 r, what i additions of numbers in [0, 1] cost.
 * wnear(i, w, q): |w - q| <= 2^-24 q + i 2^-150, what i divisions cost, summed up.
 * The four are defined in proofs/wp/theories/fpoly.mlw, with the steps between them.
 */
#ifndef ATTN_ROW_RANGE_H
#define ATTN_ROW_RANGE_H

#include "reference/kernel/row_prefix.h"

/*@ axiomatic ErrorNames {
  @   predicate near(real i, real s, real r);
  @   predicate radd(real t, real s, real e);
  @   predicate rdiv(real x, real q);
  @   predicate wnear(real i, real w, real q);
  @ }
  @
  @ predicate unit(attn_real x) = \is_finite(x) && 0 <= x <= 1;
  @
  @ predicate finite_row{L}(attn_real *s, unsigned char *x, integer n) =
  @   \forall integer j; 0 <= j < n && x[j] != 0 ==> \is_finite(s[j]);
  @
  @ predicate unit_row{L}(attn_real *e, unsigned char *x, integer n) =
  @   \forall integer j; 0 <= j < n && x[j] != 0 ==> unit(e[j]);
  @
  @ predicate below{L}(attn_real *s, unsigned char *x, integer n, attn_real max) =
  @   \forall integer j; 0 <= j < n && x[j] != 0 ==> s[j] <= max;
  @
  @ predicate attains{L}(attn_real *s, unsigned char *x, integer n, attn_real max) =
  @   \exists integer j; 0 <= j < n && x[j] != 0 && s[j] == max;
  @
  @ predicate lowered{L}(attn_real *s, unsigned char *x, integer n, attn_real max) =
  @   ATTN_BITS == 32 && finite_row(s, x, n) && \is_finite(max) && below(s, x, n, max);
  @
  @ predicate has_one{L}(attn_real *e, unsigned char *x, integer n) =
  @   \exists integer j; 0 <= j < n && x[j] != 0 && e[j] == 1;
  @
  @ logic real real_sum{L}(attn_real *e, unsigned char *x, integer n) =
  @   n <= 0 ? 0.0
  @   : x[n - 1] != 0 ? real_sum(e, x, n - 1) + e[n - 1] : real_sum(e, x, n - 1);
  @
  @ predicate unit_exp{L}(attn_real *s, unsigned char *x, integer n, attn_real max) =
  @   \forall integer j; 0 <= j < n && x[j] != 0 ==>
  @     unit(f_exp(f_sub(s[j], max))) && (s[j] == max ==> f_exp(f_sub(s[j], max)) == 1);
  @
  @ logic attn_real mass_of{L}(ATTN_NAME(attn_row_problem) *p, attn_real max) =
  @   f_exp(f_sub(p->sink, max));
  @
  @ logic real sink_weight{L}(attn_real *s, attn_real *e, ATTN_NAME(attn_row_problem) *p,
  @                           integer n) =
  @   mass_of(p, shift_of(s, p, n)) / total_of(e, p, n, shift_of(s, p, n));
  @
  @ predicate tame{L}(attn_real *s, ATTN_NAME(attn_row_problem) *p, integer n) =
  @   ATTN_BITS == 32 && finite_row(s, p->visible, n) && !empty(p->visible, n) &&
  @   (p->has_sink != 0 ==> \is_finite(p->sink));
  @
  @ predicate shares{L}(attn_real *e, ATTN_NAME(attn_row_problem) *p, integer n, attn_real max) =
  @   unit_row(e, p->visible, n) &&
  @   (p->has_sink != 0
  @    ? unit(mass_of(p, max)) && (mass_of(p, max) == 1 || has_one(e, p->visible, n))
  @    : has_one(e, p->visible, n));
  @*/

#if ATTN_BITS == 32
/* The maximum of finite scores is one of them. */
/*@ predicate tops{L}(attn_real *s, unsigned char *x, integer n) =
  @   finite_row(s, x, n) ==>
  @   (empty(x, n) ? same(max_of(s, x, n), ATTN_NAME(f_neg_inf))
  @    : \is_finite(max_of(s, x, n)) && below(s, x, n, max_of(s, x, n)) &&
  @      attains(s, x, n, max_of(s, x, n)));
  @ lemma finite_last{L}: \forall attn_real *s, unsigned char *x, integer n;
  @   finite_row(s, x, n) ==> finite_row(s, x, n - 1);
  @ lemma tops_base{L}: \forall attn_real *s, unsigned char *x, integer n; n <= 0 ==> tops(s, x, n);
  @ lemma tops_skip{L}: \forall attn_real *s, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] == 0 ==> tops(s, x, n - 1) ==> tops(s, x, n);
  @ lemma tops_first{L}: \forall attn_real *s, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] != 0 ==> empty(x, n - 1) ==> tops(s, x, n - 1) ==> tops(s, x, n);
  @ lemma below_grow{L}: \forall attn_real *s, unsigned char *x, integer n, attn_real a, b;
  @   below(s, x, n - 1, a) ==> a <= b ==> (x[n - 1] != 0 ==> s[n - 1] <= b) ==> below(s, x, n, b);
  @ lemma attains_grow{L}: \forall attn_real *s, unsigned char *x, integer n, attn_real a;
  @   attains(s, x, n - 1, a) ==> attains(s, x, n, a);
  @ lemma attains_last{L}: \forall attn_real *s, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] != 0 ==> attains(s, x, n, s[n - 1]);
  @ lemma max_unfold{L}: \forall attn_real *s, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] != 0 ==>
  @   same(max_of(s, x, n), f_max(s[n - 1], max_of(s, x, n - 1)));
  @ lemma max_grow{L}: \forall attn_real *s, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] != 0 ==> \is_finite(s[n - 1]) ==> \is_finite(max_of(s, x, n - 1)) ==>
  @   \is_finite(max_of(s, x, n)) && max_of(s, x, n - 1) <= max_of(s, x, n) &&
  @   s[n - 1] <= max_of(s, x, n) &&
  @   (same(max_of(s, x, n), s[n - 1]) || same(max_of(s, x, n), max_of(s, x, n - 1)));
  @ lemma tops_grow{L}: \forall attn_real *s, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] != 0 ==> \is_finite(s[n - 1]) ==> \is_finite(max_of(s, x, n - 1)) ==>
  @   below(s, x, n - 1, max_of(s, x, n - 1)) ==> attains(s, x, n - 1, max_of(s, x, n - 1)) ==>
  @   below(s, x, n, max_of(s, x, n)) && attains(s, x, n, max_of(s, x, n));
  @ lemma tops_next{L}: \forall attn_real *s, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] != 0 ==> !empty(x, n - 1) ==> tops(s, x, n - 1) ==> tops(s, x, n);
  @ lemma tops_step{L}: \forall attn_real *s, unsigned char *x, integer n;
  @   0 < n ==> tops(s, x, n - 1) ==> tops(s, x, n);
  @ lemma tops_all{L}: \forall attn_real *s, unsigned char *x, integer n; tops(s, x, n);
  @ lemma max_tops{L}: \forall attn_real *s, unsigned char *x, integer n;
  @   finite_row(s, x, n) ==> !empty(x, n) ==>
  @   tops(s, x, n) && \is_finite(max_of(s, x, n)) && below(s, x, n, max_of(s, x, n)) &&
  @   attains(s, x, n, max_of(s, x, n));
  @*/

/* The largest of the scores and the sink is one of them. */
/*@ predicate top{L}(attn_real *s, ATTN_NAME(attn_row_problem) *p, integer n, attn_real max) =
  @   lowered(s, p->visible, n, max) &&
  @   (p->has_sink != 0 ? p->sink <= max && (p->sink == max || attains(s, p->visible, n, max))
  @                     : attains(s, p->visible, n, max));
  @ lemma below_raise{L}: \forall attn_real *s, unsigned char *x, integer n, attn_real a, b;
  @   below(s, x, n, a) ==> a <= b ==> below(s, x, n, b);
  @ lemma shift_plain{L}: \forall attn_real *s, ATTN_NAME(attn_row_problem) *p, integer n;
  @   tame(s, p, n) ==> p->has_sink == 0 ==>
  @   same(shift_of(s, p, n), max_of(s, p->visible, n)) && top(s, p, n, shift_of(s, p, n));
  @ lemma shift_sink{L}: \forall attn_real *s, ATTN_NAME(attn_row_problem) *p, integer n;
  @   tame(s, p, n) ==> p->has_sink != 0 ==> tops(s, p->visible, n) &&
  @   \is_finite(shift_of(s, p, n)) && p->sink <= shift_of(s, p, n) &&
  @   max_of(s, p->visible, n) <= shift_of(s, p, n) &&
  @   (same(shift_of(s, p, n), p->sink) || same(shift_of(s, p, n), max_of(s, p->visible, n)));
  @ lemma shift_top{L}: \forall attn_real *s, ATTN_NAME(attn_row_problem) *p, integer n;
  @   tame(s, p, n) ==> top(s, p, n, shift_of(s, p, n));
  @*/

/* Their exponentials after the shift lie in [0, 1], and one is 1. */
/*@ lemma unit_exp_next{L}:
  @   \forall attn_real *s, unsigned char *x, integer j, n, attn_real max;
  @   n == j + 1 ==> unit_exp(s, x, j, max) ==>
  @   (x[j] != 0 ==> unit(f_exp(f_sub(s[j], max)))) ==>
  @   (x[j] != 0 ==> s[j] == max ==> f_exp(f_sub(s[j], max)) == 1) ==> unit_exp(s, x, n, max);
  @ lemma unit_exp_kept{L1, L2}: \forall attn_real *s, unsigned char *x, integer n, attn_real max;
  @   unit_exp{L1}(s, x, n, max) ==> same_row{L1, L2}(s, s, x, x, n) ==>
  @   unit_exp{L2}(s, x, n, max);
  @ lemma unit_exp_here{L}: \forall attn_real *e, *s, unsigned char *x, integer n, attn_real max;
  @   unit_exp(s, x, n, max) ==> exp_row(e, s, x, n, max) ==> unit_row(e, x, n);
  @ lemma unit_exp_one{L1, L2}:
  @   \forall attn_real *e, *s, unsigned char *x, integer n, attn_real max;
  @   unit_exp{L1}(s, x, n, max) ==> same_row{L1, L2}(s, s, x, x, n) ==>
  @   exp_row{L2}(e, s, x, n, max) ==> attains{L1}(s, x, n, max) ==> has_one{L2}(e, x, n);
  @ lemma unit_kept{L1, L2}: \forall attn_real *e, *f, unsigned char *x, *y, integer n;
  @   unit_row{L1}(e, x, n) ==> same_row{L1, L2}(e, f, x, y, n) ==> unit_row{L2}(f, y, n);
  @ lemma one_kept{L1, L2}: \forall attn_real *e, *f, unsigned char *x, *y, integer n;
  @   has_one{L1}(e, x, n) ==> same_row{L1, L2}(e, f, x, y, n) ==> has_one{L2}(f, y, n);
  @ lemma shares_kept{L1, L2}:
  @   \forall attn_real *e, ATTN_NAME(attn_row_problem) *p, integer n, attn_real max;
  @   shares{L1}(e, p, n, max) ==> same_setting{L1, L2}(p, p) ==>
  @   same_row{L1, L2}(e, e, \at(p->visible, L1), \at(p->visible, L2), n) ==>
  @   shares{L2}(e, p, n, max);
  @*/

/* A sum of numbers in [0, 1] is never beyond 2^24 and never below a term. */
/*@ predicate sums{L}(attn_real *e, unsigned char *x, integer n) =
  @   unit_row(e, x, n) ==>
  @   \is_finite(sum_of(e, x, n)) && 0 <= sum_of(e, x, n) <= 16777216.0 &&
  @   0 <= real_sum(e, x, n) && below(e, x, n, sum_of(e, x, n));
  @ lemma unit_last{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   unit_row(e, x, n) ==> unit_row(e, x, n - 1);
  @ lemma sums_base{L}: \forall attn_real *e, unsigned char *x, integer n; n <= 0 ==> sums(e, x, n);
  @ lemma sums_skip{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] == 0 ==> sums(e, x, n - 1) ==> sums(e, x, n);
  @ lemma sum_unfold{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] != 0 ==>
  @   same(sum_of(e, x, n), f_add(sum_of(e, x, n - 1), e[n - 1])) &&
  @   real_sum(e, x, n) == real_sum(e, x, n - 1) + e[n - 1];
  @ lemma sum_grow{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] != 0 ==> unit(e[n - 1]) ==> \is_finite(sum_of(e, x, n - 1)) ==>
  @   0 <= sum_of(e, x, n - 1) <= 16777216.0 ==>
  @   \is_finite(sum_of(e, x, n)) && 0 <= sum_of(e, x, n) <= 16777216.0 &&
  @   sum_of(e, x, n - 1) <= sum_of(e, x, n) && e[n - 1] <= sum_of(e, x, n);
  @ lemma sums_next{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] != 0 ==> sums(e, x, n - 1) ==> sums(e, x, n);
  @ lemma sums_step{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   0 < n ==> sums(e, x, n - 1) ==> sums(e, x, n);
  @ lemma sums_all{L}: \forall attn_real *e, unsigned char *x, integer n; sums(e, x, n);
  @ lemma sum_facts{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   unit_row(e, x, n) ==>
  @   sums(e, x, n) && \is_finite(sum_of(e, x, n)) && 0 <= sum_of(e, x, n) <= 16777216.0 &&
  @   0 <= real_sum(e, x, n);
  @ lemma sum_one{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   unit_row(e, x, n) ==> has_one(e, x, n) ==> sums(e, x, n) && 1 <= sum_of(e, x, n);
  @ lemma sink_total{L}: \forall attn_real *e, unsigned char *x, integer n, attn_real mass, sum;
  @   unit_row(e, x, n) ==> unit(mass) ==> (mass == 1 || has_one(e, x, n)) ==>
  @   same(sum, f_add(sum_of(e, x, n), mass)) ==>
  @   sums(e, x, n) && \is_finite(sum) && 1 <= sum && radd(sum, sum_of(e, x, n), mass);
  @ lemma total_one{L}:
  @   \forall attn_real *e, ATTN_NAME(attn_row_problem) *p, integer n, attn_real max;
  @   shares(e, p, n, max) ==> sums(e, p->visible, n) && \is_finite(total_of(e, p, n, max)) &&
  @   1 <= total_of(e, p, n, max) && (p->has_sink == 0 ==> total_of(e, p, n, max) <= 16777216.0);
  @*/

/* A quotient by such a sum lies in [0, 1]. */
/*@ lemma quotient_unit: \forall attn_real a, b;
  @   unit(a) ==> \is_finite(b) ==> 1 <= b ==> unit(f_div(a, b)) && rdiv(f_div(a, b), a / b);
  @ lemma divide_at{L}: \forall attn_real *w, *e, unsigned char *x, integer n, j, attn_real sum;
  @   unit_row(e, x, n) ==> divide_row(w, e, x, n, sum) ==> 0 <= j < n ==> x[j] != 0 ==>
  @   unit(e[j]) && same(w[j], f_div(e[j], sum));
  @ lemma quotient_range{L}:
  @   \forall attn_real *w, *e, unsigned char *x, integer n, j, attn_real sum;
  @   unit_row(e, x, n) ==> \is_finite(sum) ==> 1 <= sum ==> divide_row(w, e, x, n, sum) ==>
  @   0 <= j < n ==> x[j] != 0 ==> unit(w[j]) && rdiv(w[j], e[j] / sum);
  @ lemma weights_unit{L}: \forall attn_real *w, *e, unsigned char *x, integer n, attn_real sum;
  @   unit_row(e, x, n) ==> \is_finite(sum) ==> 1 <= sum ==> divide_row(w, e, x, n, sum) ==>
  @   unit_row(w, x, n);
  @ lemma weight_positive{L}: \forall attn_real *w, *e, unsigned char *x, integer n, attn_real sum;
  @   unit_row(e, x, n) ==> \is_finite(sum) ==> 1 <= sum <= 16777216.0 ==>
  @   divide_row(w, e, x, n, sum) ==> has_one(e, x, n) ==>
  @   \exists integer j; 0 <= j < n && x[j] != 0 && w[j] > 0;
  @ lemma row_unit{L}:
  @   \forall attn_real *w, *e, ATTN_NAME(attn_row_problem) *p, integer n, attn_real max;
  @   shares(e, p, n, max) ==> divide_row(w, e, p->visible, n, total_of(e, p, n, max)) ==>
  @   unit_row(w, p->visible, n);
  @ lemma row_positive{L}:
  @   \forall attn_real *w, *e, ATTN_NAME(attn_row_problem) *p, integer n, attn_real max;
  @   shares(e, p, n, max) ==> divide_row(w, e, p->visible, n, total_of(e, p, n, max)) ==>
  @   p->has_sink == 0 ==> \exists integer j; 0 <= j < n && p->visible[j] != 0 && w[j] > 0;
  @*/
#endif

#endif
