/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exp, log and tanh of the reference: the same bits on every platform with IEEE binary32 and
 * binary64 arithmetic, round to nearest even and no contraction to fma (-ffp-contract=off).
 * No libm, no errno, no state. Whether floating-point exception flags are raised is unspecified.
 *
 *   function    error                                checked on
 *   attn_expf   correctly rounded                    all 2^32 inputs against MPFR
 *   attn_logf   correctly rounded                    all 2^32 inputs against MPFR
 *   attn_tanhf  correctly rounded                    all 2^32 inputs against MPFR
 *   attn_exp    at most 0.54 ulp, subnormals too     worst-case and random inputs against MPFR
 *   attn_log    at most 0.54 ulp                     worst-case and random inputs against MPFR
 *   attn_tanh   at most 0.57 ulp                     worst-case and random inputs against MPFR
 *
 * A correctly rounded function is the composition of a monotone function and a monotone rounding,
 * so the binary32 three are monotone wherever they are ordered; the sweep checks that on its own.
 *
 * The ACSL contracts are what callers may rely on in a proof. They are not proved by WP on the
 * bodies: tests/support/exhaustive_elementary.c evaluates every binary32 clause on every input. The
 * clause "value" says that the result depends on the argument alone, as the bodies read no state.
 */
#ifndef ATTN_ELEMENTARY_H
#define ATTN_ELEMENTARY_H

#include "reference/arithmetic/float_theory.h"

/*
 * e to the x. exp(0) is exactly 1; x <= 0 gives a value in [0, 1]; -inf gives +0 and +inf gives
 * +inf; NaN gives NaN and nothing else does; the result is never negative and never -0.
 */
/*@ terminates \true;
  @ assigns \nothing;
  @ ensures value:    same(\result, f_exp(x));
  @ ensures nan:      \is_NaN(x) <==> \is_NaN(\result);
  @ ensures one:      \is_finite(x) && x == 0 ==> \is_finite(\result) && \result == 1;
  @ ensures unit:     \is_finite(x) && x <= 0 ==> \is_finite(\result) && 0 <= \result <= 1;
  @ ensures grow:     \is_finite(x) && x >= 0 && \is_finite(\result) ==> \result >= 1;
  @ ensures positive: \is_finite(\result) ==> \result >= 0;
  @ ensures no_minus: !\is_minus_infinity(\result);
  @ ensures ninf:     \is_minus_infinity(x) ==> \is_finite(\result) && \result == 0;
  @ ensures pinf:     \is_plus_infinity(x) ==> \is_plus_infinity(\result);
  @ ensures overflow: \is_finite(x) && x <= 88 ==> \is_finite(\result);
  @ ensures error:    \is_finite(x) && x <= 88 ==>
  @                     \abs(\result - \exp(x)) <= 0x1p-24 * \exp(x) + 0x1p-150;
  @*/
float attn_expf(float x);

/*
 * Natural logarithm. log(1) is +0; both zeros give -inf; a negative x, -inf included, gives NaN;
 * +inf gives +inf; x >= 1 gives a value >= 0 and 0 < x <= 1 a value <= 0; NaN gives NaN.
 */
/*@ terminates \true;
  @ assigns \nothing;
  @ ensures value:    same(\result, f_log(x));
  @ ensures nan:      \is_NaN(x) ==> \is_NaN(\result);
  @ ensures negative: \is_minus_infinity(x) || (\is_finite(x) && x < 0) ==> \is_NaN(\result);
  @ ensures zero:     \is_finite(x) && x == 0 ==> \is_minus_infinity(\result);
  @ ensures one:      \is_finite(x) && x == 1 ==> \is_finite(\result) && \result == 0;
  @ ensures finite:   \is_finite(x) && x > 0 ==> \is_finite(\result) && -104 <= \result <= 89;
  @ ensures above:    \is_finite(x) && x >= 1 ==> \result >= 0;
  @ ensures below:    \is_finite(x) && 0 < x <= 1 ==> \result <= 0;
  @ ensures pinf:     \is_plus_infinity(x) ==> \is_plus_infinity(\result);
  @ ensures error:    \is_finite(x) && x > 0 ==>
  @                     \abs(\result - \log(x)) <= 0x1p-24 * \abs(\log(x)) + 0x1p-150;
  @*/
