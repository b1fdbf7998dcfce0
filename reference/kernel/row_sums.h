/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_sums.h - weights sum to 1, in binary32, for rows of up to 2^20 keys. Nothing here is
 * compiled.
 */
#ifndef ATTN_ROW_SUMS_H
#define ATTN_ROW_SUMS_H

#include "reference/kernel/row_range.h"

#if ATTN_BITS == 32
/* A float sum of numbers in [0, 1] is near the real one. */
/*@ predicate sums_near{L}(attn_real *e, unsigned char *x, integer n) =
  @   unit_row(e, x, n) ==> n <= 1048576 ==> near(n, sum_of(e, x, n), real_sum(e, x, n));
  @ lemma near_base{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   n <= 0 ==> sums_near(e, x, n);
  @ lemma near_skip{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] == 0 ==> sums(e, x, n - 1) ==> sums_near(e, x, n - 1) ==>
  @   sums_near(e, x, n);
  @ lemma near_add{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] != 0 ==> unit_row(e, x, n) ==> sums(e, x, n - 1) ==>
  @   radd(sum_of(e, x, n), sum_of(e, x, n - 1), e[n - 1]);
  @ lemma near_term: \forall integer m, n, real s, r, t, e, u;
  @   n == m + 1 ==> 0 < n <= 1048577 ==> 0 <= e ==> 0 <= r ==> u == r + e ==> near(m, s, r) ==>
  @   radd(t, s, e) ==> near(n, t, u);
  @ lemma near_grow{L}: \forall attn_real *e, unsigned char *x, integer m, n;
  @   n == m + 1 ==> 0 < n <= 1048576 ==> x[m] != 0 ==> 0 <= e[m] ==> 0 <= real_sum(e, x, m) ==>
  @   near(m, sum_of(e, x, m), real_sum(e, x, m)) ==>
  @   radd(sum_of(e, x, n), sum_of(e, x, m), e[m]) ==>
  @   near(n, sum_of(e, x, n), real_sum(e, x, n));
  @ lemma near_next{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] != 0 ==> sums(e, x, n - 1) ==> sums_near(e, x, n - 1) ==>
  @   sums_near(e, x, n);
  @ lemma near_step{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   0 < n ==> sums_near(e, x, n - 1) ==> sums(e, x, n - 1) && sums_near(e, x, n);
  @ lemma near_all{L}: \forall attn_real *e, unsigned char *x, integer n; sums_near(e, x, n);
  @ lemma sum_near{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   unit_row(e, x, n) ==> n <= 1048576 ==>
  @   sums_near(e, x, n) && near(n, sum_of(e, x, n), real_sum(e, x, n));
  @*/

/* So is the sum of the float quotients. */
/*@ predicate quotients{L}(attn_real *w, attn_real *e, unsigned char *x, integer n) =
  @   \forall attn_real sum; 0 <= n ==> unit_row(e, x, n) ==> \is_finite(sum) ==> 1 <= sum ==>
  @     divide_row(w, e, x, n, sum) ==>
  @     wnear(n, real_sum(w, x, n), real_sum(e, x, n) / sum);
  @ lemma divide_last{L}: \forall attn_real *w, *e, unsigned char *x, integer n, attn_real sum;
  @   divide_row(w, e, x, n, sum) ==> divide_row(w, e, x, n - 1, sum);
  @ lemma over_sum: \forall real a, b, s; 1 <= s ==> (a + b) / s == a / s + b / s;
  @ lemma over_zero: \forall real s; 1 <= s ==> 0.0 / s == 0.0;
  @ lemma wnear_term: \forall integer m, n, real w, x, v, q, y, r;
  @   n == m + 1 ==> v == w + x ==> r == q + y ==> wnear(m, w, q) ==> rdiv(x, y) ==>
  @   wnear(n, v, r);
  @ lemma wnear_skip: \forall integer m, n, real w, q;
  @   n == m + 1 ==> wnear(m, w, q) ==> wnear(n, w, q);
  @ lemma wnear_grow{L}: \forall attn_real *w, *e, unsigned char *x, integer m, n, attn_real sum;
  @   n == m + 1 ==> 0 < n ==> x[m] != 0 ==> 1 <= sum ==>
  @   wnear(m, real_sum(w, x, m), real_sum(e, x, m) / sum) ==> rdiv(w[m], e[m] / sum) ==>
  @   wnear(n, real_sum(w, x, n), real_sum(e, x, n) / sum);
  @ lemma quotients_base{L}: \forall attn_real *w, *e, unsigned char *x, integer n;
  @   n <= 0 ==> quotients(w, e, x, n);
  @ lemma quotients_skip{L}: \forall attn_real *w, *e, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] == 0 ==> quotients(w, e, x, n - 1) ==> quotients(w, e, x, n);
  @ lemma quotients_next{L}: \forall attn_real *w, *e, unsigned char *x, integer n;
  @   0 < n ==> x[n - 1] != 0 ==> quotients(w, e, x, n - 1) ==> quotients(w, e, x, n);
  @ lemma quotients_step{L}: \forall attn_real *w, *e, unsigned char *x, integer n;
  @   0 < n ==> quotients(w, e, x, n - 1) ==> quotients(w, e, x, n);
  @ lemma quotients_all{L}: \forall attn_real *w, *e, unsigned char *x, integer n;
  @   quotients(w, e, x, n);
  @ lemma weights_near{L}: \forall attn_real *w, *e, unsigned char *x, integer n, attn_real sum;
  @   0 <= n ==> unit_row(e, x, n) ==> \is_finite(sum) ==> 1 <= sum ==>
  @   divide_row(w, e, x, n, sum) ==>
  @   quotients(w, e, x, n) && wnear(n, real_sum(w, x, n), real_sum(e, x, n) / sum);
  @*/

