/* SPDX-License-Identifier: Apache-2.0 */
/* impl/micro/fastexp.h on every binary32 from -104 to -2^-26; closer to 0 every 4096th. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "impl/micro/fastexp.h"

static float from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t to_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Spacing of binary32 just below 2^e for results in [2^(e-1), 2^e): the smaller one counts. */
static double ulp_of(double y) {
    int e;
    frexp(y, &e);
    return ldexp(1.0, e - 24 < -149 ? -149 : e - 24);
}

static double worst_error(uint32_t first, uint32_t last, uint32_t step) {
    double worst = 0;
    for (uint64_t bits = first; bits <= last; bits += step) {
        float x = from_bits((uint32_t)bits), got = attn_fast_expf(x);
        double exact = exp((double)x), error = fabs((double)got - exact) / ulp_of(exact);
        worst = error > worst ? error : worst;
        if (!(got >= 0 && got <= 1) || signbit(got)) {
            fail_msg("exp(%a) is %a", (double)x, (double)got);
        }
    }
    return worst;
}

/* Every input is looked at; binary64 exp of the C library is good to far less than 0.001 ulp
 * here. */
static void test_error(void **state) {
    (void)state;
    double worst = worst_error(to_bits(-0x1p-26f), to_bits(-104.0f), 1);
    double small = worst_error(to_bits(-0.0f), to_bits(-0x1p-26f), 4096);
    print_message("# largest error %.4f ulp, %.4f near 0\n", worst, small);
    assert_true(worst + 0.001 < ATTN_FAST_EXP_ULPS);
    assert_true(small + 0.001 < ATTN_FAST_EXP_ULPS);
}

static void test_special(void **state) {
    (void)state;
    assert_int_equal(to_bits(attn_fast_expf(0.0f)), to_bits(1.0f));
    assert_int_equal(to_bits(attn_fast_expf(-0.0f)), to_bits(1.0f));
    assert_int_equal(to_bits(attn_fast_expf(-INFINITY)), 0);
    assert_int_equal(to_bits(attn_fast_expf(-1e30f)), 0);
    assert_int_equal(to_bits(attn_fast_expf(-104.5f)), 0);
    assert_true(isnan(attn_fast_expf(NAN)));
    for (uint64_t bits = to_bits(-104.0f); bits <= to_bits(-INFINITY); bits += 1021) {
        assert_int_equal(to_bits(attn_fast_expf(from_bits((uint32_t)bits))), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_error),
                                       cmocka_unit_test(test_special)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
