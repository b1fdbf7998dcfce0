/* SPDX-License-Identifier: GPL-3.0-or-later */
/* K1: every output element against the oracle's enclosure, over all pairs of options. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "certify/host/workbench.h"
#include "certify/judge/judge.h"
#include "certify/plan/cost.h"
#include "certify/plan/factors.h"
#include "certify/plan/oracle_kind.h"
#include "certify/plan/preset.h"
#include "certify/plan/space.h"

static void plan_pairs(attest_plan *plan) {
    const attest_space space = {.queries = attest_landmark_queries(plan->level),
                                .keys = attest_landmark_keys(plan->level),
                                .head_sizes = attest_landmark_sizes(plan->level),
                                .most = attest_plan_by_level(plan, 24, 0, 0, 0),
                                .rounds = attest_plan_by_level(plan, 1, 1, 20, 100)};
    attest_space_plan(plan, &space, NULL);
    attest_space_plan_boundaries(plan, &space, NULL);
}

/* Without options: what every kernel must do, at each landmark. Structured data first. */
static void plan_plain(attest_plan *plan) {
    static const int64_t values[] = {ATTEST_RECIPE_KEY, ATTEST_RECIPE_UNIT, ATTEST_RECIPE_COARSE};
    const int64_t *keys = attest_landmark_keys(plan->level);
    const int64_t *sizes = attest_landmark_sizes(plan->level);
    for (int i = 0; keys[i] >= 0; i++) {
        for (int v = 0; v < 3; v++) {
            attest_case c = attest_plan_case(plan);
            c.keys = keys[i];
            c.queries = 1 + (i + v) % 3;
            for (c.head_size = sizes[0]; *sizes >= 0; sizes++) {
                c.head_size = *sizes < 17 ? *sizes : c.head_size;
            }
            sizes = attest_landmark_sizes(plan->level);
            c.head_size = plan->kernel->max_head_size && c.head_size > plan->kernel->max_head_size
                              ? plan->kernel->max_head_size
                              : c.head_size;
            c.value_size = c.head_size;
            c.v = values[v];
            attest_plan_scale(plan, &c, 0.25);
            attest_plan_add(plan, &c);
        }
    }
}

/* Scores that overflow exp() without the maximum, and values near the type's largest. */
static void plan_magnitudes(attest_plan *plan) {
    static const int64_t keys[] = {5, 33, 65};
    for (int i = 0; i < 3; i++) {
        for (int kind = ATTEST_ORACLE_LARGE_SCORES; kind <= ATTEST_ORACLE_LARGE_VALUES; kind++) {
            attest_case c = attest_plan_case(plan);
            c.keys = keys[i];
            c.queries = 3;
            c.head_size = c.value_size = 8;
            c.qk = kind == ATTEST_ORACLE_LARGE_SCORES ? ATTEST_RECIPE_LARGE : ATTEST_RECIPE_COARSE;
            c.v = kind == ATTEST_ORACLE_LARGE_VALUES ? ATTEST_RECIPE_HUGE : ATTEST_RECIPE_KEY;
            attest_plan_scale(plan, &c, 0.25);
            c.parameter[0] = kind;
            attest_plan_add(plan, &c);
        }
    }
}

static void plan(attest_plan *plan) {
    plan_plain(plan);
    plan_magnitudes(plan);
    attest_factors_plan(plan);
    plan_pairs(plan);
}

/* About as much of the oracle's time as a plain kernel takes for all rows, and a millisecond. */
static void judge_some(attest_workbench *bench, const attest_case *c, attest_result *result) {
    const attn_normal *n = &bench->normal;
    const int64_t rows = n->batch * n->q_heads * n->queries, sizes = n->head_size + n->value_size;
    const double budget = 1e6 + attest_kernel_cost(rows, n->keys, sizes);
    const double each = attest_oracle_cost(1, n->keys, sizes) + 1;
    const attest_sample sample = attest_sample_rows(n, 4 + (int64_t)(budget / each), 0, c->seed);
    const int is_preset = c->parameter[0] == ATTEST_ORACLE_PRESET;
    const char *preset = is_preset ? attest_preset_name(c->parameter[1]) : NULL;
    if (sample.rows == NULL) {
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: not enough memory");
        return;
    }
    attest_judge_rows(bench, &sample, result);
    if (result->verdict == ATTEST_PASS && (preset != NULL || sample.count < rows)) {
        snprintf(result->what, sizeof result->what, "%s%s%lld of %lld rows judged",
                 preset ? preset : "", preset ? ": " : "", (long long)sample.count,
                 (long long)rows);
    }
    free(sample.rows);
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    attest_space_ids(c, &result->ids);
    attest_ids_add(&result->ids, "SEM-04 SEM-06 SEM-07 NUM-01 NUM-02 NUM-03 CAP-02");
    const int64_t kind = c->parameter[0];
    if (kind == ATTEST_ORACLE_LARGE_SCORES || kind == ATTEST_ORACLE_LARGE_VALUES) {
        attest_ids_add(&result->ids, "NUM-07");
    }
    const int twice = kind == ATTEST_ORACLE_COMPOUND && c->parameter[1];
    if (!attest_workbench_build(bench, c, result) ||
        !attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result) ||
        (twice && !attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result))) {
        return;
    }
    if (kind == ATTEST_ORACLE_COMPOUND || kind == ATTEST_ORACLE_PRESET) {
        judge_some(bench, c, result);
    } else {
        attest_judge(bench, INT64_C(1) << 22, result);
    }
}

const attest_check attest_check_oracle = {
    .name = "oracle",
    .sentence = "Each output element must lie where the declared arithmetic can put it.",
    .requirements = "SEM-01 SEM-02 SEM-04 SEM-05 SEM-06 SEM-07 SEM-08 SEM-09 SEM-10 SEM-11 SEM-13 "
                    "MASK-01 MASK-02 MASK-03 MASK-04 MASK-05 MASK-06 MASK-07 MASK-08 MASK-09 "
                    "MASK-10 MASK-11 NUM-01 NUM-02 NUM-03 NUM-05 NUM-07 MEM-08 SPV-06 SPV-08 "
                    "CAP-02",
    .classes = {CLASS_MAXIMUM, CLASS_SCORE_OVERFLOW, CLASS_OUTPUT_SUM, CLASS_UNDERFLOW,
                CLASS_FAST_MATH, CLASS_SOFTCAP, CLASS_HEAD_SIZE, CLASS_STRIDES, CLASS_KV_HEAD,
                CLASS_LSE, CLASS_SINKS, CLASS_ALIBI},
    .catalogue = "K1 K7 K13 K20 K21",
    .structural = 0,
    .plan = plan,
    .run = run,
};
