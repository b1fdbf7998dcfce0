/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errors.c - what rounding costs in the three loops of a row, in binary32. A loop of row.c gives to
 * the bit what its recursive definition in row_theory.h says (C2); here that definition is compared
 * with the real one. Never compiled: the functions below call the shipped ones and only carry the
 * statement.
 *
 * grow(i) is (1 + 2^-24)^i - 1, at most expm1(i t(2^-24)) by Lemma 1 of spec/error-model.md;
 * slip(i) is the share of underflow, at most 2 i 2^-150. Defined in ferror.mlw:
 * off(s, r, a, g, h): |s - r| <= g a + h.
 * adds(t, s, p): |t - (s + p)| <= 2^-24 |s + p|.
 * multiplies(p, x): |p - x| <= 2^-24 |x| + 2^-150.
 * grows(g, f): f = (1 + 2^-24) g + 2^-24.  slips(h, f): f >= (1 + 2^-24) (h + 2^-150).
 */
#include "reference/kernel/row.h"

/*@ axiomatic LoopErrors {
  @   predicate off(real s, real r, real a, real g, real h);
  @   predicate adds(real t, real s, real p);
  @   predicate multiplies(real p, real x);
  @   predicate grows(real g, real f);
  @   predicate slips(real h, real f);
  @ }
  @
  @ logic real grow(integer i) = i <= 0 ? 0.0 : (1.0 + 0x1p-24) * grow(i - 1) + 0x1p-24;
  @ logic real slip(integer i) = i <= 0 ? 0.0 : (1.0 + 0x1p-24) * (slip(i - 1) + 0x1p-150);
  @
  @ predicate slow(integer n) = 0 <= n <= 1048576 ==>
  @   0 <= grow(n) <= 2.0 * n * 0x1p-24 && 0 <= slip(n) <= 2.0 * n * 0x1p-150;
  @ lemma grow_next: \forall integer m, n; n == m + 1 ==> 0 <= m ==>
  @   grow(n) == (1.0 + 0x1p-24) * grow(m) + 0x1p-24 && grows(grow(m), grow(n));
  @ lemma slip_next: \forall integer m, n; n == m + 1 ==> 0 <= m ==>
  @   slip(n) == (1.0 + 0x1p-24) * (slip(m) + 0x1p-150) && slips(slip(m), slip(n));
  @ lemma slow_base: \forall integer n; n <= 0 ==> slow(n);
  @ lemma slow_real: \forall integer n; 0 < n <= 1048576 ==> 0.0 <= n - 1 <= 1048576.0;
  @ lemma slow_step: \forall integer n; 0 < n ==> slow(n - 1) ==> slow(n);
  @ lemma slow_all: \forall integer n; slow(n);
  @ lemma tiny: \forall integer n; 0 <= n <= 1048576 ==>
  @   slow(n) && 0 <= grow(n) <= 1 && 0 <= slip(n) <= 1;
  @ lemma grow_unit: \forall integer n; 1 <= n <= 1048576 ==> slow(n - 1) && 0x1p-24 <= grow(n);
  @ lemma grow_rises: \forall integer m, n; n == m + 1 ==> 0 <= m < 1048576 ==>
  @   slow(m) && grow(m) <= grow(n) && slip(m) <= slip(n);
  @ lemma grow_one: grow(1) == 0x1p-24 && 0x1p-150 <= slip(1);
  @ lemma off_one: \forall real p, x, a; multiplies(p, x) ==> a == \abs(x) ==>
  @   off(p, x, a, grow(1), slip(1));
  @*/

