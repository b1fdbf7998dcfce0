/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_prefix.h - keys at the end that a row does not see may be cut off. Nothing here is compiled.
 */
#ifndef ATTN_ROW_PREFIX_H
#define ATTN_ROW_PREFIX_H

#include "reference/kernel/row_causality.h"

/* The prefix theorem: keys that nothing sees may be cut off the end. */
/*@ predicate hidden{L}(unsigned char *x, integer m, integer n) =
  @   \forall integer j; m <= j < n ==> x[j] == 0;
  @
  @ predicate cut_max{L}(attn_real *s, unsigned char *x, integer m, integer n) =
  @   m <= n && hidden(x, m, n) ==> same(max_of(s, x, n), max_of(s, x, m));
  @ predicate cut_sum{L}(attn_real *e, unsigned char *x, integer m, integer n) =
  @   m <= n && hidden(x, m, n) ==> same(sum_of(e, x, n), sum_of(e, x, m));
  @ predicate cut_mix{L}(attn_real *w, attn_real **v, unsigned char *x, integer m, integer n,
  @                      integer c) =
  @   m <= n && hidden(x, m, n) ==> same(mix_of(w, v, x, n, c), mix_of(w, v, x, m, c));
  @
  @ lemma hidden_last{L}: \forall unsigned char *x, integer m, n;
  @   hidden(x, m, n) ==> hidden(x, m, n - 1);
  @ lemma max_cut_base{L}: \forall attn_real *s, unsigned char *x, integer m, n;
  @   n <= m ==> cut_max(s, x, m, n);
  @ lemma max_cut_step{L}: \forall attn_real *s, unsigned char *x, integer m, n;
  @   0 <= m < n ==> cut_max(s, x, m, n - 1) ==> cut_max(s, x, m, n);
  @ lemma max_cut{L}: \forall attn_real *s, unsigned char *x, integer m, n;
  @   0 <= m ==> cut_max(s, x, m, n);
  @ lemma sum_cut_base{L}: \forall attn_real *e, unsigned char *x, integer m, n;
  @   n <= m ==> cut_sum(e, x, m, n);
  @ lemma sum_cut_step{L}: \forall attn_real *e, unsigned char *x, integer m, n;
  @   0 <= m < n ==> cut_sum(e, x, m, n - 1) ==> cut_sum(e, x, m, n);
  @ lemma sum_cut{L}: \forall attn_real *e, unsigned char *x, integer m, n;
  @   0 <= m ==> cut_sum(e, x, m, n);
  @ lemma mix_cut_base{L}: \forall attn_real *w, **v, unsigned char *x, integer m, n, c;
  @   n <= m ==> cut_mix(w, v, x, m, n, c);
  @ lemma mix_cut_step{L}: \forall attn_real *w, **v, unsigned char *x, integer m, n, c;
  @   0 <= m < n ==> cut_mix(w, v, x, m, n - 1, c) ==> cut_mix(w, v, x, m, n, c);
  @ lemma mix_cut{L}: \forall attn_real *w, **v, unsigned char *x, integer m, n, c;
  @   0 <= m ==> cut_mix(w, v, x, m, n, c);
  @
  @ lemma max_cut_eq{L}: \forall attn_real *s, unsigned char *x, integer m, n;
  @   0 <= m <= n ==> hidden(x, m, n) ==>
  @   cut_max(s, x, m, n) && same(max_of(s, x, n), max_of(s, x, m));
  @ lemma sum_cut_eq{L}: \forall attn_real *e, unsigned char *x, integer m, n;
  @   0 <= m <= n ==> hidden(x, m, n) ==>
  @   cut_sum(e, x, m, n) && same(sum_of(e, x, n), sum_of(e, x, m));
  @ lemma mix_cut_eq{L}: \forall attn_real *w, **v, unsigned char *x, integer m, n, c;
  @   0 <= m <= n ==> hidden(x, m, n) ==>
  @   cut_mix(w, v, x, m, n, c) && same(mix_of(w, v, x, n, c), mix_of(w, v, x, m, c));
  @
  @ lemma mix_empty{L}: \forall attn_real *w, **v, unsigned char *x, integer n, c;
  @   0 <= n ==> empty(x, n) ==> hidden(x, 0, n) && cut_mix(w, v, x, 0, n, c) &&
  @   same(mix_of(w, v, x, n, c), ZERO);
  @ lemma shift_cut{L}: \forall attn_real *s, ATTN_NAME(attn_row_problem) *p, integer m, n;
  @   0 <= m <= n ==> hidden(p->visible, m, n) ==> same(shift_of(s, p, n), shift_of(s, p, m));
  @ lemma total_cut{L}:
  @   \forall attn_real *e, ATTN_NAME(attn_row_problem) *p, integer m, n, attn_real max;
  @   0 <= m <= n ==> hidden(p->visible, m, n) ==>
  @   same(total_of(e, p, n, max), total_of(e, p, m, max));
  @ lemma empty_cut{L}: \forall unsigned char *x, integer m, n;
  @   0 <= m <= n ==> hidden(x, m, n) ==> (empty(x, n) <==> empty(x, m));
  @ lemma softmax_cut{L}:
  @   \forall attn_real *lse, *s, *e, *w, ATTN_NAME(attn_row_problem) *p, integer m, n;
  @   0 <= m <= n ==> hidden(p->visible, m, n) ==>
  @   softmax_row(lse, s, e, w, p, n) ==> softmax_row(lse, s, e, w, p, m);
  @ lemma mix_row_cut{L}:
  @   \forall attn_real *out, *w, **v, unsigned char *x, integer m, n, dv;
  @   0 <= m <= n ==> hidden(x, m, n) ==>
  @   mix_row{L, L}(out, w, v, x, n, dv) ==> mix_row{L, L}(out, w, v, x, m, dv);
  @ lemma row_cut{L}:
  @   \forall attn_real *out, *lse, *s, *e, *w, ATTN_NAME(attn_row_problem) *p, integer m, n;
  @   0 <= m <= n ==> hidden(p->visible, m, n) ==>
  @   row(out, lse, s, e, w, p, n) ==> row(out, lse, s, e, w, p, m);
  @
  @ lemma prefix{L1, L2}:
  @   \forall attn_real *out, *lse, *s, *e, *w, *tuo, *les, *t, *f, *z,
  @           ATTN_NAME(attn_row_problem) *p, *r, integer m, n;
  @   0 <= m <= n ==> hidden{L1}(\at(p->visible, L1), m, n) ==>
  @   row{L1}(out, lse, s, e, w, p, n) ==> row{L2}(tuo, les, t, f, z, r, m) ==>
  @   same_view{L1, L2}(p, r, m) ==> same_result{L1, L2}(out, lse, tuo, les, \at(p->dv, L1));
  @*/

#endif
