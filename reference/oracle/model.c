/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/oracle/model.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* u = 2^-p for p bits; eta = half the smallest denormal, rounded up to a binary64 number. */
#define F64 {0x1p-53, 0x1p-1074, DBL_MAX}
#define F32 {0x1p-24, 0x1p-150, (double)FLT_MAX}
#define TF32 {0x1p-11, 0x1p-137, 0x1.ffcp127}
#define F16 {0x1p-11, 0x1p-25, 65504.0}
#define BF16 {0x1p-8, 0x1p-134, 0x1.fep127}

const attn_format attn_format_f64 = F64, attn_format_f32 = F32, attn_format_tf32 = TF32,
                  attn_format_f16 = F16, attn_format_bf16 = BF16;

attn_format attn_format_of(attest_dtype dtype) {
    switch (dtype) {
    case ATTEST_F64:
        return attn_format_f64;
    case ATTEST_F32:
        return attn_format_f32;
    case ATTEST_F16:
        return attn_format_f16;
    case ATTEST_BF16:
        return attn_format_bf16;
    default:
        return (attn_format){0, 0, 0};
    }
}

/*
 * Five relative errors of the scale cover sqrt(scale) on q and on k (half of the scale's rounding
 * twice, two square roots, two products) and a default 1/sqrt(D) computed in another order than
 * here. A natural exp rounds its argument once; an exp2 with log2(e) folded into the scale rounds
 * the factor and the product, and shifts by a maximum that was scaled on its own.
 */
#define NATURAL_EXP .scale_roundings = 5, .argument_roundings = 1, .tanh_ulps = 2, .log_ulps = 1
#define FOLDED_EXP2                                                                                \
    .scale_roundings = 5, .score_roundings = 2, .shift_roundings = 1, .argument_roundings = 3,     \
    .tanh_ulps = 8, .log_ulps = 4, .exp_floor = 0x1p-126
#define FREE_ORDER .summation = ATTN_ANY_ORDER, .rescale_tile = 1

static const attn_model models[] = {
    {.name = "f64-strict",
     .operand = F64,
     .score = F64,
     .weight = F64,
     .sum = F64,
     .exp_ulps = 1,
     .exp_floor = 0x1p-1074,
     NATURAL_EXP,
     FREE_ORDER},
    {.name = "f32-f64acc",
     .operand = F32,
     .score = F64,
     .weight = F64,
     .sum = F64,
     .exp_ulps = 1,
     .exp_floor = 0x1p-1074,
     NATURAL_EXP,
     FREE_ORDER},
    {.name = "f32-strict",
     .operand = F32,
     .score = F32,
     .weight = F32,
     .sum = F32,
     .exp_ulps = 1,
     .exp_floor = 0x1p-149,
     NATURAL_EXP,
     FREE_ORDER},
    {.name = "f32-fastexp",
     .operand = F32,
     .score = F32,
     .weight = F32,
     .sum = F32,
     .exp_ulps = 4,
     FOLDED_EXP2,
     FREE_ORDER},
    {.name = "tf32-f32acc",
     .operand = TF32,
     .score = F32,
     .weight = TF32,
     .sum = F32,
     .exp_ulps = 4,
     FOLDED_EXP2,
     FREE_ORDER},
    {.name = "bf16-f32acc",
     .operand = BF16,
     .score = F32,
     .weight = BF16,
     .sum = F32,
     .exp_ulps = 4,
     FOLDED_EXP2,
     FREE_ORDER},
    {.name = "f16-f32acc",
     .operand = F16,
     .score = F32,
     .weight = F16,
     .sum = F32,
     .exp_ulps = 4,
     FOLDED_EXP2,
     FREE_ORDER},
    {.name = "f16-f16acc",
     .operand = F16,
     .score = F16,
     .weight = F16,
     .sum = F16,
     .narrow = ATTN_NARROW_ALL,
     .scale_roundings = 5,
     .score_roundings = 2,
     .shift_roundings = 1,
     .argument_roundings = 3,
     .exp_ulps = 1,
     .tanh_ulps = 1,
     .log_ulps = 1,
     .exp_floor = 0x1p-24,
     FREE_ORDER},
};

#define MODELS ((int)(sizeof models / sizeof models[0]))

const attn_model *attn_model_find(const char *name) {
    for (int index = 0; name && index < MODELS; index++) {
        if (strcmp(models[index].name, name) == 0) {
            return &models[index];
        }
    }
    return NULL;
}

const char *attn_model_name(int index) {
    return index >= 0 && index < MODELS ? models[index].name : NULL;
}

attn_model attn_model_claimed(const attn_model *model, double exp_ulps, double max_abs_score) {
    attn_model result = *model;
    if (exp_ulps > 0) {
        result.exp_ulps = exp_ulps;
    }
    if (max_abs_score > 0) {
        result.max_abs_score = max_abs_score;
    }
    return result;
}

static int format_implies(const attn_format *a, const attn_format *b) {
    return a->u <= b->u && a->eta <= b->eta && a->max >= b->max;
}

static int summation_implies(const attn_model *a, const attn_model *b) {
    if (a->summation == ATTN_BLOCKED && b->summation == ATTN_BLOCKED) {
        return a->block == b->block;
    }
    return a->summation <= b->summation;
}

static int rescaling_implies(const attn_model *a, const attn_model *b) {
    int never = a->rescale_tile == 0;
    int less_often = b->rescale_tile != 0 && a->rescale_tile >= b->rescale_tile;
    return (never || less_often) && a->rescale_slack <= b->rescale_slack;
}

static int functions_imply(const attn_model *a, const attn_model *b) {
    return a->exp_ulps * a->score.u <= b->exp_ulps * b->score.u &&
           a->tanh_ulps * a->score.u <= b->tanh_ulps * b->score.u &&
           a->log_ulps * a->sum.u <= b->log_ulps * b->sum.u && a->exp_floor <= b->exp_floor;
}

int attn_model_implies(const attn_model *a, const attn_model *b) {
    int larger_domain =
        a->max_abs_score == 0 || (b->max_abs_score > 0 && a->max_abs_score >= b->max_abs_score);
    return larger_domain && format_implies(&a->operand, &b->operand) &&
           format_implies(&a->score, &b->score) && format_implies(&a->weight, &b->weight) &&
           format_implies(&a->sum, &b->sum) && (a->narrow & ~b->narrow) == 0 &&
           a->scale_roundings <= b->scale_roundings && a->score_roundings <= b->score_roundings &&
           a->shift_roundings <= b->shift_roundings &&
           a->argument_roundings <= b->argument_roundings && functions_imply(a, b) &&
           summation_implies(a, b) && rescaling_implies(a, b);
}

double attn_depth(const attn_model *model, int64_t n) {
    if (n <= 1) {
        return 0;
    }
    if (model->summation == ATTN_PAIRWISE) {
        return ceil(log2((double)n));
    }
    if (model->summation == ATTN_BLOCKED) {
        int64_t block = model->block < 1 ? 1 : model->block;
        int64_t chain = n < block ? n : block;
        return (double)(chain - 1 + (n + block - 1) / block - 1);
    }
    return (double)(n - 1);
}