/* The dot product. */
/*@ logic real real_dot{L}(attn_real *q, attn_real *k, integer d) =
  @   d <= 0 ? 0.0 : real_dot(q, k, d - 1) + q[d - 1] * k[d - 1];
  @ logic real abs_dot{L}(attn_real *q, attn_real *k, integer d) =
  @   d <= 0 ? 0.0 : abs_dot(q, k, d - 1) + \abs(q[d - 1] * k[d - 1]);
  @ predicate finite_reals{L}(attn_real *a, integer n) =
  @   \forall integer c; 0 <= c < n ==> \is_finite(a[c]);
  @ predicate dot_fits{L}(attn_real *q, attn_real *k, integer d) =
  @   finite_reals(q, d) && finite_reals(k, d) && d <= 1048576 && abs_dot(q, k, d) <= 0x1p120;
  @ predicate dot_off{L}(attn_real *q, attn_real *k, integer d) = dot_fits(q, k, d) ==>
  @   \is_finite(dot_of(q, k, d)) && \abs(real_dot(q, k, d)) <= abs_dot(q, k, d) &&
  @   off(dot_of(q, k, d), real_dot(q, k, d), abs_dot(q, k, d), grow(d), slip(d));
  @ predicate dot_size{L}(attn_real *q, attn_real *k, integer d) = 0 <= abs_dot(q, k, d);
  @
  @ lemma dot_unfold{L}: \forall attn_real *q, *k, integer m, n; n == m + 1 ==> 0 <= m ==>
  @   same(dot_of(q, k, n), f_add(dot_of(q, k, m), f_mul(q[m], k[m]))) &&
  @   real_dot(q, k, n) == real_dot(q, k, m) + q[m] * k[m] &&
  @   abs_dot(q, k, n) == abs_dot(q, k, m) + \abs(q[m] * k[m]);
  @ lemma dot_size_base{L}: \forall attn_real *q, *k, integer n; n <= 0 ==> dot_size(q, k, n);
  @ lemma dot_size_step{L}: \forall attn_real *q, *k, integer n;
  @   0 < n ==> dot_size(q, k, n - 1) ==> dot_size(q, k, n);
  @ lemma dot_size_all{L}: \forall attn_real *q, *k, integer n; dot_size(q, k, n);
  @ lemma dot_fits_last{L}: \forall attn_real *q, *k, integer m, n; n == m + 1 ==> 0 <= m ==>
  @   dot_fits(q, k, n) ==> dot_size(q, k, m) && dot_fits(q, k, m) && \is_finite(q[m]) &&
  @   \is_finite(k[m]) && \abs(q[m] * k[m]) <= 0x1p120;
  @ lemma dot_term{L}: \forall attn_real *q, *k, integer m, n; n == m + 1 ==> 1 <= m ==>
  @   dot_fits(q, k, n) ==> dot_off(q, k, m) ==> dot_fits(q, k, m) &&
  @   \abs(dot_of(q, k, m)) <= 0x1p122 &&
  @   multiplies(f_mul(q[m], k[m]), q[m] * k[m]) && \is_finite(dot_of(q, k, n)) &&
  @   adds(dot_of(q, k, n), dot_of(q, k, m), f_mul(q[m], k[m]));
  @ lemma dot_abs{L}: \forall attn_real *q, *k, integer m, n; n == m + 1 ==> 0 <= m ==>
  @   \abs(real_dot(q, k, m)) <= abs_dot(q, k, m) ==> \abs(real_dot(q, k, n)) <= abs_dot(q, k, n);
  @ lemma dot_next{L}: \forall attn_real *q, *k, integer m, n; n == m + 1 ==> 1 <= m ==>
  @   dot_fits(q, k, n) ==> dot_off(q, k, m) ==> dot_fits(q, k, m) && slow(m - 1) &&
  @   off(dot_of(q, k, n), real_dot(q, k, n), abs_dot(q, k, n), grow(n), slip(n));
  @ lemma dot_off_base{L}: \forall attn_real *q, *k, integer n; n <= 0 ==> dot_off(q, k, n);
  @ lemma dot_none{L}: \forall attn_real *q, *k; \is_finite(dot_of(q, k, 0)) &&
  @   dot_of(q, k, 0) == 0 && real_dot(q, k, 0) == 0 && abs_dot(q, k, 0) == 0;
  @ lemma dot_one{L}: \forall attn_real *q, *k; dot_fits(q, k, 1) ==>
  @   multiplies(f_mul(q[0], k[0]), q[0] * k[0]) && \is_finite(dot_of(q, k, 1)) &&
  @   dot_of(q, k, 1) == f_mul(q[0], k[0]) && real_dot(q, k, 1) == q[0] * k[0] &&
  @   abs_dot(q, k, 1) == \abs(q[0] * k[0]);
  @ lemma dot_off_first{L}: \forall attn_real *q, *k, integer n; n == 1 ==> dot_off(q, k, n);
  @ lemma dot_off_step{L}: \forall attn_real *q, *k, integer n;
  @   0 < n ==> dot_off(q, k, n - 1) ==> dot_off(q, k, n);
  @ lemma dot_off_all{L}: \forall attn_real *q, *k, integer n; dot_off(q, k, n);
  @ lemma off_means: \forall real s, r, a, g, h; off(s, r, a, g, h) ==> \abs(s - r) <= g * a + h;
  @ lemma dot_error{L}: \forall attn_real *q, *k, integer n; dot_fits(q, k, n) ==>
  @   dot_off(q, k, n) && \is_finite(dot_of(q, k, n)) &&
  @   \abs(dot_of(q, k, n) - real_dot(q, k, n)) <= grow(n) * abs_dot(q, k, n) + slip(n);
  @*/

