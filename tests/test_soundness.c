/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nothing that a model allows may leave its radius. For each model an emulator makes the errors the
 * model allows, at random and with the worst signs, on random problems over every option, up to
 * 1,025 keys and from denormals to the edge of the domain; every finite output element and every
 * log-sum-exp must be inside. ATTN_ELEMENTS sets how many elements a model (default 100,000).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "reference/oracle/oracle.h"
#include "tests/support/emulator.h"

typedef struct tally {
    long judged, outside, no_radius, out_of_domain;
    double worst, worst_lse;
} tally;

typedef struct trial {
    emulator emulator;
    attn_normal normal;
    attn_enclosure *o, *lse;
    const attn_model *claimed; /* what the oracle is told: the emulator's, unless it must fail */
    double shrink;             /* radii are multiplied by this: 1, or less to see the test fail */
    uint64_t seed;
    tally *count;
} trial;

static long elements_wanted(void) {
    const char *text = getenv("ATTN_ELEMENTS");
    long wanted = text ? atol(text) : 0;
    return wanted > 0 ? wanted : 100000;
}

static void judge(const trial *t, const attn_enclosure *e, long double actual, int is_lse) {
    if (e->kind == ATTN_NO_RADIUS || e->kind == ATTN_OUT_OF_DOMAIN) {
        t->count->no_radius += e->kind == ATTN_NO_RADIUS;
        t->count->out_of_domain += e->kind == ATTN_OUT_OF_DOMAIN;
        return;
    }
    if (e->kind != ATTN_FINITE) {
        return;
    }
    long double distance = fabsl((actual - (long double)e->high) - (long double)e->low);
    double reach = t->shrink * e->radius + e->own_error;
    double ratio = distance == 0 ? 0 : (double)(distance / (long double)reach);
    double *worst = is_lse ? &t->count->worst_lse : &t->count->worst;
    *worst = ratio > *worst ? ratio : *worst;
    t->count->judged++;
    /* long double rounds too: 2^-64 against 2^-53, in the same places. */
    double noise = t->emulator.model->score.u < 0x1p-40 ? 0x1p-9 : 0;
    if (!(ratio <= 1 + noise)) {
        t->count->outside++;
        if (t->shrink == 1 && t->claimed == t->emulator.model) {
            print_message("%s, seed %llu, features %llx, %s: %La, exact %a, radius %a (%.3f)\n",
                          t->emulator.model->name, (unsigned long long)t->seed,
                          (unsigned long long)t->normal.features, is_lse ? "lse" : "o", actual,
                          e->high, e->radius, ratio);
        }
    }
}

static void attack_row(trial *t, int64_t b, int64_t h, int64_t i, long double *o) {
    const attn_normal *n = &t->normal;
    random_source *source = t->emulator.source;
    int64_t row = (b * n->q_heads + h) * n->queries + i;
    const attn_enclosure *expected = t->o + row * n->value_size, *lse = t->lse + row;
    long double got_lse;
    int empty = n->value_size == 0 || expected[0].kind != ATTN_FINITE || expected[0].radius == 0;
    if (lse->kind != ATTN_FINITE && empty) { /* nothing with a radius to attack */
        t->count->no_radius += lse->kind == ATTN_NO_RADIUS ? (long)n->value_size : 0;
        t->count->out_of_domain += lse->kind == ATTN_OUT_OF_DOMAIN ? (long)n->value_size : 0;
        return;
    }
    t->emulator.mode = random_chance(source, 2) ? EMULATE_UNIFORM : EMULATE_SIGNS;
    emulate_row(&t->emulator, n, b, h, i, NULL, o, &got_lse);
    for (int64_t c = 0; c < n->value_size; c++) {
        judge(t, &expected[c], o[c], 0);
    }
    judge(t, lse, got_lse, 1);

    t->emulator.mode = EMULATE_WORST;
    t->emulator.plain_order = random_chance(source, 2);
    emulator_target target = {-1, random_chance(source, 2) ? 1 : -1, lse->high};
    emulate_row(&t->emulator, n, b, h, i, &target, o, &got_lse);
    judge(t, lse, got_lse, 1);
    for (int round = 0; n->value_size > 0 && round < 2; round++) {
        target.column = random_between(source, 0, n->value_size - 1);
        target.centre = expected[target.column].high;
        emulate_row(&t->emulator, n, b, h, i, &target, o, &got_lse);
        judge(t, &expected[target.column], o[target.column], 0);
    }
    t->emulator.plain_order = 0;
}

