/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_causality.h - a row depends on what it sees and on nothing else. Nothing here is compiled.
 */
#ifndef ATTN_ROW_CAUSALITY_H
#define ATTN_ROW_CAUSALITY_H

#include "reference/kernel/row_lemmas.h"

/*
 * Causality: two runs whose problems look the same to the row give the same bits. What is not
 * visible may differ in any way between them: its data, its row pointers, its being readable.
 */
/*@ lemma scores_same{L1, L2}:
  @   \forall attn_real *s, *t, ATTN_NAME(attn_row_problem) *p, *r, integer n;
  @   score_row{L1, L1}(s, p, n) ==> score_row{L2, L2}(t, r, n) ==> same_view{L1, L2}(p, r, n) ==>
  @   same_row{L1, L2}(s, t, \at(p->visible, L1), \at(r->visible, L2), n);
  @ lemma exps_same{L1, L2}:
  @   \forall attn_real *e, *f, *s, *t, unsigned char *x, *y, integer n, attn_real max;
  @   exp_row{L1}(e, s, x, n, max) ==> exp_row{L2}(f, t, y, n, max) ==>
  @   same_row{L1, L2}(s, t, x, y, n) ==> same_row{L1, L2}(e, f, x, y, n);
  @ lemma weights_same{L1, L2}:
  @   \forall attn_real *w, *z, *e, *f, unsigned char *x, *y, integer n, attn_real sum;
  @   divide_row{L1}(w, e, x, n, sum) ==> divide_row{L2}(z, f, y, n, sum) ==>
  @   same_row{L1, L2}(e, f, x, y, n) ==> same_row{L1, L2}(w, z, x, y, n);
  @
  @ predicate same_seen{L1, L2}(unsigned char *x, unsigned char *y, integer n) =
  @   \forall integer j; 0 <= j < n ==> (\at(x[j], L1) != 0 <==> \at(y[j], L2) != 0);
  @ lemma row_seen{L1, L2}: \forall attn_real *a, *b, unsigned char *x, *y, integer n;
  @   same_row{L1, L2}(a, b, x, y, n) ==> same_seen{L1, L2}(x, y, n);
  @ lemma seen_empty{L1, L2}: \forall unsigned char *x, *y, integer n;
  @   same_seen{L1, L2}(x, y, n) ==> (empty{L1}(x, n) <==> empty{L2}(y, n));
  @ lemma empty_same{L1, L2}: \forall attn_real *a, *b, unsigned char *x, *y, integer n;
  @   same_row{L1, L2}(a, b, x, y, n) ==> (empty{L1}(x, n) <==> empty{L2}(y, n));
  @
  @ lemma softmax_exps{L1, L2}:
  @   \forall attn_real *lse, *s, *e, *w, *les, *t, *f, *z, ATTN_NAME(attn_row_problem) *p, *r,
  @           integer n;
  @   softmax_row{L1}(lse, s, e, w, p, n) ==> softmax_row{L2}(les, t, f, z, r, n) ==>
  @   same_setting{L1, L2}(p, r) ==>
  @   same_row{L1, L2}(s, t, \at(p->visible, L1), \at(r->visible, L2), n) ==>
  @   same(shift_of{L1}(s, p, n), shift_of{L2}(t, r, n)) &&
  @   same_row{L1, L2}(e, f, \at(p->visible, L1), \at(r->visible, L2), n);
  @ lemma softmax_weights{L1, L2}:
  @   \forall attn_real *lse, *s, *e, *w, *les, *t, *f, *z, ATTN_NAME(attn_row_problem) *p, *r,
  @           integer n;
  @   softmax_row{L1}(lse, s, e, w, p, n) ==> softmax_row{L2}(les, t, f, z, r, n) ==>
  @   same_setting{L1, L2}(p, r) ==>
  @   same(shift_of{L1}(s, p, n), shift_of{L2}(t, r, n)) ==>
  @   same_row{L1, L2}(e, f, \at(p->visible, L1), \at(r->visible, L2), n) ==>
  @   same(total_of{L1}(e, p, n, shift_of{L1}(s, p, n)),
  @        total_of{L2}(f, r, n, shift_of{L2}(t, r, n))) &&
  @   same_row{L1, L2}(w, z, \at(p->visible, L1), \at(r->visible, L2), n);
  @ lemma softmax_lse{L1, L2}:
  @   \forall attn_real *lse, *s, *e, *les, *t, *f, ATTN_NAME(attn_row_problem) *p, *r, integer n;
  @   lse_row{L1}(\at(*lse, L1), s, e, p, n) ==> lse_row{L2}(\at(*les, L2), t, f, r, n) ==>
  @   same_setting{L1, L2}(p, r) ==>
  @   same(shift_of{L1}(s, p, n), shift_of{L2}(t, r, n)) ==>
  @   same(total_of{L1}(e, p, n, shift_of{L1}(s, p, n)),
  @        total_of{L2}(f, r, n, shift_of{L2}(t, r, n))) ==>
  @   same_row{L1, L2}(e, f, \at(p->visible, L1), \at(r->visible, L2), n) ==>
  @   same(\at(*lse, L1), \at(*les, L2));
  @ lemma softmax_same{L1, L2}:
  @   \forall attn_real *lse, *s, *e, *w, *les, *t, *f, *z, ATTN_NAME(attn_row_problem) *p, *r,
  @           integer n;
  @   softmax_row{L1}(lse, s, e, w, p, n) ==> softmax_row{L2}(les, t, f, z, r, n) ==>
  @   same_setting{L1, L2}(p, r) ==>
  @   same_row{L1, L2}(s, t, \at(p->visible, L1), \at(r->visible, L2), n) ==>
  @   same_row{L1, L2}(w, z, \at(p->visible, L1), \at(r->visible, L2), n) &&
  @   same(\at(*lse, L1), \at(*les, L2));
  @
  @ lemma mix_view{L1, L2}:
  @   \forall attn_real *w, *z, ATTN_NAME(attn_row_problem) *p, *r, integer n, c;
  @   same_view{L1, L2}(p, r, n) ==> 0 <= c < \at(p->dv, L1) ==>
  @   same_row{L1, L2}(w, z, \at(p->visible, L1), \at(r->visible, L2), n) ==>
  @   same_column{L1, L2}(\at(p->v, L1), \at(r->v, L2), \at(p->visible, L1), n, c) &&
  @   same_mix{L1, L2}(w, z, \at(p->v, L1), \at(r->v, L2), \at(p->visible, L1),
  @                    \at(r->visible, L2), n, c) &&
  @   same(mix_of{L1}(w, \at(p->v, L1), \at(p->visible, L1), n, c),
  @        mix_of{L2}(z, \at(r->v, L2), \at(r->visible, L2), n, c));
  @ lemma mixes_same{L1, L2}:
  @   \forall attn_real *out, *tuo, *w, *z, ATTN_NAME(attn_row_problem) *p, *r, integer n;
  @   mix_row{L1, L1}(out, w, \at(p->v, L1), \at(p->visible, L1), n, \at(p->dv, L1)) ==>
  @   mix_row{L2, L2}(tuo, z, \at(r->v, L2), \at(r->visible, L2), n, \at(r->dv, L2)) ==>
  @   same_view{L1, L2}(p, r, n) ==>
  @   same_row{L1, L2}(w, z, \at(p->visible, L1), \at(r->visible, L2), n) ==>
  @   same_reals{L1, L2}(out, tuo, \at(p->dv, L1));
  @
  @ predicate same_result{L1, L2}(attn_real *out, attn_real *lse, attn_real *tuo, attn_real *les,
  @                               integer dv) =
  @   same(\at(*lse, L1), \at(*les, L2)) && same_reals{L1, L2}(out, tuo, dv);
  @
  @ lemma causality{L1, L2}:
  @   \forall attn_real *out, *lse, *s, *e, *w, *tuo, *les, *t, *f, *z,
  @           ATTN_NAME(attn_row_problem) *p, *r, integer n;
  @   row{L1}(out, lse, s, e, w, p, n) ==> row{L2}(tuo, les, t, f, z, r, n) ==>
  @   same_view{L1, L2}(p, r, n) ==> same_result{L1, L2}(out, lse, tuo, les, \at(p->dv, L1));
  @*/

#endif
