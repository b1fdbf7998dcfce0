/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.h - spec/error-model.md as functions: from a model and what is known of a row to the error
 * of each score, each weight, each output. The same functions bound the oracle's own error, with
 * the oracle's own arithmetic as the model. All results are upper bounds; section 8 there says why
 * the roundings made here do not spoil that.
 */
#ifndef ATTN_BOUND_H
#define ATTN_BOUND_H

#include "reference/oracle/model.h"
#include "reference/problem/normal.h"

/* Magnitudes of one key, from which the error of its score follows (section 3). */
typedef struct attn_key_facts {
    double raw;    /* sum |q||k| */
    double k_sum;  /* sum |k| */
    double k_max;  /* largest |k| */
    double linear; /* scale * q.k */
    double bent;   /* after softcap; equal to linear without */
    double mask;   /* additive mask, signed */
    double alibi;  /* slope * distance, signed */
    double distance;
} attn_key_facts;

/* What a model makes of one problem: every constant that does not depend on the key. */
typedef struct attn_bound {
    const attn_model *model;
    double scale;                   /* |scale| */
    double softcap;                 /* 0: none */
    double dot;                     /* relative to |scale| sum |q||k| */
    double dot_tiny;                /* absolute */
    double k_tiny;                  /* relative to sum |k| */
    double q_tiny;                  /* relative to sum |q| */
    double raw_tiny;                /* relative to sum |q||k| */
    double ratio;                   /* of score / softcap */
    double cap, cap_tiny;           /* of softcap * tanh */
    double mask, alibi, alibi_tiny; /* the last one relative to the distance */
    double finish, finish_tiny;
    double sink, sink_tiny;
    double argument, shift;           /* of score - maximum, and of the maximum on its own */
    double round_q, round_k, round_v; /* 1 where it is rounded to the operand format */
    double log2_factor;               /* 1, or log2(e) where the model folds it into scores */
} attn_bound;

void attn_bound_problem(attn_bound *bound, const attn_model *model, const attn_normal *normal);

/*
 * How far a computed score may be from the exact one. `slop` is how far the facts themselves may be
 * off; q_sum is sum |q|.
 */
double attn_score_error(const attn_bound *bound, const attn_key_facts *facts, double q_sum,
                        double slop);

double attn_sink_error(const attn_bound *bound, double sink);

/* 1 unless an infinite product of magnitudes, one of them infinite, may meet a 0 by rounding. */
int attn_infinite_in_domain(const attn_bound *bound, double q, double key);

/* 1 unless an intermediate of this score may overflow in the model (section 7). */
int attn_score_in_domain(const attn_bound *bound, const attn_key_facts *facts, double q_max,
                         double error);

/* Constants of one row: `terms` counts the visible keys and the sink. */
typedef struct attn_row_bound {
    double max_high;  /* no computed maximum is above */
    double max_low;   /* nor the last one below */
    double largest;   /* no finite score, and no sink, is further from 0 */
    double exponent;  /* error of one exp, as a logarithm */
    double rescale;   /* of one rescaling: its exp, and the product with an accumulator */
    double numerator; /* of the path of a weight to the output, rescalings apart */
    double denominator;
    double terms;
    double rescales; /* at most this many */
} attn_row_bound;

/* Fills all but max_high, max_low and largest. */
void attn_bound_row(const attn_bound *bound, int64_t keys, int has_sink, attn_row_bound *row);

/* 1 unless weights, or values with them, may overflow on their way to an output (section 7). */
int attn_weights_in_domain(const attn_bound *bound, const attn_row_bound *row);
int attn_values_in_domain(const attn_bound *bound, const attn_row_bound *row, double v_max,
                          double v_sum);

/*
 * Logarithmic error of a weight whose score is computed to within `error` (section 4); `score` here
 * is known to within `slop`. `larger` bounds the number of terms whose computed score can be above
 * this one: only those make an online softmax rescale it.
 */
double attn_weight_error(const attn_bound *bound, const attn_row_bound *row, double score,
                         double error, double slop, double larger);

/* exp(x) - 1 for x >= 0, rounded up; +inf where that overflows. */
double attn_expm1_up(double x);

/* exp(x), rounded up. */
double attn_exp_up(double x);

/* The row's denominator, relative: |computed / exact - 1| is at most the result, where
 * `weighted` is sum p_j expm1(lambda_j + denominator). */
double attn_denominator_error(const attn_bound *bound, const attn_row_bound *row, double weighted);

/*
 * Radius of an output before it is stored. `value` is |o|, `weighted` is
 * sum p_j expm1(lambda_j + numerator) |v_j|, `v_sum` is at least sum |v_j| over visible keys.
 */
double attn_output_error(const attn_bound *bound, const attn_row_bound *row, double denominator,
                         double value, double weighted, double v_sum);

/* Radius of the log-sum-exp in natural units, before it is stored. `denominator` as above. */
double attn_lse_error(const attn_bound *bound, const attn_row_bound *row, double denominator,
                      double lse, int base_2);

/* What storing adds to a value known to within `radius`. */
double attn_store_error(const attn_format *from, const attn_format *to, double value,
                        double radius);

#endif