/* Without a sink. */
/*@ lemma real_range: \forall integer n; 0 <= n <= 1048577 ==> 0.0 <= n <= 1048577.0;
  @ lemma real_next: \forall integer n; 0 <= n ==> 1.0 <= n + 1;
  @ lemma closing_real: \forall real i, n, s, r, w;
  @   1 <= n <= 1048577 ==> 1 <= s ==> 0 <= r ==> near(n, s, r) ==> wnear(i, w, r / s) ==>
  @   \abs(w - 1) <= 2.3 * n * 0x1p-24 + i * 0x1p-150;
  @ lemma closing: \forall integer n, real s, r, w;
  @   1 <= n <= 1048576 ==> 1 <= s ==> 0 <= r ==> near(n, s, r) ==> wnear(n, w, r / s) ==>
  @   \abs(w - 1) <= 2.3 * n * 0x1p-24 + n * 0x1p-150;
  @ lemma sum_to_one{L}: \forall attn_real *w, *e, unsigned char *x, integer n;
  @   1 <= n <= 1048576 ==> unit_row(e, x, n) ==> has_one(e, x, n) ==>
  @   divide_row(w, e, x, n, sum_of(e, x, n)) ==>
  @   \abs(real_sum(w, x, n) - 1) <= 2.3 * n * 0x1p-24 + n * 0x1p-150;
  @ lemma row_sum_to_one{L}:
  @   \forall attn_real *w, *e, ATTN_NAME(attn_row_problem) *p, integer n, attn_real max;
  @   shares(e, p, n, max) ==> divide_row(w, e, p->visible, n, total_of(e, p, n, max)) ==>
  @   p->has_sink == 0 ==> 1 <= n <= 1048576 ==>
  @   \abs(real_sum(w, p->visible, n) - 1) <= 2.3 * n * 0x1p-24 + n * 0x1p-150;
  @*/

