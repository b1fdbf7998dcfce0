/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exp, by a table of 2^(j/32) and a Taylor polynomial.
 *
 *   x = k * ln2/32 + r with |r| <= ln2/64 (1 + 2^-30),  k = 32 e + j,  0 <= j < 32
 *   exp(x) = 2^e * 2^(j/32) * exp(r)
 *
 * Error of attn_exp_dd relative to exp(x), each term at most 2^-60: the rounding of r, of q, of
 * T*q and of the last sum that makes lo; the truncated term r^8/8! < 2^-67, the lower Horner
 * steps (scaled by r^2 < 2^-13) and k * (ln2/32 - C1 - C2) are far below. Together below 2^-58.
 */
#include "reference/arithmetic/elementary.h"
#include "reference/arithmetic/elementary_dd.h"

#include <math.h> /* INFINITY alone */

/* Row j: 2^(j/32) rounded to binary64, and the rest 2^(j/32) - hi rounded to binary64. */
static const double exp2_table[32][2] = {
    {0x1p+0, 0.0},
    {0x1.059b0d3158574p+0, 0x1.d73e2a475b465p-55},
    {0x1.0b5586cf9890fp+0, 0x1.8a62e4adc610bp-54},
    {0x1.11301d0125b51p+0, -0x1.6c51039449b3ap-54},
    {0x1.172b83c7d517bp+0, -0x1.19041b9d78a76p-55},
    {0x1.1d4873168b9aap+0, 0x1.e016e00a2643cp-54},
    {0x1.2387a6e756238p+0, 0x1.9b07eb6c70573p-54},
    {0x1.29e9df51fdee1p+0, 0x1.612e8afad1255p-55},
    {0x1.306fe0a31b715p+0, 0x1.6f46ad23182e4p-55},
    {0x1.371a7373aa9cbp+0, -0x1.63aeabf42eae2p-54},
    {0x1.3dea64c123422p+0, 0x1.ada0911f09ebcp-55},
    {0x1.44e086061892dp+0, 0x1.89b7a04ef80dp-59},
    {0x1.4bfdad5362a27p+0, 0x1.d4397afec42e2p-56},
    {0x1.5342b569d4f82p+0, -0x1.07abe1db13cadp-55},
    {0x1.5ab07dd485429p+0, 0x1.6324c054647adp-54},
    {0x1.6247eb03a5585p+0, -0x1.383c17e40b497p-54},
    {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54},
    {0x1.71f75e8ec5f74p+0, -0x1.16e4786887a99p-55},
    {0x1.7a11473eb0187p+0, -0x1.41577ee04992fp-55},
    {0x1.82589994cce13p+0, -0x1.d4c1dd41532d8p-54},
    {0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54},
    {0x1.93737b0cdc5e5p+0, -0x1.75fc781b57ebcp-57},
    {0x1.9c49182a3f09p+0, 0x1.c7c46b071f2bep-56},
    {0x1.a5503b23e255dp+0, -0x1.d2f6edb8d41e1p-54},
    {0x1.ae89f995ad3adp+0, 0x1.7a1cd345dcc81p-54},
    {0x1.b7f76f2fb5e47p+0, -0x1.5584f7e54ac3bp-56},
    {0x1.c199bdd85529cp+0, 0x1.11065895048ddp-55},
    {0x1.cb720dcef9069p+0, 0x1.503cbd1e949dbp-56},
    {0x1.d5818dcfba487p+0, 0x1.2ed02d75b3707p-55},
    {0x1.dfc97337b9b5fp+0, -0x1.1a5cd4f184b5cp-54},
    {0x1.ea4afa2a490dap+0, -0x1.e9c23179c2893p-54},
    {0x1.f50765b6e454p+0, 0x1.9d3e12dd8a18bp-54},
};

static const double INV_STEP = 0x1.71547652b82fep+5; /* 32/ln2 to nearest */
/* ln2/32 = C1 + C2: C1 is the multiple of 2^-42 nearest to it (37 bits, so k * C1 is exact for the
 * 16 bits of k), C2 the rest to nearest. */
static const double STEP_C1 = 0x1.62e42fefap-6;
static const double STEP_C2 = 0x1.cf79abc9e3b3ap-45;

enum { OFFSET = 1088 }; /* in powers of two; exp(-746) > 2^-1077 */

attn_dd attn_exp_dd(double x, int *exponent) {
    /* Beside an offset that keeps it positive, truncation of k + 1/2 is rounding to nearest. */
    unsigned n = (unsigned)(x * INV_STEP + (32 * OFFSET + 0.5));
    int k = (int)n - 32 * OFFSET;
    unsigned j = n % 32;
    double r = (x - k * STEP_C1) - k * STEP_C2;
    double p = 1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r * (1.0 / 5040)));
    p = 1.0 / 2 + r * (1.0 / 6 + r * p);
    double q = r + r * r * p;
    double t = exp2_table[j][0];
    *exponent = (int)(n / 32) - OFFSET;
    return attn_fast_two_sum(t, t * q + exp2_table[j][1]);
}

float attn_expf(float x) {
    if (x != x)
        return x;
    if (x > 0x1.62e42ep+6f) /* the largest x whose exp rounds to a finite number */
        return INFINITY;
    if (x < -104.0f) /* exp(x) < 2^-150, half of the smallest subnormal */
        return 0.0f;
    int e;
    attn_dd y = attn_exp_dd(x, &e);
    return attn_dd_to_f32(y, attn_pow2(e));
}

/*
 * Rounds (hi + lo) * 2^e < 2^-1022 once to a multiple of 2^-1074: the last bit of a binary64
 * number in [grid, 2 grid) is worth 2^(-1074 - e), so the sum rounds where the result must.
 */
static double round_to_subnormal(attn_dd y, int e) {
    double grid = attn_pow2(-1022 - e);
    attn_dd s = attn_fast_two_sum(grid, y.hi);
    return ((s.hi + (s.lo + y.lo)) - grid) * attn_pow2(e + 1022) * 0x1p-1022;
}

double attn_exp(double x) {
    if (x != x)
        return x;
    if (x > 0x1.62e42fefa39efp+9) /* the largest x whose exp rounds to a finite number */
        return INFINITY;
    if (x < -746.0) /* exp(x) < 2^-1075, half of the smallest subnormal */
        return 0.0;
    int e;
    attn_dd y = attn_exp_dd(x, &e);
    if (e <= -1022 && y.hi < attn_pow2(-1022 - e))
        return round_to_subnormal(y, e);
    return y.hi * attn_pow2(e / 2) * attn_pow2(e - e / 2); /* 2^1024 is no binary64 number */
}
