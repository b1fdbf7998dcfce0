/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scalar.h - the arithmetic layer of everything that is proved.
 *
 * Proved code touches a scalar only through the names below: no raw operator, cast, comparison or
 * bit trick (ci/check-scalars fails on one). So the same source has several readings: plain C in
 * the build and under Frama-C; and, where a proof defines ATTN_READING as the name of a header that
 * supplies the same names, narrow floats, uninterpreted functions or sets of positions under CBMC.
 *
 * A file is compiled once per width: ATTN_BITS is 32 (default) or 64, ATTN_NAME(attn_dot) is
 * attn_dot_f32 or attn_dot_f64.
 */
#ifndef ATTN_SCALAR_H
#define ATTN_SCALAR_H

#include <stddef.h>
#include <stdint.h>

#ifndef ATTN_BITS
#define ATTN_BITS 32
#endif

#if ATTN_BITS == 64
#define ATTN_NAME(name) name##_f64
#else
#define ATTN_NAME(name) name##_f32
#endif

#ifdef ATTN_READING
#include ATTN_READING
#else

#include <float.h>
#include <math.h> /* INFINITY, fmaf and fma: no function of libm is called but those two */

#include "reference/arithmetic/elementary.h"

#if FLT_EVAL_METHOD != 0
#error "attest needs each operation rounded to its own type (FLT_EVAL_METHOD == 0)"
#endif
#ifdef __FAST_MATH__
#error "attest must not be built with -ffast-math"
#endif

#if ATTN_BITS == 64
typedef double attn_real;
#define EXP(x) attn_exp(x)
#define LOG(x) attn_log(x)
#define TANH(x) attn_tanh(x)
#define FMA(x, y, z) fma(x, y, z)
#define FROM_INT(n) ((double)(n))
#else
typedef float attn_real;
#define EXP(x) attn_expf(x)
#define LOG(x) attn_logf(x)
#define TANH(x) attn_tanhf(x)
#define FMA(x, y, z) fmaf(x, y, z)
#define FROM_INT(n) ((float)(n))
#endif

#define ZERO ((attn_real)0)
#define ONE ((attn_real)1)
#ifdef __FRAMAC__ /* its proof tool has no literal for an infinity */
/*@ terminates \true;
  @ assigns \result \from \nothing;
  @ ensures \is_minus_infinity(\result);
  @*/
extern attn_real attn_neg_inf(void);
#define NEG_INF attn_neg_inf()
#else
#define NEG_INF ((attn_real)(-INFINITY))
#endif

#define ADD(x, y) ((x) + (y))
#define SUB(x, y) ((x) - (y))
#define MUL(x, y) ((x) * (y))
#define DIV(x, y) ((x) / (y))
#define NEG(x) (-(x))
#define GT(x, y) ((x) > (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y)) /* a NaN in x is passed over, one in y is kept */
#define ISNINF(x) ((x) == NEG_INF)
#define SELECT(condition, x, y) ((condition) ? (x) : (y))

#endif
#endif
