/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fastexp.h - exp on x <= 0 for the weights of a softmax, as the vector micro-kernels compute it:
 * this scalar form is their twin, operation by operation.
 *
 *   n = round(x / ln 2), r = x - n ln 2 in two steps, exp(r) = 1 + r (1 + r P(r)), P of degree 4
 *   fitted for least relative error (0.06 ulp); times 2^(n+75), which is normal, times 2^-75,
 *   which rounds once where the result is subnormal.
 *
 * exp(0) is exactly 1 and -inf gives +0; NaN gives NaN; the result is in [0, 1]. The error is at
 * most ATTN_FAST_EXP_ULPS; tests/test_fastexp.c looks at every binary32 from -104 to -2^-26.
 * Below LOW the true value is less than half of the smallest subnormal number.
 */
#ifndef ATTN_FASTEXP_H
#define ATTN_FASTEXP_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define ATTN_FAST_EXP_ULPS 1.0

#define FASTEXP_LOW -0x1.9fe368p6f
#define FASTEXP_LOG2E 0x1.715476p0f
#define FASTEXP_MAGIC 0x1.8p23f /* adding it leaves the nearest integer in the low bits */
#define FASTEXP_LN2_HIGH 0x1.62e43p-1f
#define FASTEXP_LN2_LOW -0x1.05c61p-29f
#define FASTEXP_C2 0x1.fffffcp-2f
#define FASTEXP_C3 0x1.555492p-3f
#define FASTEXP_C4 0x1.5558bp-5f
#define FASTEXP_C5 0x1.12398ap-7f
#define FASTEXP_C6 0x1.6a4d14p-10f
#define FASTEXP_LIFT 75
#define FASTEXP_BIAS ((127u + FASTEXP_LIFT) << 23)
#define FASTEXP_DROP 0x1p-75f

static inline float attn_fast_expf(float x) {
    float shifted = fmaf(x, FASTEXP_LOG2E, FASTEXP_MAGIC);
    float n = shifted - FASTEXP_MAGIC;
    float r = fmaf(n, -FASTEXP_LN2_HIGH, x);
    r = fmaf(n, -FASTEXP_LN2_LOW, r);
    float p = fmaf(FASTEXP_C6, r, FASTEXP_C5);
    p = fmaf(p, r, FASTEXP_C4);
    p = fmaf(p, r, FASTEXP_C3);
    p = fmaf(p, r, FASTEXP_C2);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 23) + FASTEXP_BIAS;
    float power;
    memcpy(&power, &bits, sizeof power);
    return x < FASTEXP_LOW ? 0.0f : p * power * FASTEXP_DROP;
}

#endif
