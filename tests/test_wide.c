/* SPDX-License-Identifier: Apache-2.0 */
/* The double-double functions of the oracle against MPFR. */
#include <math.h>
#include <mpfr.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "reference/oracle/wide.h"
#include "tests/support/random_problem.h"

typedef int mpfr_function(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

/* wide.h claims 2^-97 for its functions. */
static double wide_error(attn_wide a, attn_wide got, mpfr_function *exact, double floor) {
    mpfr_t x, y, z;
    mpfr_inits2(300, x, y, z, (mpfr_ptr)NULL);
    mpfr_set_d(x, a.high, MPFR_RNDN);
    mpfr_add_d(x, x, a.low, MPFR_RNDN);
    exact(y, x, MPFR_RNDN);
    mpfr_set_d(z, got.high, MPFR_RNDN);
    mpfr_add_d(z, z, got.low, MPFR_RNDN);
    mpfr_sub(z, z, y, MPFR_RNDN);
    double size = fabs(mpfr_get_d(y, MPFR_RNDN)) + floor, error = fabs(mpfr_get_d(z, MPFR_RNDA));
    mpfr_clears(x, y, z, (mpfr_ptr)NULL);
    return error / size;
}

static void wide_functions(void **state) {
    random_source source = {17};
    double worst = 0;
    (void)state;
    for (int n = 0; n < 60000; n++) {
        double size = ldexp(random_unit(&source), (int)random_between(&source, -40, 9));
        attn_wide a = attn_two_sum(size, size * 0x1p-53 * random_unit(&source));
        attn_wide b = {fabs(a.high), a.high < 0 ? -a.low : a.low};
        double error[3] = {wide_error(a, attn_wide_exp(a), mpfr_exp, 0),
                           wide_error(a, attn_wide_tanh(a), mpfr_tanh, 0),
                           b.high > 0 ? wide_error(b, attn_wide_log(b), mpfr_log, 1) : 0};
        for (int f = 0; f < 3; f++) {
            worst = error[f] > worst ? error[f] : worst;
        }
    }
    print_message("largest error 2^%.1f\n", log2(worst));
    assert_true(worst > 0 && worst <= 0x1p-97);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_functions),
    };
    return cmocka_run_group_tests_name("wide", tests, NULL, NULL);
}
