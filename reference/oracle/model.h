/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - how a kernel says it computes: the parameters of spec/error-model.md. A model is plain
 * data; copy one and change a field to describe another arithmetic. Every radius is a monotone
 * function of every parameter, so "stricter" is a comparison field by field.
 */
#ifndef ATTN_MODEL_H
#define ATTN_MODEL_H

#include <stdint.h>

#include "spec/attest.h"

/* Rounding x to a format gives x(1+d)+e with |d| <= u, |e| <= eta, as long as |x| <= max. */
typedef struct attn_format {
    double u;   /* unit roundoff; 0: no rounding happens here */
    double eta; /* half the smallest denormal; the smallest normal where results are flushed */
    double max; /* largest finite number */
} attn_format;

extern const attn_format attn_format_f64, attn_format_f32, attn_format_tf32, attn_format_f16,
    attn_format_bf16;

/* The format of a storage type; u is 0 for a type that is not floating. */
attn_format attn_format_of(attest_dtype dtype);

/* What is rounded to the operand format on the way, beside q, k and v themselves. */
#define ATTN_NARROW_SCALE 1u    /* the scale */
#define ATTN_NARROW_SCALED_Q 2u /* scale * q */
#define ATTN_NARROW_SCORE 4u    /* scale * q.k, and the score after softcap and bias */
#define ATTN_NARROW_ALIBI 8u    /* slope * distance */
#define ATTN_NARROW_ALL 15u

typedef enum attn_summation {
    ATTN_PAIRWISE, /* a balanced tree: depth ceil(log2 n) */
    ATTN_BLOCKED,  /* chains of at most `block` terms, their sums in one more chain */
    ATTN_ANY_ORDER /* any tree at all */
} attn_summation;

typedef struct attn_model {
    const char *name;
    attn_format operand; /* factors of q.k and w.v; an input stored wider is rounded to it first */
    attn_format score;   /* q.k and all that follows, up to the argument of exp */
    attn_format weight;  /* a weight before it meets v */
    attn_format sum;     /* accumulators of the output and of the denominator */
    uint32_t narrow;     /* ATTN_NARROW_... */
    uint32_t scale_roundings;    /* relative errors of scale and of its product with q.k */
    uint32_t score_roundings;    /* extra ones of the finished score, e.g. a factor log2(e) */
    uint32_t shift_roundings;    /* of the row maximum on its own, where it is scaled apart */
    uint32_t argument_roundings; /* of score - maximum */
    double exp_ulps, tanh_ulps, log_ulps; /* of the score's format (log: the sum's) */
    double exp_floor; /* exp may be off by this much in absolute terms, when it underflows */
    attn_summation summation;
    int64_t block;        /* of ATTN_BLOCKED */
    int64_t rescale_tile; /* an online softmax rescales once in so many keys or more; 0: never */
    double rescale_slack; /* it may leave the maximum stale by this much (natural log units) */
    double max_abs_score; /* scores beyond it are outside the domain; 0: no limit */
} attn_model;

/* The named model, or NULL. */
const attn_model *attn_model_find(const char *name);

/* Names in a fixed order; NULL past the last. */
const char *attn_model_name(int index);

/* A model with a descriptor's claims in place of its own; 0 keeps the model's. */
attn_model attn_model_claimed(const attn_model *model, double exp_ulps, double max_abs_score);

/* 1 if every parameter of `stricter` is at most that of `looser`: what passes the one passes the
 * other, or is outside the other's domain. A partial order on models. */
int attn_model_implies(const attn_model *stricter, const attn_model *looser);

/* Longest path of additions from a term to the sum of n terms. */
double attn_depth(const attn_model *model, int64_t n);

#endif