/*@ requires \valid_read(q + (0 .. d - 1)) && \valid_read(k + (0 .. d - 1));
  @ requires dot_fits(q, k, d);
  @ terminates \true;
  @ assigns \nothing;
  @ ensures C15: \is_finite(\result);
  @ ensures C15: \abs(\result - real_dot(q, k, d)) <= grow(d) * abs_dot(q, k, d) + slip(d);
  @*/
static attn_real dot_within(const attn_real *q, const attn_real *k, size_t d) {
    return ATTN_NAME(attn_dot)(q, k, d);
}

/* The weighted sum of one column. */
/*@ logic real real_mix{L}(attn_real *w, attn_real **v, unsigned char *x, integer n, integer c) =
  @   n <= 0 ? 0.0 : x[n - 1] != 0 ? real_mix(w, v, x, n - 1, c) + w[n - 1] * v[n - 1][c]
  @                                : real_mix(w, v, x, n - 1, c);
  @ logic real abs_mix{L}(attn_real *w, attn_real **v, unsigned char *x, integer n, integer c) =
  @   n <= 0 ? 0.0 : x[n - 1] != 0 ? abs_mix(w, v, x, n - 1, c) + \abs(w[n - 1] * v[n - 1][c])
  @                                : abs_mix(w, v, x, n - 1, c);
  @ predicate finite_column{L}(attn_real **v, unsigned char *x, integer n, integer c) =
  @   \forall integer j; 0 <= j < n && x[j] != 0 ==> \is_finite(v[j][c]);
  @ predicate mix_fits{L}(attn_real *w, attn_real **v, unsigned char *x, integer n, integer c) =
  @   finite_row(w, x, n) && finite_column(v, x, n, c) && n <= 1048576 &&
  @   abs_mix(w, v, x, n, c) <= 0x1p120;
  @ predicate mix_off{L}(attn_real *w, attn_real **v, unsigned char *x, integer n, integer c) =
  @   mix_fits(w, v, x, n, c) ==> \is_finite(mix_of(w, v, x, n, c)) &&
  @   \abs(real_mix(w, v, x, n, c)) <= abs_mix(w, v, x, n, c) &&
  @   off(mix_of(w, v, x, n, c), real_mix(w, v, x, n, c), abs_mix(w, v, x, n, c), grow(n), slip(n));
  @ predicate mix_size{L}(attn_real *w, attn_real **v, unsigned char *x, integer n, integer c) =
  @   0 <= abs_mix(w, v, x, n, c);
  @
  @ lemma mix_unfold{L}: \forall attn_real *w, **v, unsigned char *x, integer m, n, c;
  @   n == m + 1 ==> 0 <= m ==> x[m] != 0 ==>
  @   same(mix_of(w, v, x, n, c), f_add(mix_of(w, v, x, m, c), f_mul(w[m], v[m][c]))) &&
  @   real_mix(w, v, x, n, c) == real_mix(w, v, x, m, c) + w[m] * v[m][c] &&
  @   abs_mix(w, v, x, n, c) == abs_mix(w, v, x, m, c) + \abs(w[m] * v[m][c]);
  @ lemma mix_pass{L}: \forall attn_real *w, **v, unsigned char *x, integer m, n, c;
  @   n == m + 1 ==> 0 <= m ==> x[m] == 0 ==>
  @   same(mix_of(w, v, x, n, c), mix_of(w, v, x, m, c)) &&
  @   real_mix(w, v, x, n, c) == real_mix(w, v, x, m, c) &&
  @   abs_mix(w, v, x, n, c) == abs_mix(w, v, x, m, c);
  @ lemma mix_size_base{L}: \forall attn_real *w, **v, unsigned char *x, integer n, c;
  @   n <= 0 ==> mix_size(w, v, x, n, c);
  @ lemma mix_size_step{L}: \forall attn_real *w, **v, unsigned char *x, integer n, c;
  @   0 < n ==> mix_size(w, v, x, n - 1, c) ==> mix_size(w, v, x, n, c);
  @ lemma mix_size_all{L}: \forall attn_real *w, **v, unsigned char *x, integer n, c;
  @   mix_size(w, v, x, n, c);
  @ lemma mix_fits_last{L}: \forall attn_real *w, **v, unsigned char *x, integer m, n, c;
  @   n == m + 1 ==> 0 <= m ==> mix_fits(w, v, x, n, c) ==>
  @   mix_size(w, v, x, m, c) && mix_fits(w, v, x, m, c) &&
  @   (x[m] != 0 ==> \is_finite(w[m]) && \is_finite(v[m][c]) && \abs(w[m] * v[m][c]) <= 0x1p120);
  @ lemma mix_term{L}: \forall attn_real *w, **v, unsigned char *x, integer m, n, c;
  @   n == m + 1 ==> 1 <= m ==> x[m] != 0 ==> mix_fits(w, v, x, n, c) ==> mix_off(w, v, x, m, c) ==>
  @   mix_fits(w, v, x, m, c) && \abs(mix_of(w, v, x, m, c)) <= 0x1p122 &&
  @   multiplies(f_mul(w[m], v[m][c]), w[m] * v[m][c]) && \is_finite(mix_of(w, v, x, n, c)) &&
  @   adds(mix_of(w, v, x, n, c), mix_of(w, v, x, m, c), f_mul(w[m], v[m][c]));
  @ lemma mix_abs{L}: \forall attn_real *w, **v, unsigned char *x, integer m, n, c;
  @   n == m + 1 ==> 0 <= m ==> \abs(real_mix(w, v, x, m, c)) <= abs_mix(w, v, x, m, c) ==>
  @   \abs(real_mix(w, v, x, n, c)) <= abs_mix(w, v, x, n, c);
  @ lemma mix_next{L}: \forall attn_real *w, **v, unsigned char *x, integer m, n, c;
  @   n == m + 1 ==> 1 <= m ==> x[m] != 0 ==> mix_fits(w, v, x, n, c) ==> mix_off(w, v, x, m, c) ==>
  @   mix_fits(w, v, x, m, c) && slow(m - 1) &&
  @   off(mix_of(w, v, x, n, c), real_mix(w, v, x, n, c), abs_mix(w, v, x, n, c),
  @       grow(n), slip(n));
  @ lemma mix_skip{L}: \forall attn_real *w, **v, unsigned char *x, integer m, n, c;
  @   n == m + 1 ==> 0 <= m ==> x[m] == 0 ==> mix_off(w, v, x, m, c) ==> mix_off(w, v, x, n, c);
  @ lemma mix_none{L}: \forall attn_real *w, **v, unsigned char *x, integer c;
  @   \is_finite(mix_of(w, v, x, 0, c)) && mix_of(w, v, x, 0, c) == 0 &&
  @   real_mix(w, v, x, 0, c) == 0 && abs_mix(w, v, x, 0, c) == 0;
  @ lemma mix_one{L}: \forall attn_real *w, **v, unsigned char *x, integer c;
  @   x[0] != 0 ==> mix_fits(w, v, x, 1, c) ==>
  @   multiplies(f_mul(w[0], v[0][c]), w[0] * v[0][c]) && \is_finite(mix_of(w, v, x, 1, c)) &&
  @   mix_of(w, v, x, 1, c) == f_mul(w[0], v[0][c]) &&
  @   real_mix(w, v, x, 1, c) == w[0] * v[0][c] &&
  @   abs_mix(w, v, x, 1, c) == \abs(w[0] * v[0][c]);
  @ lemma mix_off_base{L}: \forall attn_real *w, **v, unsigned char *x, integer n, c;
  @   n <= 0 ==> mix_off(w, v, x, n, c);
  @ lemma mix_off_first{L}: \forall attn_real *w, **v, unsigned char *x, integer n, c;
  @   n == 1 ==> x[0] != 0 ==> mix_off(w, v, x, n, c);
  @ lemma mix_off_step{L}: \forall attn_real *w, **v, unsigned char *x, integer n, c;
  @   0 < n ==> mix_off(w, v, x, n - 1, c) ==> mix_off(w, v, x, n, c);
  @ lemma mix_off_all{L}: \forall attn_real *w, **v, unsigned char *x, integer n, c;
  @   mix_off(w, v, x, n, c);
  @ lemma mix_error{L}: \forall attn_real *w, **v, unsigned char *x, integer n, c;
  @   mix_fits(w, v, x, n, c) ==> mix_off(w, v, x, n, c) &&
  @   \abs(mix_of(w, v, x, n, c) - real_mix(w, v, x, n, c)) <=
  @     grow(n) * abs_mix(w, v, x, n, c) + slip(n);
  @*/

