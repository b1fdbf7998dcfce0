/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/oracle/wide.h"

#include "reference/arithmetic/elementary.h"

/* ln2 = first + second + third; the first has 41 bits, so its product with 11 bits is exact. */
static const double LN2_FIRST = 0x1.62e42fefa3p-1;
static const double LN2_SECOND = 0x1.3de6af278ece6p-42;
static const double LN2_THIRD = 0x1.f97b57a079a19p-103;

attn_wide attn_wide_divide(attn_wide a, attn_wide b) {
    double first = a.high / b.high;
    attn_wide rest = attn_wide_add(a, attn_wide_negate(attn_wide_scale(b, first)));
    double second = rest.high / b.high;
    rest = attn_wide_add(rest, attn_wide_negate(attn_wide_scale(b, second)));
    attn_wide sum = attn_quick_sum(first, second);
    return attn_wide_add(sum, attn_wide_of(rest.high / b.high));
}

/*
 * exp(r) - 1 for |r| <= 0.35: Taylor to the tenth term at r/256, where the next is below 2^-115,
 * then eight times 2y + y^2. Working on y instead of 1 + y makes a rounding count against y, which
 * doubles each time, so the eight contribute alike: about 8 * 2^-103 in all, relative to y.
 */
static attn_wide expm1_reduced(attn_wide r) {
    static const int terms = 10, halvings = 8;
    attn_wide z = {r.high * 0x1p-8, r.low * 0x1p-8};
    attn_wide sum = attn_wide_of(1);
    for (int n = terms; n >= 2; n--) { /* 1 + z/2 (1 + z/3 (1 + ...)) */
        attn_wide step = attn_wide_divide(attn_wide_multiply(z, sum), attn_wide_of(n));
        sum = attn_wide_add(attn_wide_of(1), step);
    }
    attn_wide y = attn_wide_multiply(z, sum);
    for (int n = 0; n < halvings; n++) {
        attn_wide twice = {2 * y.high, 2 * y.low};
        y = attn_wide_add(twice, attn_wide_multiply(y, y));
    }
    return y;
}

/* a = k ln2 + *r. */
static int reduce(attn_wide a, attn_wide *r) {
    double k = floor(a.high * 1.4426950408889634 + 0.5);
    attn_wide left = attn_two_sum(a.high - k * LN2_FIRST, a.low);
    left = attn_wide_add(left, attn_wide_negate(attn_two_product(k, LN2_SECOND)));
    *r = attn_wide_add(left, attn_wide_of(-k * LN2_THIRD));
    return (int)k;
}

attn_wide attn_wide_exp(attn_wide a) {
    if (a.high < -760) {
        return attn_wide_of(0);
    }
    attn_wide r;
    int k = reduce(a, &r);
    attn_wide e = attn_wide_add(attn_wide_of(1), expm1_reduced(r));
    return (attn_wide){ldexp(e.high, k), ldexp(e.low, k)};
}

/* exp(a) - 1 for a <= 0, relative error as exp: with k < 0 the result is below -0.29. */
static attn_wide expm1_negative(attn_wide a) {
    attn_wide r;
    if (a.high < -100) {
        return attn_wide_of(-1);
    }
    int k = reduce(a, &r);
    attn_wide y = expm1_reduced(r);
    if (k == 0) {
        return y;
    }
    attn_wide e = attn_wide_add(attn_wide_of(1), y);
    return attn_wide_add((attn_wide){ldexp(e.high, k), ldexp(e.low, k)}, attn_wide_of(-1));
}

/* tanh a = -E / (2 + E) with E = exp(-2a) - 1, for a >= 0. */
attn_wide attn_wide_tanh(attn_wide a) {
    int negative = a.high < 0;
    attn_wide x = negative ? attn_wide_negate(a) : a;
    attn_wide e = expm1_negative((attn_wide){-2 * x.high, -2 * x.low});
    attn_wide t = attn_wide_divide(e, attn_wide_add(attn_wide_of(2), e));
    return negative ? t : attn_wide_negate(t);
}

/* A Newton step from binary64: log a = y + t - t^2/2 + ..., t = a exp(-y) - 1, |t| < 2^-50. */
attn_wide attn_wide_log(attn_wide a) {
    double y = attn_log(a.high);
    attn_wide t = attn_wide_multiply(a, attn_wide_exp(attn_wide_of(-y)));
    t = attn_wide_add(t, attn_wide_of(-1));
    t = attn_wide_add(t, attn_wide_of(-0.5 * t.high * t.high));
    return attn_wide_add(attn_wide_of(y), t);
}