float attn_logf(float x);

/*
 * Hyperbolic tangent. Odd to the bit; |tanh(x)| <= 1 and <= |x|; the sign of x is kept, on zeros
 * too; +-inf gives +-1; NaN gives NaN and nothing else does.
 */
/*@ terminates \true;
  @ assigns \nothing;
  @ ensures value:    same(\result, f_tanh(x));
  @ ensures nan:      \is_NaN(x) <==> \is_NaN(\result);
  @ ensures finite:   !\is_NaN(x) ==> \is_finite(\result) && -1 <= \result <= 1;
  @ ensures zero:     \is_finite(x) && x == 0 ==> \result == 0;
  @ ensures pos:      \is_finite(x) && x >= 0 ==> 0 <= \result <= x;
  @ ensures neg:      \is_finite(x) && x <= 0 ==> x <= \result <= 0;
  @ ensures pinf:     \is_plus_infinity(x) ==> \result == 1;
  @ ensures ninf:     \is_minus_infinity(x) ==> \result == -1;
  @*/
float attn_tanhf(float x);

/* binary64 twins: the same special values and ranges, errors in ulp as in the table above. */

/*@ terminates \true;
  @ assigns \nothing;
  @ ensures value:    same(\result, f_exp(x));
  @ ensures nan:      \is_NaN(x) <==> \is_NaN(\result);
  @ ensures one:      \is_finite(x) && x == 0 ==> \is_finite(\result) && \result == 1;
  @ ensures unit:     \is_finite(x) && x <= 0 ==> \is_finite(\result) && 0 <= \result <= 1;
  @ ensures grow:     \is_finite(x) && x >= 0 && \is_finite(\result) ==> \result >= 1;
  @ ensures positive: \is_finite(\result) ==> \result >= 0;
  @ ensures no_minus: !\is_minus_infinity(\result);
  @ ensures ninf:     \is_minus_infinity(x) ==> \is_finite(\result) && \result == 0;
  @ ensures pinf:     \is_plus_infinity(x) ==> \is_plus_infinity(\result);
  @ ensures overflow: \is_finite(x) && x <= 709 ==> \is_finite(\result);
  @*/
double attn_exp(double x);

/*@ terminates \true;
  @ assigns \nothing;
  @ ensures value:    same(\result, f_log(x));
  @ ensures nan:      \is_NaN(x) ==> \is_NaN(\result);
  @ ensures negative: \is_minus_infinity(x) || (\is_finite(x) && x < 0) ==> \is_NaN(\result);
  @ ensures zero:     \is_finite(x) && x == 0 ==> \is_minus_infinity(\result);
  @ ensures one:      \is_finite(x) && x == 1 ==> \is_finite(\result) && \result == 0;
  @ ensures finite:   \is_finite(x) && x > 0 ==> \is_finite(\result) && -745 <= \result <= 710;
  @ ensures above:    \is_finite(x) && x >= 1 ==> \result >= 0;
  @ ensures below:    \is_finite(x) && 0 < x <= 1 ==> \result <= 0;
  @ ensures pinf:     \is_plus_infinity(x) ==> \is_plus_infinity(\result);
  @*/
double attn_log(double x);

/*@ terminates \true;
  @ assigns \nothing;
  @ ensures value:    same(\result, f_tanh(x));
  @ ensures nan:      \is_NaN(x) <==> \is_NaN(\result);
  @ ensures finite:   !\is_NaN(x) ==> \is_finite(\result) && -1 <= \result <= 1;
  @ ensures zero:     \is_finite(x) && x == 0 ==> \result == 0;
  @ ensures pos:      \is_finite(x) && x >= 0 ==> 0 <= \result <= x;
  @ ensures neg:      \is_finite(x) && x <= 0 ==> x <= \result <= 0;
  @ ensures pinf:     \is_plus_infinity(x) ==> \result == 1;
  @ ensures ninf:     \is_minus_infinity(x) ==> \result == -1;
  @*/
double attn_tanh(double x);

#endif
