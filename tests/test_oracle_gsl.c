/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two oracles, written apart, on 10,000 random problems over every option, type, stride and
 * profile: their own-error intervals meet, each is narrower than a quarter of the radius, and they
 * predict the same NaN and infinities. Binary64 problems go against MPFR: GSL has no more digits.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "reference/oracle/oracle.h"
#include "reference/oracle/oracle_gsl.h"
#include "tests/support/random_problem.h"

#define PROBLEMS 10000

typedef struct comparison {
    random_problem problem;
    attn_normal normal;
    const attn_model *model;
    int64_t outputs, rows;
    attn_enclosure *o, *lse;
    attn_gsl_value *o_gsl, *lse_gsl;
    attn_enclosure *o_mpfr, *lse_mpfr;
} comparison;

typedef struct tally {
    long finite, special, open, no_verdict, wide;
    double closest; /* largest distance in parts of the two own errors */
} tally;

static void *zeroed(int64_t count, size_t bytes) {
    void *memory = calloc((size_t)count + 1, bytes);
    assert_non_null(memory);
    return memory;
}

static void prepare(comparison *c, random_source *source, const random_limits *limits,
                    const attn_model *model) {
    char message[ATTEST_MESSAGE_BYTES];
    random_problem_make(&c->problem, source, limits);
    attest_status status =
        attn_normalise(&c->normal, &c->problem.problem, &c->problem.profile, 0, message);
    assert_int_equal(status, ATTEST_OK);
    c->model = model;
    c->rows = c->normal.batch * c->normal.q_heads * c->normal.queries;
    c->outputs = c->rows * c->normal.value_size;
    c->o = zeroed(c->outputs, sizeof *c->o);
    c->lse = zeroed(c->rows, sizeof *c->lse);
    c->o_gsl = zeroed(c->outputs, sizeof *c->o_gsl);
    c->lse_gsl = zeroed(c->rows, sizeof *c->lse_gsl);
    c->o_mpfr = zeroed(c->outputs, sizeof *c->o_mpfr);
    c->lse_mpfr = zeroed(c->rows, sizeof *c->lse_mpfr);
    assert_int_equal(attn_oracle(&c->normal, model, 1, c->o, c->lse, message), ATTEST_OK);
}

static void discard(comparison *c) {
    free(c->o);
    free(c->lse);
    free(c->o_gsl);
    free(c->lse_gsl);
    free(c->o_mpfr);
    free(c->lse_mpfr);
    random_problem_free(&c->problem);
}

static int is_number(const attn_gsl_value *value) { return !value->open && isfinite(value->value); }

/* 1 if the two can both be right. */
static int agree(const attn_enclosure *e, const attn_gsl_value *g, tally *count) {
    switch ((attn_kind)e->kind) {
    case ATTN_FINITE: {
        double distance = fabs((g->value - e->high) - e->low);
        double together = g->own_error + e->own_error;
        count->finite++;
        count->wide += !(g->own_error <= e->radius / 4) || !(e->own_error <= e->radius / 4);
        double part = distance == 0 ? 0 : distance / together;
        count->closest = part > count->closest ? part : count->closest;
        return is_number(g) && part <= 1;
    }
    case ATTN_NAN:
    case ATTN_NAN_OR_POS_INF: /* the second oracle follows the formula */
    case ATTN_NAN_OR_NEG_INF:
        count->special++;
        return !g->open && isnan(g->value);
    case ATTN_POS_INF:
        count->special++;
        return !g->open && g->value == (double)INFINITY;
    case ATTN_NEG_INF:
        count->special++;
        return !g->open && g->value == (double)-INFINITY;
    case ATTN_NONFINITE: /* which one depends on a kernel's rounding; the exact value is one */
        count->special++;
        return g->open || !isfinite(g->value);
    case ATTN_ANY:
        count->open++;
        return g->open;
    default:
        count->no_verdict++;
        return 1;
    }
}

static void compare_gsl(const comparison *c, int round, tally *count) {
    const random_problem *p = &c->problem;
    assert_int_equal(attn_oracle_gsl(&p->problem, &p->profile, c->o_gsl, c->lse_gsl), ATTEST_OK);
    for (int64_t at = 0; at < c->outputs + c->rows; at++) {
        int is_lse = at >= c->outputs;
        int64_t index = is_lse ? at - c->outputs : at;
        const attn_enclosure *e = is_lse ? &c->lse[index] : &c->o[index];
        const attn_gsl_value *g = is_lse ? &c->lse_gsl[index] : &c->o_gsl[index];
        long wide = count->wide;
        int fine = agree(e, g, count);
        if (!fine || count->wide > wide) {
            print_message("problem %d, %s %lld, kind %u: %a +- %g, radius %g; GSL %a +- %g%s, "
                          "features %llx\n",
                          round, is_lse ? "lse" : "o", (long long)index, e->kind, e->high,
                          e->own_error, e->radius, g->value, g->own_error, g->open ? " (open)" : "",
                          (unsigned long long)c->problem.problem.features);
        }
        assert_true(fine);
        assert_true(count->wide == wide);
    }
}