static void attack_problem(trial *t, const random_problem *problem) {
    char message[ATTEST_MESSAGE_BYTES];
    assert_int_equal(attn_normalise(&t->normal, &problem->problem, &problem->profile, 0, message),
                     ATTEST_OK);
    const attn_normal *n = &t->normal;
    int64_t rows = n->batch * n->q_heads * n->queries;
    t->o = calloc((size_t)(rows * n->value_size) + 1, sizeof *t->o);
    t->lse = calloc((size_t)rows + 1, sizeof *t->lse);
    long double *o = calloc((size_t)n->value_size + 1, sizeof *o);
    assert_true(t->o && t->lse && o);
    assert_int_equal(attn_oracle(n, t->claimed, 1, t->o, t->lse, message), ATTEST_OK);
    for (int64_t row = 0; row < rows; row++) {
        int64_t i = row % n->queries, head = row / n->queries;
        attack_row(t, head / n->q_heads, head % n->q_heads, i, o);
    }
    free(t->o);
    free(t->lse);
    free(o);
}

static random_limits limits_for(random_source *source) {
    random_limits limits = random_limits_small;
    limits.any_profile = 1;
    if (random_chance(source, 60)) {
        limits.batch = limits.kv_heads = limits.group = 1;
        limits.queries = 2;
        limits.keys = 1025;
    } else if (random_chance(source, 4)) {
        limits.keys = 200;
        limits.queries = 3;
    }
    return limits;
}

static void attack(const attn_model *model, const attn_model *claimed, uint64_t seed, long wanted,
                   double shrink, tally *count) {
    *count = (tally){0};
    int must_fail = shrink < 1 || claimed != model;
    for (uint64_t round = 0; count->judged < wanted; round++) {
        if (must_fail && count->outside > 0) {
            return;
        }
        random_source source = {seed * 1000003 + round};
        trial t = {.emulator = {.model = model, .source = &source, .fault = 1},
                   .claimed = claimed,
                   .shrink = shrink,
                   .seed = source.state,
                   .count = count};
        random_limits limits = limits_for(&source);
        random_problem problem;
        random_problem_make(&problem, &source, &limits);
        attack_problem(&t, &problem);
        random_problem_free(&problem);
    }
}

static void report(const char *name, const tally *count) {
    print_message("%-12s %9ld judged, %ld outside, worst %.3f of the radius (lse %.3f), "
                  "%ld without radius, %ld out of domain\n",
                  name, count->judged, count->outside, count->worst, count->worst_lse,
                  count->no_radius, count->out_of_domain);
}

static void stays_inside(void **state) {
    const attn_model *model = *state;
    tally count;
    attack(model, model, 1, elements_wanted(), 1, &count);
    report(model->name, &count);
    assert_int_equal(count.outside, 0);
    assert_true(count.no_radius < count.judged && count.out_of_domain < count.judged);
}

/* The same attack on radii a twentieth as large must be noticed, or it proves nothing. */
static void too_small_radius_is_noticed(void **state) {
    const attn_model *model = *state;
    tally count;
    attack(model, model, 2, 2000, 0.05, &count);
    assert_true(count.outside > 0);
}

