/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The oracle against the second one and against the exact evaluator, each written apart: on every
 * path the centre is within its own error of the exact value, special kinds agree, and the
 * intervals of the two oracles meet.
 */
#include <math.h>
#include <stdlib.h>

#include "fuzz/core/fuzz_target.h"
#include "fuzz/core/reference_as_kernel.h"
#include "reference/oracle/oracle.h"
#include "reference/oracle/oracle_gsl.h"
#include "vectors/write/exact.h"

static int kinds_agree(const attn_enclosure *e, const attest_expected *x) {
    switch ((attn_kind)e->kind) {
    case ATTN_FINITE:
        return x->kind == ATTEST_EXPECT_NUMBER;
    case ATTN_NAN:
        return x->kind == ATTEST_EXPECT_NAN || x->kind == ATTEST_EXPECT_NONFINITE;
    case ATTN_POS_INF:
    case ATTN_NEG_INF:
        return x->kind == ATTEST_EXPECT_NONFINITE ||
               (x->kind == ATTEST_EXPECT_INFINITY && (x->high > 0) == (e->kind == ATTN_POS_INF));
    case ATTN_NONFINITE:
        return x->kind == ATTEST_EXPECT_NONFINITE || x->kind == ATTEST_EXPECT_NAN ||
               x->kind == ATTEST_EXPECT_INFINITY;
    case ATTN_NAN_OR_POS_INF:
    case ATTN_NAN_OR_NEG_INF:
        return x->kind == ATTEST_EXPECT_NONFINITE;
    case ATTN_ANY:
        return x->kind == ATTEST_EXPECT_ANYTHING;
    case ATTN_NO_RADIUS:
    case ATTN_OUT_OF_DOMAIN:
        break;
    }
    return 1;
}

/* The difference of two sums of two doubles each, rounded a few times: hence the last term. */
static int centre_is_right(const attn_enclosure *e, const attest_expected *x) {
    double difference = (e->high - x->high) + (e->low - x->low);
    double rounding = 0x1p-100 * fabs(e->high) + 0x1p-1073;
    return fabs(difference) <= e->own_error + rounding;
}

static void compare(const attn_enclosure *e, const attest_expected *x, int64_t count,
                    const char *what, attn_path path) {
    for (int64_t n = 0; n < count; n++) {
        if (!kinds_agree(&e[n], &x[n]) ||
            (e[n].kind == ATTN_FINITE && !centre_is_right(&e[n], &x[n]))) {
            attest_fuzz_stop("%s, element %lld, least path %d (took %d): oracle kind %d, %a + %a, "
                             "own error %a; exact kind %d, %a + %a",
                             what, (long long)n, (int)path, (int)e[n].path, (int)e[n].kind,
                             e[n].high, e[n].low, e[n].own_error, (int)x[n].kind, x[n].high,
                             x[n].low);
        }
    }
}

/* The second oracle gives one value an element; what is not finite there must be due here. */
static void meet(const attn_enclosure *e, const attn_gsl_value *g, int64_t count,
                 const char *what) {
    for (int64_t n = 0; n < count; n++) {
        int fine = 1;
        if (e[n].kind == ATTN_FINITE && !g[n].open && isfinite(g[n].own_error)) {
            double distance = fabs((g[n].value - e[n].high) - e[n].low);
            fine = distance <= (g[n].own_error + e[n].own_error) * (1 + 0x1p-50) + 0x1p-1073;
        } else if (e[n].kind == ATTN_NAN || e[n].kind == ATTN_NAN_OR_POS_INF ||
                   e[n].kind == ATTN_NAN_OR_NEG_INF) {
            fine = g[n].open || isnan(g[n].value);
        } else if (e[n].kind == ATTN_POS_INF || e[n].kind == ATTN_NEG_INF) {
            int above = e[n].kind == ATTN_POS_INF;
            fine = g[n].open || (isinf(g[n].value) && (g[n].value > 0) == above);
        } else if (e[n].kind == ATTN_ANY) {
            fine = g[n].open || !isfinite(g[n].value);
        }
        if (!fine) {
            attest_fuzz_stop("%s, element %lld: oracle kind %d, %a + %a, own error %a; second "
                             "oracle %a, own error %a, open %d",
                             what, (long long)n, (int)e[n].kind, e[n].high, e[n].low,
                             e[n].own_error, g[n].value, g[n].own_error, g[n].open);
        }
    }
}

static void compare_oracles(const attn_normal *normal, const attn_enclosure *o,
                            const attn_enclosure *lse, int64_t count, int64_t rows) {
    attn_gsl_value *second_o = calloc((size_t)count + 1, sizeof *second_o);
    attn_gsl_value *second_lse = calloc((size_t)rows + 1, sizeof *second_lse);
    if (second_o && second_lse &&
        attn_oracle_gsl(normal->problem, &normal->profile, second_o, second_lse) == ATTEST_OK) {
        meet(o, second_o, count, "o");
        meet(lse, second_lse, rows, "lse");
    }
    free(second_o);
    free(second_lse);
}

static void compare_paths(const attn_normal *normal, const attn_model *model) {
    int64_t rows = normal->batch * normal->q_heads * normal->queries;
    int64_t count = rows * normal->value_size;
    attn_enclosure *o = calloc((size_t)count + 1, sizeof *o);
    attn_enclosure *lse = calloc((size_t)rows + 1, sizeof *lse);
    attest_expected *exact_o = calloc((size_t)count + 1, sizeof *exact_o);
    attest_expected *exact_lse = calloc((size_t)rows + 1, sizeof *exact_lse);
    char message[ATTEST_MESSAGE_BYTES];
    if (o && lse && exact_o && exact_lse && attest_exact(normal, exact_o, exact_lse) == ATTEST_OK) {
        for (attn_path path = ATTN_PATH_DOUBLE; path <= ATTN_PATH_MPFR; path++) {
            const attn_oracle_options options = {1, path};
            if (attn_oracle_with(normal, model, &options, o, lse, message) == ATTEST_OK) {
                compare(o, exact_o, count, "o", path);
                compare(lse, exact_lse, rows, "lse", path);
            }
        }
        compare_oracles(normal, o, lse, count, rows);
    }
    free(o);
    free(lse);
    free(exact_o);
    free(exact_lse);
}

void attest_fuzz_input(const uint8_t *data, size_t size) {
    const attest_fuzz_scope scope = {
        .kernel = &attest_fuzz_reference, .any_profile = 1, .most_work = 400, .most_keys = 100};
    attest_fuzz_problem made;
    attn_normal normal;
    char message[ATTEST_MESSAGE_BYTES];
    int decoded = attest_fuzz_decode(&made, &scope, data, size);
    /* A default of 1/sqrt(D) is a real number here and a rounded one there: the scale is given. */
    made.problem.features |= ATTEST_SCALE;
    if (decoded && attn_normalise(&normal, &made.problem, &made.profile, 0, message) == ATTEST_OK) {
        attest_fuzz_observe_problem(&made);
        compare_paths(&normal, attn_model_find(attn_model_name(made.field[FUZZ_EXTRA] % 8)));
    }
    attest_fuzz_release(&made);
}