static random_limits limits_with(uint32_t dtypes) {
    random_limits limits = random_limits_small;
    limits.kv_heads = 2;
    limits.group = 2;
    limits.keys = 24;
    limits.head_size = 12;
    limits.any_profile = 1;
    limits.empty_axes = 1;
    limits.dtypes = dtypes;
    return limits;
}

static void report(const tally *count) {
    print_message("%ld finite, %ld special, %ld open, %ld without verdict; distances up to %.2f of "
                  "the own errors\n",
                  count->finite, count->special, count->open, count->no_verdict, count->closest);
}

/* f32-f64acc into a narrow output would have a radius GSL can match; its lse would not. */
static const char *const narrow_models[] = {"f32-strict",  "f32-fastexp", "tf32-f32acc",
                                            "bf16-f32acc", "f16-f32acc",  "f16-f16acc"};

static void oracles_agree(void **state) {
    uint32_t narrow = 1u << ATTEST_F32 | 1u << ATTEST_F16 | 1u << ATTEST_BF16;
    random_source source = {2024};
    tally count = {0};
    (void)state;
    for (int round = 0; round < PROBLEMS; round++) {
        comparison c;
        random_limits limits = limits_with(narrow);
        limits.specials = round % 4 == 0;
        prepare(&c, &source, &limits, attn_model_find(narrow_models[round % 6]));
        compare_gsl(&c, round, &count);
        discard(&c);
    }
    report(&count);
    assert_true(count.finite > PROBLEMS && count.special > 1000 && count.open > 100);
}

static void meets_mpfr(const attn_enclosure *e, const attn_enclosure *exact, tally *count) {
    if (e->kind != ATTN_FINITE) {
        assert_int_equal(e->kind, exact->kind);
        return;
    }
    double distance = fabs((exact->high - e->high) + (exact->low - e->low));
    double together = e->own_error + exact->own_error;
    double part = distance == 0 ? 0 : distance / together;
    count->finite++;
    count->closest = part > count->closest ? part : count->closest;
    assert_true(part <= 1);
    assert_true(e->own_error <= e->radius / 4 && exact->own_error <= e->radius / 4);
}

static void binary64_meets_mpfr(void **state) {
    const attn_oracle_options precise = {1, ATTN_PATH_MPFR};
    char message[ATTEST_MESSAGE_BYTES];
    random_source source = {64};
    tally count = {0};
    (void)state;
    for (int round = 0; round < PROBLEMS / 10; round++) {
        comparison c;
        random_limits limits = limits_with(round % 2 ? 1u << ATTEST_F64 : 0);
        prepare(&c, &source, &limits, attn_model_find(round % 3 ? "f64-strict" : "f32-f64acc"));
        assert_int_equal(
            attn_oracle_with(&c.normal, c.model, &precise, c.o_mpfr, c.lse_mpfr, message),
            ATTEST_OK);
        for (int64_t at = 0; at < c.outputs; at++) {
            meets_mpfr(&c.o[at], &c.o_mpfr[at], &count);
        }
        for (int64_t at = 0; at < c.rows; at++) {
            meets_mpfr(&c.lse[at], &c.lse_mpfr[at], &count);
        }
        discard(&c);
    }
    report(&count);
    assert_true(count.finite > PROBLEMS);
}

/* A key shown that should be hidden, or another conversion, must not go unnoticed. */
static void disagreement_is_noticed(void **state) {
    random_source source = {99};
    long noticed = 0;
    (void)state;
    for (int round = 0; round < 50; round++) {
        comparison c;
        random_limits limits = limits_with(1u << ATTEST_F32);
        limits.force_features = ATTEST_CAUSAL;
        limits.features = ATTEST_CAUSAL;
        limits.any_profile = 0;
        limits.magnitude = RANDOM_ORDINARY;
        prepare(&c, &source, &limits, attn_model_find("f16-f16acc"));
        attn_profile other = c.problem.profile;
        other.corner = ATTN_CORNER_TOP_LEFT;
        tally count = {0};
        const attest_problem *p = &c.problem.problem;
        assert_int_equal(attn_oracle_gsl(p, &other, c.o_gsl, c.lse_gsl), ATTEST_OK);
        for (int64_t at = 0; at < c.outputs; at++) {
            noticed += !agree(&c.o[at], &c.o_gsl[at], &count);
        }
        discard(&c);
    }
    assert_true(noticed > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracles_agree),
        cmocka_unit_test(binary64_meets_mpfr),
        cmocka_unit_test(disagreement_is_noticed),
    };
    return cmocka_run_group_tests_name("oracle gsl", tests, NULL, NULL);
}