/* With a sink. */
/*@ lemma closing_sink_real: \forall real i, n, s, r, x, u, w;
  @   1 <= n <= 1048577 ==> 1 <= s ==> 0 <= r ==> 0 <= x ==> u == r + x ==> near(n, s, u) ==>
  @   wnear(i, w, r / s) ==> \abs(w + x / s - 1) <= 2.3 * n * 0x1p-24 + i * 0x1p-150;
  @ lemma closing_sink: \forall integer m, n, real s, r, x, u, w;
  @   m == n + 1 ==> 0 <= n <= 1048576 ==> 1 <= s ==> 0 <= r ==> 0 <= x ==> u == r + x ==>
  @   near(m, s, u) ==> wnear(n, w, r / s) ==>
  @   \abs(w + x / s - 1) <= 2.3 * m * 0x1p-24 + n * 0x1p-150;
  @ lemma sink_near{L}:
  @   \forall attn_real *e, unsigned char *x, integer m, n, real mass, sum, u;
  @   m == n + 1 ==> 0 <= n <= 1048576 ==> unit_row(e, x, n) ==> 0 <= mass ==>
  @   u == real_sum(e, x, n) + mass ==> radd(sum, sum_of(e, x, n), mass) ==> near(m, sum, u);
  @ lemma row_mass{L}:
  @   \forall attn_real *e, ATTN_NAME(attn_row_problem) *p, integer n, attn_real max;
  @   shares(e, p, n, max) ==> p->has_sink != 0 ==>
  @   unit(mass_of(p, max)) && unit_row(e, p->visible, n) && 1 <= total_of(e, p, n, max) &&
  @   sums(e, p->visible, n) && 0 <= real_sum(e, p->visible, n);
  @ lemma row_radd{L}:
  @   \forall attn_real *e, ATTN_NAME(attn_row_problem) *p, integer n, attn_real max;
  @   shares(e, p, n, max) ==> p->has_sink != 0 ==>
  @   same(total_of(e, p, n, max), f_add(sum_of(e, p->visible, n), mass_of(p, max))) &&
  @   radd(total_of(e, p, n, max), sum_of(e, p->visible, n), mass_of(p, max));
  @ lemma row_near{L}:
  @   \forall attn_real *e, ATTN_NAME(attn_row_problem) *p, integer m, n, attn_real max, real u;
  @   shares(e, p, n, max) ==> p->has_sink != 0 ==> m == n + 1 ==> 0 <= n <= 1048576 ==>
  @   u == real_sum(e, p->visible, n) + mass_of(p, max) ==>
  @   radd(total_of(e, p, n, max), sum_of(e, p->visible, n), mass_of(p, max)) &&
  @   near(m, total_of(e, p, n, max), u);
  @ lemma row_wnear{L}:
  @   \forall attn_real *w, *e, ATTN_NAME(attn_row_problem) *p, integer n, attn_real max;
  @   shares(e, p, n, max) ==> divide_row(w, e, p->visible, n, total_of(e, p, n, max)) ==>
  @   0 <= n ==>
  @   wnear(n, real_sum(w, p->visible, n), real_sum(e, p->visible, n) / total_of(e, p, n, max));
  @ lemma row_close{L}:
  @   \forall attn_real *w, *e, ATTN_NAME(attn_row_problem) *p, integer m, n, attn_real max,
  @           real s, r, x, u, v;
  @   shares(e, p, n, max) ==> divide_row(w, e, p->visible, n, total_of(e, p, n, max)) ==>
  @   p->has_sink != 0 ==> m == n + 1 ==> 0 <= n <= 1048576 ==>
  @   s == total_of(e, p, n, max) ==> r == real_sum(e, p->visible, n) ==>
  @   x == mass_of(p, max) ==> u == r + x ==> v == real_sum(w, p->visible, n) ==>
  @   1 <= s && 0 <= r && 0 <= x && near(m, s, u) && wnear(n, v, r / s);
  @ lemma row_sink{L}:
  @   \forall attn_real *w, *e, ATTN_NAME(attn_row_problem) *p, integer m, n, attn_real max,
  @           real s, r, x, u, v;
  @   shares(e, p, n, max) ==> divide_row(w, e, p->visible, n, total_of(e, p, n, max)) ==>
  @   p->has_sink != 0 ==> m == n + 1 ==> 0 <= n <= 1048576 ==>
  @   s == total_of(e, p, n, max) ==> r == real_sum(e, p->visible, n) ==>
  @   x == mass_of(p, max) ==> u == r + x ==> v == real_sum(w, p->visible, n) ==>
  @   near(m, s, u) && wnear(n, v, r / s) &&
  @   \abs(v + x / s - 1) <= 2.3 * m * 0x1p-24 + n * 0x1p-150;
  @ lemma row_sum_to_one_sink{L}:
  @   \forall attn_real *w, *e, ATTN_NAME(attn_row_problem) *p, integer m, n, attn_real max;
  @   shares(e, p, n, max) ==> divide_row(w, e, p->visible, n, total_of(e, p, n, max)) ==>
  @   p->has_sink != 0 ==> m == n + 1 ==> 0 <= n <= 1048576 ==>
  @   near(m, total_of(e, p, n, max), real_sum(e, p->visible, n) + mass_of(p, max)) &&
  @   wnear(n, real_sum(w, p->visible, n),
  @         real_sum(e, p->visible, n) / total_of(e, p, n, max)) &&
  @   \abs(real_sum(w, p->visible, n) + mass_of(p, max) / total_of(e, p, n, max) - 1) <=
  @     2.3 * m * 0x1p-24 + n * 0x1p-150;
  @*/
#endif

#endif