/* A radius that forgets one source of error must be noticed too. */
static void forgotten_error_is_noticed(void **state) {
    static const char *const what[] = {
        "operand",  "score", "weight", "sum", "scale",     "folded factor", "shift",
        "argument", "exp",   "tanh",   "log", "exp floor", "any order",     "rescaling",
    };
    const attn_model *full = attn_model_find("tf32-f32acc");
    (void)state;
    for (int n = 0; n < (int)(sizeof what / sizeof what[0]); n++) {
        attn_model less = *full;
        attn_format *formats[] = {&less.operand, &less.score, &less.weight, &less.sum};
        uint32_t *counts[] = {&less.scale_roundings, &less.score_roundings, &less.shift_roundings,
                              &less.argument_roundings};
        double *sizes[] = {&less.exp_ulps, &less.tanh_ulps, &less.log_ulps, &less.exp_floor};
        if (n < 4) {
            formats[n]->u = formats[n]->eta = 0;
        } else if (n < 8) {
            *counts[n - 4] = 0;
        } else if (n < 12) {
            *sizes[n - 8] = 0;
        } else if (n == 12) {
            less.summation = ATTN_PAIRWISE;
        } else {
            less.rescale_tile = 0;
        }
        tally count;
        attack(full, &less, 3, 200000, 1, &count);
        print_message("without %s: noticed after %ld elements\n", what[n], count.judged);
        assert_true(count.outside > 0);
    }
}

/* Parameters that no named model uses. */
#define UNUSUAL 6

static const attn_model *unusual_models(void) {
    static attn_model unusual[UNUSUAL];
    const attn_format flushed = {0x1p-24, 0x1p-126, attn_format_f32.max};
    unusual[0] = *attn_model_find("f32-fastexp");
    unusual[0].name = "lazy tiles";
    unusual[0].rescale_tile = 16;
    unusual[0].rescale_slack = 5.5;
    unusual[1] = *attn_model_find("bf16-f32acc");
    unusual[1].name = "narrow";
    unusual[1].narrow = ATTN_NARROW_ALL;
    unusual[2] = *attn_model_find("f32-strict");
    unusual[2].name = "two passes";
    unusual[2].rescale_tile = 0;
    unusual[3] = unusual[2];
    unusual[3].name = "pairwise";
    unusual[3].summation = ATTN_PAIRWISE;
    unusual[4] = unusual[2];
    unusual[4].name = "blocks of 8";
    unusual[4].summation = ATTN_BLOCKED;
    unusual[4].block = 8;
    unusual[5] = *attn_model_find("f32-strict");
    unusual[5].name = "flush to 0";
    unusual[5].operand = unusual[5].score = unusual[5].weight = unusual[5].sum = flushed;
    unusual[5].exp_floor = 0x1p-126;
    return unusual;
}

int main(void) {
    struct CMUnitTest tests[40];
    static char names[40][64];
    size_t count = 0;
    for (int index = 0; attn_model_name(index); index++) {
        const char *name = attn_model_name(index);
        const attn_model *model = attn_model_find(name);
        snprintf(names[count], sizeof names[count], "NUM-01 NUM-05 sound: %s", name);
        tests[count] =
            (struct CMUnitTest){names[count], stays_inside, NULL, NULL, (void *)(uintptr_t)model};
        count++;
        snprintf(names[count], sizeof names[count], "a too small radius is noticed: %s", name);
        tests[count] = (struct CMUnitTest){names[count], too_small_radius_is_noticed, NULL, NULL,
                                           (void *)(uintptr_t)model};
        count++;
    }
    const attn_model *unusual = unusual_models();
    for (int index = 0; index < UNUSUAL; index++) {
        snprintf(names[count], sizeof names[count], "NUM-01 NUM-05 sound: %s", unusual[index].name);
        tests[count] = (struct CMUnitTest){names[count], stays_inside, NULL, NULL,
                                           (void *)(uintptr_t)&unusual[index]};
        count++;
    }
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(forgotten_error_is_noticed);
    return _cmocka_run_group_tests("soundness", tests, count, NULL, NULL);
}
