/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attn_exp, attn_log and attn_tanh against MPFR: at special values, around every boundary of a
 * range reduction, at the edges of overflow, underflow and of the subnormals, and at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reference/arithmetic/elementary.h"

#include <float.h>
#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { RANDOM_POINTS = 200000, NEIGHBOURS = 2 };

typedef struct {
    const char *name;
    double (*function)(double);
    int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    double stated_ulp;
    double worst_ulp, worst_x;
    uint64_t random_state;
} subject;

static double of_bits(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static uint64_t random_bits(subject *s) {
    uint64_t z = s->random_state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double random_between(subject *s, double low, double high) {
    return low + (high - low) * ((double)(random_bits(s) >> 11) * 0x1p-53);
}

static bool same(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* |y - f(x)| in ulps of f(x), the ulp never below 2^-1074; 0 where y is the right non-number. */
static double error_in_ulp(const subject *s, double x, double y) {
    mpfr_t v;
    mpfr_init2(v, 200);
    mpfr_set_d(v, x, MPFR_RNDN);
    s->exact(v, v, MPFR_RNDN);
    double nearest = mpfr_get_d(v, MPFR_RNDN), ulps = 0;
    if (isfinite(nearest) && isfinite(y) && !mpfr_zero_p(v)) {
        mpfr_exp_t e = mpfr_get_exp(v) < -1021 ? -1021 : mpfr_get_exp(v);
        mpfr_sub_d(v, v, y, MPFR_RNDN);
        mpfr_mul_2si(v, v, 53 - e, MPFR_RNDN);
        ulps = fabs(mpfr_get_d(v, MPFR_RNDN));
    } else if (!same(nearest, y)) {
        ulps = INFINITY;
    }
    mpfr_clear(v);
    return ulps;
}

static void check(subject *s, double x) {
    double y = s->function(x), ulps = error_in_ulp(s, x, y);
    if (!(ulps <= s->stated_ulp))
        fail_msg("%s(%a) = %a is %g ulp off, %g stated", s->name, x, y, ulps, s->stated_ulp);
    if (ulps > s->worst_ulp) {
        s->worst_ulp = ulps;
        s->worst_x = x;
    }
}

/* x, the numbers next to it on both sides, and the same for -x. */
static void check_around(subject *s, double x) {
    double up = x, down = x;
    check(s, x);
    check(s, -x);
    for (int i = 0; i < NEIGHBOURS; i++) {
        up = nextafter(up, INFINITY);
        down = nextafter(down, -INFINITY);
        check(s, up);
        check(s, -up);
        check(s, down);
        check(s, -down);
    }
}

static void check_common(subject *s) {
    static const double points[] = {0.0,     0.125,   0.5,      1.0, 2.0,      22.0,
                                    DBL_MAX, DBL_MIN, INFINITY, NAN, 0x1p-1074};
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        check_around(s, points[i]);
    for (int e = -1074; e <= 1023; e++)
        check_around(s, ldexp(1.0, e));
    for (int i = 0; i < RANDOM_POINTS; i++)
        check(s, of_bits(random_bits(s)));
}

static void print_worst(const subject *s) {
    printf("# attn_%s: worst %.4f ulp at %a, %.2f stated\n", s->name, s->worst_ulp, s->worst_x,
           s->stated_ulp);
}

static void exp_is_within_its_stated_error(void **state) {
    (void)state;
    subject s = {.name = "exp", .function = attn_exp, .exact = mpfr_exp, .stated_ulp = 0.54};
    double ln2 = 0x1.62e42fefa39efp-1;
    check_common(&s);
    for (int half_steps = -2200 * 32; half_steps <= 2100 * 32; half_steps++)
        check_around(&s, half_steps * ln2 / 64);
    check_around(&s, 0x1.62e42fefa39efp+9);  /* last finite result */
    check_around(&s, -0x1.74910d52d3051p+9); /* last nonzero result */
    check_around(&s, -1022 * ln2);           /* last normal result */
    for (int i = 0; i < RANDOM_POINTS; i++) {
        check(&s, random_between(&s, -746, -708)); /* subnormal results */
        check(&s, random_between(&s, -709, 710));
        check(&s, random_between(&s, -1, 1));
    }
    print_worst(&s);
}

static void exp_keeps_its_contract(void **state) {
    (void)state;
    subject s = {.name = "exp"};
    assert_true(same(attn_exp(0.0), 1.0));
    assert_true(same(attn_exp(-0.0), 1.0));
    assert_true(same(attn_exp(-INFINITY), 0.0));
    assert_true(same(attn_exp(-DBL_MAX), 0.0));
    assert_true(same(attn_exp(INFINITY), INFINITY));
    assert_true(isnan(attn_exp(NAN)));
    assert_true(isfinite(attn_exp(709.0)));
    for (int i = 0; i < RANDOM_POINTS; i++) {
        double x = i % 2 ? random_between(&s, 0, 746) : fabs(of_bits(random_bits(&s)));
        if (isnan(x))
            continue;
        double y = attn_exp(-x);
        if (!(y >= 0 && y <= 1) || signbit(y) || !(attn_exp(x) >= 1))
            fail_msg("range broken at %a", x);
    }
}

static void log_is_within_its_stated_error(void **state) {
    (void)state;
    subject s = {.name = "log", .function = attn_log, .exact = mpfr_log, .stated_ulp = 0.54};
    check_common(&s);
    for (int e = -1074; e <= 1023; e += e < -8 || e > 8 ? 33 : 1)
        for (int i = 89; i <= 183; i += 2) /* 64 m half way between two integers */
            check_around(&s, ldexp(i / 128.0, e));
    check_around(&s, 0x1.6a09e667f3bcdp+0);
    check_around(&s, 0x1.6a09e667f3bcdp-1);
    for (int e = -52; e < 0; e++) {
        check_around(&s, 1 + ldexp(1.0, e));
        check_around(&s, 1 - ldexp(1.0, e));
    }
    for (int i = 0; i < RANDOM_POINTS; i++) {
        check(&s, random_between(&s, 0.98, 1.02));
        check(&s, random_between(&s, 0.5, 2));
        check(&s, of_bits(random_bits(&s) >> 12)); /* subnormals */
        check(&s, of_bits(random_bits(&s) >> 1));  /* positive numbers and NaN */
    }
    print_worst(&s);
}

static void log_keeps_its_contract(void **state) {
    (void)state;
    subject s = {.name = "log"};
    assert_true(same(attn_log(1.0), 0.0));
    assert_true(same(attn_log(0.0), -INFINITY));
    assert_true(same(attn_log(-0.0), -INFINITY));
    assert_true(same(attn_log(INFINITY), INFINITY));
    assert_true(isnan(attn_log(-INFINITY)));
    assert_true(isnan(attn_log(-0x1p-1074)));
    assert_true(isnan(attn_log(NAN)));
    for (int i = 0; i < RANDOM_POINTS; i++) {
        double x = 1 + fabs(of_bits(random_bits(&s)));
        if (!isnan(x) && (!(attn_log(x) >= 0) || !(attn_log(1 / x) <= 0)))
            fail_msg("sign broken at %a", x);
    }
}

static void tanh_is_within_its_stated_error(void **state) {
    (void)state;
    subject s = {.name = "tanh", .function = attn_tanh, .exact = mpfr_tanh, .stated_ulp = 0.57};
    double ln2 = 0x1.62e42fefa39efp-1;
    check_common(&s);
    check_around(&s, 0x1.1p-3);
    for (int half_steps = 0; half_steps <= 64 * 64; half_steps++)
        check_around(&s, half_steps * ln2 / 128);
    for (int i = 0; i < RANDOM_POINTS; i++) {
        check(&s, random_between(&s, -0.14, 0.14));
        check(&s, random_between(&s, 0.125, 0.3));
        check(&s, random_between(&s, -23, 23));
        check(&s, ldexp(random_between(&s, 1, 2), -(int)(random_bits(&s) % 40)));
    }
    print_worst(&s);
}

static void tanh_keeps_its_contract(void **state) {
    (void)state;
    subject s = {.name = "tanh"};
    assert_true(same(attn_tanh(INFINITY), 1.0));
    assert_true(same(attn_tanh(-INFINITY), -1.0));
    assert_true(same(attn_tanh(0.0), 0.0));
    assert_true(same(attn_tanh(-0.0), -0.0));
    assert_true(isnan(attn_tanh(NAN)));
    for (int i = 0; i < RANDOM_POINTS; i++) {
        double x = i % 2 ? random_between(&s, 0, 25) : fabs(of_bits(random_bits(&s)));
        if (isnan(x))
            continue;
        double y = attn_tanh(x);
        if (!(y >= 0 && y <= 1 && y <= x) || !same(attn_tanh(-x), -y))
            fail_msg("range or oddness broken at %a", x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_is_within_its_stated_error),
        cmocka_unit_test(exp_keeps_its_contract),
        cmocka_unit_test(log_is_within_its_stated_error),
        cmocka_unit_test(log_keeps_its_contract),
        cmocka_unit_test(tanh_is_within_its_stated_error),
        cmocka_unit_test(tanh_keeps_its_contract),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
