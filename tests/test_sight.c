/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a radius can see: how far one lost key moves the output, in parts of the radius, by the
 * number of keys. On flat data the effect falls like 1/n while the radius grows like n, so it drops
 * out of sight; with one-hot values both are proportional to the weight, and it stays.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "reference/oracle/oracle.h"

typedef struct data {
    float q[1], *k, *v, o[1];
    attest_problem problem;
} data;

static attest_tensor f32(float *values, int64_t rows) {
    return (attest_tensor){.data = values,
                           .shape = {1, 1, rows, 1},
                           .stride = {rows, rows, 1, 1},
                           .dtype = ATTEST_F32,
                           .rank = 4};
}

/* n keys of equal score; values 1 and -1 in turn, or 1 at key 0 alone. */
static attn_enclosure exact(int64_t n, int one_hot, const attn_model *model) {
    char message[ATTEST_MESSAGE_BYTES];
    attn_normal normal;
    attn_enclosure result;
    data d = {.k = calloc((size_t)n, sizeof(float)), .v = calloc((size_t)n, sizeof(float))};
    assert_true(d.k && d.v);
    for (int64_t j = 0; j < n; j++) {
        d.v[j] = one_hot ? (j == 0 ? 1.0f : 0.0f) : (j % 2 ? -1.0f : 1.0f);
    }
    d.problem = (attest_problem){.struct_bytes = sizeof d.problem, .threads = 1};
    d.problem.q = f32(d.q, 1);
    d.problem.k = f32(d.k, n);
    d.problem.v = f32(d.v, n);
    d.problem.o = f32(d.o, 1);
    assert_int_equal(attn_normalise(&normal, &d.problem, &attn_profile_attest, 0, message),
                     ATTEST_OK);
    assert_int_equal(attn_oracle(&normal, model, 1, &result, NULL, message), ATTEST_OK);
    free(d.k);
    free(d.v);
    return result;
}

/* The output without key 0, judged against the enclosure with it. */
static double lost_key(int64_t n, int one_hot, const attn_model *model) {
    attn_enclosure e = exact(n, one_hot, model);
    double ratio = 0, without = one_hot ? 0 : -1 / (double)(n - 1);
    attn_judge(&e, without, &ratio);
    return ratio;
}

static void a_lost_key(void **state) {
    static const int64_t keys[] = {16, 256, 1024, 3000, 8192, 16384};
    attn_model two_passes = *attn_model_find("f32-strict");
    const attn_model *online = attn_model_find("f32-strict");
    two_passes.rescale_tile = 0;
    (void)state;
    print_message("effect of one lost key, in radii (f32-strict):\n"
                  "  keys   flat, online   flat, two passes   one-hot\n");
    for (size_t n = 0; n < sizeof keys / sizeof keys[0]; n++) {
        double flat = lost_key(keys[n], 0, online), flat_2 = lost_key(keys[n], 0, &two_passes);
        double one_hot = lost_key(keys[n], 1, online);
        print_message("%6lld   %12.3f   %16.3f   %7.1f\n", (long long)keys[n], flat, flat_2,
                      one_hot);
        assert_true((flat > 1) == (keys[n] <= 1024));
        assert_true((flat_2 > 1) == (keys[n] <= 3000));
        assert_true(one_hot > 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_lost_key)};
    return cmocka_run_group_tests_name("sight", tests, NULL, NULL);
}
