/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * K15: scores where shipped kernels broke: past the range of exp, past binary16, below a finite
 * "minus infinity", one key that dominates late in the row; and values near the type's largest.
 * Scores are set key by key through the first element of q and k. Parameter 0 is the kind.
 */
#include <math.h>

#include "certify/host/workbench.h"
#include "certify/judge/judge.h"
#include "certify/plan/data.h"
#include "certify/plan/plan.h"

typedef enum kind {
    PAST_EXP,     /* 90 and above: exp overflows without the maximum */
    ALL_LOW,      /* every score below -5e4: a finite sentinel wins */
    ALL_LOWER,    /* every score near -2.4e5, as served models have */
    LATE_WINNER,  /* the last key 1e4 above the rest */
    LATE_STEP,    /* the maximum grows with every key: each tile rescales */
    EARLY_WINNER, /* the first key 60 above: the others are tiny, not nothing */
    PAST_HALF,    /* q.k beyond binary16's largest before the scale */
    LARGE_VALUES, /* equal scores, values that overflow a sum that is not yet divided */
    MIXED_SIGNS,  /* values that cancel */
    KINDS
} kind;

static const int bug_classes[KINDS] = {
    [PAST_EXP] = CLASS_MAXIMUM,          [ALL_LOW] = CLASS_FINITE_INFINITY,
    [ALL_LOWER] = CLASS_FINITE_INFINITY, [LATE_WINNER] = CLASS_UNDERFLOW,
    [LATE_STEP] = CLASS_UNDERFLOW,       [EARLY_WINNER] = CLASS_UNDERFLOW,
    [PAST_HALF] = CLASS_SCORE_OVERFLOW,  [LARGE_VALUES] = CLASS_OUTPUT_SUM,
    [MIXED_SIGNS] = CLASS_OUTPUT_SUM,
};

static void plan(attest_plan *plan) {
    static const attest_dtype types[] = {ATTEST_F32, ATTEST_F64, ATTEST_F16, ATTEST_BF16};
    static const int64_t keys[] = {9, 70, 200, 1030};
    const int count = attest_plan_by_level(plan, 2, 4, 4, 4);
    for (int type = 0; type < 4; type++) {
        for (int k = 0; k < KINDS; k++) {
            for (int n = 0; n < count; n++) {
                attest_case c = attest_case_default(plan->check->name);
                c.q_type = c.kv_type = c.o_type = types[type];
                c.parameter[0] = k;
                c.queries = 2;
                c.keys = keys[n];
                c.head_size = c.value_size =
                    k == PAST_HALF ? 2 : 8; /* few products: a useful radius */
                c.features = plan->kernel->features & ATTEST_LSE;
                attest_plan_scale(plan, &c, 0.25);
                attest_plan_add(plan, &c);
            }
        }
    }
}

static double score_of(kind k, int64_t j, int64_t keys) {
    switch (k) {
    case PAST_EXP:
        return 90 + (double)(j % 7);
    case ALL_LOW:
        return -51200 - (double)(j % 5);
    case ALL_LOWER:
        return -245760 - 4 * (double)(j % 3);
    case LATE_WINNER:
        return j == keys - 1 ? 10000 : (double)(j % 4);
    case LATE_STEP:
        return 0.5 * (double)j;
    case EARLY_WINNER:
        return j == 0 ? 60 : (double)(j % 3);
    default:
        return (double)(j % 3) / 4;
    }
}

/* q = (64, 0, ...) and k = (score / (64 scale), ...): whatever k rounds to is what is asked. */
static void set_scores(attest_workbench *bench, kind k) {
    const attn_normal *n = &bench->normal;
    const attest_problem *p = &bench->stage.problem;
    for (int64_t i = 0; i < n->queries; i++) {
        for (int64_t e = 0; e < n->head_size; e++) {
            attest_put(&p->q, 0, 0, i, e, e == 0 ? 64.0 : 0.0);
        }
    }
    for (int64_t j = 0; j < n->keys; j++) {
        for (int64_t e = 0; e < n->head_size; e++) {
            attest_put(&p->k, 0, 0, j, e, e == 0 ? score_of(k, j, n->keys) / (64 * n->scale) : 0.0);
        }
    }
}

/* Products that pass 65504 and cancel: q.k is small in exact arithmetic, its parts are not. */
static void set_past_half(attest_workbench *bench) {
    const attn_normal *n = &bench->normal;
    const attest_problem *p = &bench->stage.problem;
    for (int64_t e = 0; e < n->head_size; e++) {
        for (int64_t i = 0; i < n->queries; i++) {
            attest_put(&p->q, 0, 0, i, e, e % 2 ? -576.0 : 576.0);
        }
        for (int64_t j = 0; j < n->keys; j++) {
            attest_put(&p->k, 0, 0, j, e, e == 0 ? 384.0 + (double)(j % 2) / 4 : 384.0);
        }
    }
}

static void set_values(attest_workbench *bench, kind k) {
    const attn_normal *n = &bench->normal;
    const attest_problem *p = &bench->stage.problem;
    const double top = p->v.dtype == ATTEST_F16   ? 32768.0
                       : p->v.dtype == ATTEST_F64 ? 0x1p1010
                                                  : 0x1p116;
    for (int64_t j = 0; j < n->keys; j++) {
        for (int64_t e = 0; e < n->value_size; e++) {
            const double sign = k == MIXED_SIGNS && (j + e) % 2 ? -1 : 1;
            attest_put(&p->v, 0, 0, j, e, sign * top * (1 + (double)(j % 4) / 8));
        }
    }
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    const kind k =
        c->parameter[0] >= 0 && c->parameter[0] < KINDS ? (kind)c->parameter[0] : PAST_EXP;
    attest_ids_add(&result->ids, "NUM-01 NUM-07");
    if (!attest_workbench_build(bench, c, result)) {
        return;
    }
    if (k == PAST_HALF) {
        set_past_half(bench);
    } else {
        set_scores(bench, k);
    }
    if (k == LARGE_VALUES || k == MIXED_SIGNS) {
        set_values(bench, k);
    }
    if (attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
        attest_judge_values(bench, 0, result);
        if (result->verdict == ATTEST_FAIL) {
            result->bug_class = bug_classes[k];
        }
    }
}

const attest_check attest_check_magnitude = {
    .name = "magnitude",
    .sentence = "Scores and values of any size the domain allows give finite, right results.",
    .requirements = "NUM-01 NUM-07",
    .classes = {CLASS_FINITE_INFINITY, CLASS_MAXIMUM, CLASS_SCORE_OVERFLOW, CLASS_OUTPUT_SUM,
                CLASS_UNDERFLOW},
    .catalogue = "K15",
    .structural = 0,
    .plan = plan,
    .run = run,
};
