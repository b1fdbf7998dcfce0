/* SPDX-License-Identifier: GPL-3.0-or-later */
/* K17: every element of V is the number of its KV head and batch entry, so the output says which
 * head was read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "certify/host/workbench.h"
#include "certify/plan/data.h"
#include "certify/plan/plan.h"

static void plan(attest_plan *plan) {
    static const int64_t heads[][2] = {{12, 3}, {13, 1}, {28, 4}, {6, 6},  {16, 2},
                                       {48, 2}, {32, 8}, {10, 5}, {64, 8}, {7, 7}};
    const int count = attest_plan_by_level(plan, 5, 10, 10, 10);
    for (int i = 0; i < count; i++) {
        for (int64_t queries = 1; queries <= 9; queries += 4) {
            attest_case c = attest_plan_case(plan);
            c.batch = 3;
            c.q_heads = heads[i][0];
            c.kv_heads = heads[i][1];
            c.queries = queries;
            c.keys = queries + 3;
            c.head_size = c.value_size = 4;
            c.layout = i % 2 ? ATTEST_LAYOUT_TOKENS : ATTEST_LAYOUT_DENSE;
            attest_plan_scale(plan, &c, 0.5);
            if (i % 3 == 0) {
                c.features |= plan->kernel->features & ATTEST_CAUSAL;
            }
            attest_plan_add(plan, &c);
        }
    }
}

/* At most 3 * 8: exact in every type, and no rounding of a model comes near one half. */
static double number_of(const attn_normal *n, int64_t b, int64_t g) {
    return (double)(b * n->kv_heads + g + 1);
}

static void number_values(attest_workbench *bench) {
    const attn_normal *n = &bench->normal;
    for (int64_t b = 0; b < n->batch; b++) {
        for (int64_t g = 0; g < n->kv_heads; g++) {
            for (int64_t j = 0; j < n->keys; j++) {
                for (int64_t e = 0; e < n->value_size; e++) {
                    attest_put(&bench->stage.problem.v, b, g, j, e, number_of(n, b, g));
                }
            }
        }
    }
}

/* Returns 1 if the row sees a key, and so a number. */
static int judge_row(const attest_workbench *bench, int64_t b, int64_t h, int64_t i,
                     unsigned char *visible, attest_result *result) {
    const attn_normal *n = &bench->normal;
    const double right = number_of(n, b, attn_kv_head(n, h));
    if (attn_visible_keys(n, b, h, i, visible) == 0) {
        return 0;
    }
    const double got = attest_get(&bench->stage.problem.o, b, h, i, 0);
    if (fabs(got - right) < 0.4) {
        return 1;
    }
    const int64_t number = got > 0.6 && got < 1000 ? (int64_t)(got - 0.5) : -1;
    if (number >= 0 && number < n->batch * n->kv_heads && fabs(got - rint(got)) < 0.1) {
        const int other_entry = number / n->kv_heads != b;
        attest_result_bad(result, ATTEST_FAIL, other_entry ? "ISO-06" : "SEM-11",
                          other_entry ? CLASS_NEIGHBOURS : CLASS_KV_HEAD,
                          "query head %lld of batch entry %lld reads KV head %lld of entry %lld",
                          (long long)h, (long long)b, (long long)(number % n->kv_heads),
                          (long long)(number / n->kv_heads));
    } else {
        attest_result_bad(result, ATTEST_FAIL, "SEM-11", CLASS_KV_HEAD,
                          "query head %lld of batch entry %lld mixes KV heads", (long long)h,
                          (long long)b);
    }
    result->has_value = 1;
    result->place[0] = b;
    result->place[1] = h;
    result->place[2] = i;
    result->expected = right;
    result->actual = got;
    result->radius = 0.4;
    result->worst = fabs(got - right) / result->radius;
    return 1;
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    attest_ids_add(&result->ids, "SEM-11 ISO-06");
    if (!attest_workbench_build(bench, c, result)) {
        return;
    }
    if (c->value_size == 0) {
        attest_result_mistrust(result, "V has no column to number");
        return;
    }
    number_values(bench);
    unsigned char *visible = malloc((size_t)c->keys + 1);
    int judged = 0;
    if (visible == NULL) {
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: not enough memory");
        return;
    }
    if (!attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
        free(visible);
        return;
    }
    for (int64_t b = 0; b < c->batch; b++) {
        for (int64_t h = 0; h < c->q_heads; h++) {
            for (int64_t i = 0; i < c->queries && !attest_verdict_is_bad(result->verdict); i++) {
                judged |= judge_row(bench, b, h, i, visible, result);
            }
        }
    }
    free(visible);
    if (!judged) {
        attest_result_mistrust(result, "no row sees a key");
    }
}

const attest_check attest_check_heads = {
    .name = "heads",
    .sentence = "Each query head reads the KV head and the batch entry that are its own.",
    .requirements = "SEM-11 ISO-06",
    .classes = {CLASS_KV_HEAD, CLASS_NEIGHBOURS},
    .catalogue = "K17",
    .structural = 1,
    .plan = plan,
    .run = run,
};
