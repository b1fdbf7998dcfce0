/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tanh, for a = |x| with the sign put back, so that it is odd to the bit.
 *
 *   a < 17/128:   a - a^3/3 + ..., the Taylor series up to a^17 (next term below 2^-64 relative)
 *   a >= 17/128:  1 - 2 / (exp(2a) + 1) in double-double, from attn_exp_dd
 *
 * Error: in the first case the sum after a is at most a^2/3 of a, so its roundings are below
 * 2^-59 relative; in the second the relative error 2^-58 of E = exp(2a) becomes at most
 * 2^-58 * 2E/(E+1)^2 < 2^-59 absolute, where tanh(a) > 1/8. The bound on a is chosen past
 * tanh(a) = 1/8, below which an ulp of the result is half as large.
 */
#include "reference/arithmetic/elementary.h"
#include "reference/arithmetic/elementary_dd.h"

/* a * b without error (Dekker's product on Veltkamp's halves of 26 bits). */
static attn_dd two_prod(double a, double b) {
    double ca = a * 134217729.0, cb = b * 134217729.0; /* 2^27 + 1 */
    double ah = ca - (ca - a), al = a - ah;
    double bh = cb - (cb - b), bl = b - bh;
    double p = a * b;
    attn_dd r = {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
    return r;
}

static attn_dd tanh_series(double a) {
    /* Coefficients 2^2n (2^2n - 1) B_2n / (2n)! of a^(2n-1), as exact fractions. */
    double z = a * a;
    double p = -929569.0 / 638512875 + z * (6404582.0 / 10854718875);
    p = -1382.0 / 155925 + z * (21844.0 / 6081075 + z * p);
    p = -1.0 / 3 + z * (2.0 / 15 + z * (-17.0 / 315 + z * (62.0 / 2835 + z * p)));
    return attn_fast_two_sum(a, a * z * p);
}

static attn_dd tanh_by_exp(double a) {
    int e;
    attn_dd y = attn_exp_dd(2 * a, &e);
    double scale = attn_pow2(e);
    attn_dd d = attn_fast_two_sum(y.hi * scale, 1.0);
    d.lo += y.lo * scale;
    /* 2/d = q + q_lo by one Newton correction */
    double q = 2.0 / d.hi;
    attn_dd back = two_prod(q, d.hi);
    double q_lo = (((2.0 - back.hi) - back.lo) - q * d.lo) / d.hi;
    attn_dd t = attn_fast_two_sum(1.0, -q);
    return attn_fast_two_sum(t.hi, t.lo - q_lo);
}

/* tanh(a) = hi + lo for a > 0. */
static attn_dd tanh_dd(double a) {
    if (a < 0x1.1p-3)
        return tanh_series(a);
    if (a > 22.0) { /* 1 - tanh(a) < 2^-62: the last binary64 number before 1 is 2^-53 away */
        attn_dd one = {1.0, 0.0};
        return one;
    }
    return tanh_by_exp(a);
}

float attn_tanhf(float x) {
    if (x != x || x == 0)
        return x;
    float y = attn_dd_to_f32(tanh_dd(x < 0 ? -x : x), 1.0);
    return x < 0 ? -y : y;
}

double attn_tanh(double x) {
    if (x != x || x == 0)
        return x;
    double y = tanh_dd(x < 0 ? -x : x).hi;
    return x < 0 ? -y : y;
}