/*@ requires \valid(out + (0 .. dv - 1)) && \valid_read(visible + (0 .. n - 1));
  @ requires \forall integer j; 0 <= j < n && visible[j] != 0 ==>
  @            \valid_read(w + j) && \valid_read(v + j) && \valid_read(v[j] + (0 .. dv - 1)) &&
  @            \separated(out + (0 .. dv - 1), v + j) &&
  @            \separated(out + (0 .. dv - 1), v[j] + (0 .. dv - 1));
  @ requires \separated(out + (0 .. dv - 1), w + (0 .. n - 1));
  @ requires \separated(out + (0 .. dv - 1), visible + (0 .. n - 1));
  @ terminates \true;
  @ assigns out[0 .. dv - 1];
  @ ensures C15: \forall integer c; 0 <= c < dv ==> mix_fits(w, v, visible, n, c) ==>
  @                \abs(out[c] - real_mix(w, v, visible, n, c)) <=
  @                  grow(n) * abs_mix(w, v, visible, n, c) + slip(n);
  @*/
static void mix_within(attn_real *out, const attn_real *w, const attn_real *const *v,
                       const unsigned char *visible, size_t n, size_t dv) {
    ATTN_NAME(attn_row_mix)(out, w, v, visible, n, dv);
}

/* The sum of exponentials: its first addition is exact, and no addition underflows. */
/*@ predicate sum_off{L}(attn_real *e, unsigned char *x, integer n) =
  @   unit_row(e, x, n) ==> n <= 1048576 ==>
  @   off(sum_of(e, x, n), real_sum(e, x, n), real_sum(e, x, n), grow(n - 1), 0.0);
  @ lemma sum_off_base{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   n <= 0 ==> sum_off(e, x, n);
  @ lemma sum_one_exact{L}: \forall attn_real *e, unsigned char *x; unit_row(e, x, 1) ==>
  @   sum_of(e, x, 0) == 0 && real_sum(e, x, 0) == 0 && sum_of(e, x, 1) == real_sum(e, x, 1);
  @ lemma off_exact: \forall real s, r, a, g; s == r ==> g == 0 ==> off(s, r, a, g, 0.0);
  @ lemma sum_off_first{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   n == 1 ==> sum_off(e, x, n);
  @ lemma sum_off_skip{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   1 < n ==> x[n - 1] == 0 ==> sum_off(e, x, n - 1) ==> sums(e, x, n - 1) && sum_off(e, x, n);
  @ lemma sum_off_next{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   1 < n ==> x[n - 1] != 0 ==> sum_off(e, x, n - 1) ==> sums(e, x, n - 1) && sum_off(e, x, n);
  @ lemma sum_off_step{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   0 < n ==> sum_off(e, x, n - 1) ==> sum_off(e, x, n);
  @ lemma sum_off_all{L}: \forall attn_real *e, unsigned char *x, integer n; sum_off(e, x, n);
  @ lemma sum_error{L}: \forall attn_real *e, unsigned char *x, integer n;
  @   unit_row(e, x, n) ==> n <= 1048576 ==> sum_off(e, x, n) &&
  @   \abs(sum_of(e, x, n) - real_sum(e, x, n)) <= grow(n - 1) * real_sum(e, x, n);
  @*/

/*@ requires \valid_read(visible + (0 .. n - 1));
  @ requires \forall integer j; 0 <= j < n && visible[j] != 0 ==> \valid_read(e + j);
  @ requires unit_row(e, visible, n) && n <= 1048576;
  @ terminates \true;
  @ assigns \nothing;
  @ ensures C15: \abs(\result - real_sum(e, visible, n)) <= grow(n - 1) * real_sum(e, visible, n);
  @*/
static attn_real sum_within(const attn_real *e, const unsigned char *visible, size_t n) {
    return ATTN_NAME(attn_row_sum)(e, visible, n);
}
