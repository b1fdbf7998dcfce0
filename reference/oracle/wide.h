/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wide.h - double-double arithmetic of the oracle: a value is high + low with |low| at most half an
 * ulp of high. Each operation has a relative error of at most 8 * 2^-106 = 2^-103 and, where a low
 * part underflows, an absolute one of at most 2^-1072 (Joldes, Muller, Popescu 2017 give 3, 5 and
 * 9.8 times 2^-106 for sum, product and quotient).
 */
#ifndef ATTN_WIDE_H
#define ATTN_WIDE_H

#include <math.h>

#define ATTN_WIDE_U 0x1p-102 /* covers the quotient too */
#define ATTN_WIDE_ETA 0x1p-1072

typedef struct attn_wide {
    double high, low;
} attn_wide;

static inline attn_wide attn_wide_of(double x) { return (attn_wide){x, 0}; }

static inline attn_wide attn_two_sum(double a, double b) {
    double s = a + b, t = s - a;
    return (attn_wide){s, (a - (s - t)) + (b - t)};
}

/* Needs |a| >= |b| or a == 0. */
static inline attn_wide attn_quick_sum(double a, double b) {
    double s = a + b;
    return (attn_wide){s, b - (s - a)};
}

static inline attn_wide attn_two_product(double a, double b) {
    double p = a * b;
    return (attn_wide){p, fma(a, b, -p)};
}

static inline attn_wide attn_wide_add(attn_wide a, attn_wide b) {
    attn_wide s = attn_two_sum(a.high, b.high), t = attn_two_sum(a.low, b.low);
    s = attn_quick_sum(s.high, s.low + t.high);
    return attn_quick_sum(s.high, s.low + t.low);
}

static inline attn_wide attn_wide_negate(attn_wide a) { return (attn_wide){-a.high, -a.low}; }

static inline attn_wide attn_wide_multiply(attn_wide a, attn_wide b) {
    attn_wide p = attn_two_product(a.high, b.high);
    return attn_quick_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static inline attn_wide attn_wide_scale(attn_wide a, double b) {
    attn_wide p = attn_two_product(a.high, b);
    return attn_quick_sum(p.high, p.low + a.low * b);
}

attn_wide attn_wide_divide(attn_wide a, attn_wide b);

/* Relative error at most 2^-97, absolute 2^-1072; for a.high <= 700. */
#define ATTN_WIDE_FUNCTION_ULPS 16.0 /* of ATTN_WIDE_U: 2 * 16 * 2^-102 = 2^-97 */
attn_wide attn_wide_exp(attn_wide a);
attn_wide attn_wide_tanh(attn_wide a);

/* Absolute error at most 2^-97 (1 + |log a|), for normal a > 0. */
attn_wide attn_wide_log(attn_wide a);

#endif
