/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What exp, log and tanh share: an unevaluated sum hi + lo of two binary64 numbers, |lo| at most
 * half an ulp of hi, and its one rounding to binary32.
 */
#ifndef ATTN_ELEMENTARY_DD_H
#define ATTN_ELEMENTARY_DD_H

#include <stdint.h>
#include <string.h>

typedef struct {
    double hi, lo;
} attn_dd;

/*
 * exp(x) = (hi + lo) * 2^exponent with 0.98 < hi < 1.99, for finite |x| <= 746.
 * Relative error below 2^-58 (derived in exp.c).
 */
attn_dd attn_exp_dd(double x, int *exponent);

static inline uint64_t attn_bits_of(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double attn_of_bits(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* 2^e, exactly, for -1022 <= e <= 1023. */
static inline double attn_pow2(int e) { return attn_of_bits((uint64_t)(e + 1023) << 52); }

/* a + b without error. Needs a == 0 or |a| >= |b|, or a sum that is exact in binary64. */
static inline attn_dd attn_fast_two_sum(double a, double b) {
    double s = a + b;
    attn_dd r = {s, (a - s) + b};
    return r;
}

/*
 * (hi + lo) * scale rounded once to binary32; scale is a power of two, the product with hi is
 * normal in binary64 and below FLT_MAX + half an ulp. Rounding hi + lo to odd first (a neighbour
 * with an odd last bit stands for everything strictly between two binary64 numbers) keeps the
 * conversion from seeing a tie that is not there, also where the result is subnormal.
 */
static inline float attn_dd_to_f32(attn_dd a, double scale) {
    uint64_t u = attn_bits_of(a.hi);
    if (a.lo != 0 && (u & 1) == 0)
        u = (a.lo > 0) == (a.hi > 0) ? u + 1 : u - 1;
    return (float)(attn_of_bits(u) * scale);
}

#endif
