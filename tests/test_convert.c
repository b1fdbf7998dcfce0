/* SPDX-License-Identifier: Apache-2.0 */
/* Storage types (SEM-02): widening is exact and narrowing rounds to nearest even, for all values */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include <mpfr.h>

#include "reference/problem/convert.h"

typedef struct format {
    attest_dtype dtype;
    int precision, lowest, highest; /* in MPFR's terms: 0.5 <= m < 1, value m * 2^e */
} format;

static const format formats[] = {{ATTEST_F16, 11, -23, 16}, {ATTEST_BF16, 8, -132, 128}};

/* Every 16-bit word goes to a double and back to itself; a NaN to a NaN. */
static void test_words_survive(void **state) {
    (void)state;
    for (size_t which = 0; which < 2; which++) {
        for (uint32_t word = 0; word < 65536; word++) {
            uint16_t before = (uint16_t)word, after;
            double value = attn_load(formats[which].dtype, &before);
            attn_store(formats[which].dtype, &after, value);
            if (isnan(value)) {
                assert_true(isnan(attn_load(formats[which].dtype, &after)));
            } else {
                assert_int_equal(after, before);
            }
        }
    }
}

static double by_mpfr(double value, const format *f) {
    mpfr_t narrow;
    mpfr_init2(narrow, f->precision);
    mpfr_set_emin(f->lowest);
    mpfr_set_emax(f->highest);
    int inexact = mpfr_set_d(narrow, value, MPFR_RNDN);
    inexact = mpfr_check_range(narrow, inexact, MPFR_RNDN);
    mpfr_subnormalize(narrow, inexact, MPFR_RNDN);
    double result = mpfr_get_d(narrow, MPFR_RNDN);
    mpfr_clear(narrow);
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    return result;
}

/* Each word's neighbourhood: the word, the tie above it, and a hair on either side of the tie. */
static void test_rounding_agrees_with_mpfr(void **state) {
    (void)state;
    for (size_t which = 0; which < 2; which++) {
        const format *f = &formats[which];
        for (uint32_t word = 0; word < 65535; word++) {
            uint16_t low = (uint16_t)word, high = (uint16_t)(word + 1);
            double below = attn_load(f->dtype, &low), above = attn_load(f->dtype, &high);
            if (!isfinite(below) || !isfinite(above) || signbit(below) != signbit(above)) {
                continue;
            }
            double tie = below + (above - below) / 2;
            const double probes[] = {tie, nextafter(tie, below), nextafter(tie, above)};
            for (size_t probe = 0; probe < 3; probe++) {
                double got = attn_round_to(f->dtype, probes[probe]);
                if (got != by_mpfr(probes[probe], f)) {
                    fail_msg("type %u: %a rounds to %a", f->dtype, probes[probe], got);
                }
            }
        }
    }
}

static void test_edges(void **state) {
    (void)state;
    assert_true(attn_round_to(ATTEST_F16, 65519.99) == 65504.0);
    assert_true(isinf(attn_round_to(ATTEST_F16, 65520.0)));
    assert_true(attn_round_to(ATTEST_F16, 0x1p-25) == 0.0); /* a tie with zero, which is even */
    assert_true(attn_round_to(ATTEST_F16, 0x1.8p-25) == 0x1p-24);
    assert_true(attn_round_to(ATTEST_F16, 0x1p-1074) == 0.0);
    assert_true(signbit(attn_round_to(ATTEST_BF16, -0.0)));
    assert_true(attn_round_to(ATTEST_BF16, -HUGE_VAL) == -HUGE_VAL);
    assert_true(attn_round_to(ATTEST_F32, 1.0 + 0x1p-24) == 1.0);
    assert_true(attn_round_to(ATTEST_F64, 0.1) == 0.1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_survive),
        cmocka_unit_test(test_rounding_agrees_with_mpfr),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
