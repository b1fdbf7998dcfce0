/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>

#include "reference/arithmetic/elementary.h"
#include "reference/oracle/oracle_row.h"

void attn_key_bias(const attn_row_data *row, const attn_oracle_call *call, int64_t key,
                   attn_key_facts *facts) {
    const attn_normal *normal = call->normal;
    if (normal->features & ATTEST_MASK_ADD) {
        facts->mask = attn_mask_value(normal, row->b, row->h, row->i, key);
    }
    if (normal->features & ATTEST_ALIBI) {
        int64_t distance = row->i + row->offset - key;
        facts->distance = (double)(distance < 0 ? -distance : distance);
        facts->alibi = row->slope * facts->distance;
    }
}

/* The score in binary64; *overflow where finite inputs led to something that is not. */
static double score_of(const attn_row_data *row, const attn_oracle_call *call,
                       attn_key_facts *facts, int *overflow) {
    facts->bent = facts->linear;
    if (call->own_bound.softcap > 0) {
        facts->bent = call->own_bound.softcap * attn_tanh(facts->linear / call->own_bound.softcap);
    }
    double score = facts->bent + (facts->mask - facts->alibi);
    int regular_inputs = (isfinite(facts->linear) || facts->raw > 0) && isfinite(facts->mask) &&
                         isfinite(row->slope);
    *overflow = !(facts->raw <= DBL_MAX) || (regular_inputs && !isfinite(score));
    return score;
}

/* What is finite of a score that is -inf: where it may overflow, it may meet the infinity with the
 * other sign. Of an infinite product, attn_block_scores has looked at q and k. */
static attn_key_facts finite_part(const attn_key_facts *facts) {
    attn_key_facts rest =
        isfinite(facts->linear) ? *facts : (attn_key_facts){.distance = facts->distance};
    rest.bent = isfinite(facts->bent) ? facts->bent : 0; /* softcap makes it finite again */
    rest.mask = isfinite(facts->mask) ? facts->mask : 0;
    rest.alibi = isfinite(facts->alibi) ? facts->alibi : 0;
    return rest;
}

/* Scores, their own errors, and the model's errors, which wait in `weight`. */
static void score_keys(attn_row_data *row, const attn_oracle_call *call) {
    int any_nan = isnan(row->sink), any_above = row->sink == (double)INFINITY, any_out = 0;
    row->shift = row->sink;
    for (int64_t n = 0; n < row->count; n++) {
        attn_key_facts *facts = &row->facts[n];
        int overflow = 0;
        if (row->mean_of_all) {
            row->score[n] = row->own[n] = row->weight[n] = 0;
            row->shift = 0;
            continue;
        }
        attn_key_bias(row, call, row->keys[n], facts);
        double score = score_of(row, call, facts, &overflow);
        row->score[n] = score;
        row->own[n] = row->weight[n] = 0;
        if (overflow) {
            any_out = 1;
        } else if (isnan(score)) {
            any_nan = 1;
        } else if (score == (double)INFINITY) {
            any_above = 1;
        } else {
            const attn_key_facts rest = isfinite(score) ? *facts : finite_part(facts);
            double own = 1.01 * attn_score_error(&call->own_bound, &rest, row->q_sum, 0);
            double error = attn_score_error(&call->bound, &rest, row->q_sum, own);
            any_out |= !attn_score_in_domain(&call->bound, &rest, row->q_max, error + own);
            if (score != (double)-INFINITY) {
                row->own[n] = own;
                row->weight[n] = error;
                row->shift = score > row->shift ? score : row->shift;
            }
        }
    }
    if (any_nan) {
        row->state = ATTN_ROW_NAN;
    } else if (any_above) {
        row->state = ATTN_ROW_ABOVE;
    } else if (any_out) {
        row->state = ATTN_ROW_OUT_OF_DOMAIN;
    } else if (!isfinite(row->shift)) { /* every score is -inf: 0/0, for the row is not empty */
        row->state = ATTN_ROW_BELOW;
    }
}

/*
 * How many terms may outgrow a given one: terms counted by how far below the maximum their computed
 * scores can reach, in steps of the range that matters. A step's count includes all of that step,
 * so it errs upwards.
 */
#define STEPS 256
#define DEEP 60.0 /* what is further below the maximum weighs less than 2^-86 */

typedef struct ranking {
    double top, per_unit;
    double above[STEPS]; /* terms that reach into this step or a higher one */
} ranking;

static int step_of(const ranking *ranks, double score) {
    double step = (ranks->top - score) * ranks->per_unit;
    return step < STEPS - 1 ? (int)step : STEPS - 1;
}

/* Where the running maximum of a kernel may be, and who may be above whom. */
static void bound_maximum(attn_row_data *row, const attn_oracle_call *call, ranking *ranks) {
    double sink_error = isfinite(row->sink) ? attn_sink_error(&call->bound, row->sink) : 0;
    double high = row->sink + sink_error, low = row->sink - sink_error, bottom = low;
    double largest = isfinite(row->sink) ? fabs(row->sink) + sink_error : 0;
    for (int64_t n = 0; n < row->count; n++) {
        double reach = row->weight[n] + row->own[n], least = row->score[n] - reach;
        double size = isfinite(row->score[n]) ? fabs(row->score[n]) + reach : 0;
        largest = size > largest ? size : largest;
        high = row->score[n] + reach > high ? row->score[n] + reach : high;
        low = least > low ? least : low;
        bottom = least < bottom || !isfinite(bottom) ? least : bottom;
    }
    row->bound.max_high = high;
    row->bound.max_low = low;
    row->bound.largest = largest;
    double range = high - bottom < DEEP ? high - bottom : DEEP;
    *ranks = (ranking){.top = high, .per_unit = range > 0x1p-900 ? (STEPS - 1) / range : 0};
    for (int64_t n = 0; n < row->count; n++) {
        double reach = row->weight[n] + row->own[n];
        ranks->above[step_of(ranks, row->score[n] + reach)] += 1;
    }
    if (isfinite(row->sink)) {
        ranks->above[step_of(ranks, row->sink + sink_error)] += 1;
    }
    for (int step = 1; step < STEPS; step++) {
        ranks->above[step] += ranks->above[step - 1];
    }
}

/* The term itself is one of those counted. */
static double larger_than(const ranking *ranks, double least_score) {
    return ranks->above[step_of(ranks, least_score)] - 1;
}

/* exp(x) * expm1(error), an upper bound that does not lose a large error to a small exp(x). */
static double exp_times_expm1(double exponential, double x, double error) {
    return error < 0.5 ? exponential * attn_expm1_up(error) : attn_exp_up(x + error);
}

static void start_quality(attn_own_quality *quality, const attn_row_data *row) {
    attn_bound_row(&quality->bound, row->count, isfinite(row->sink), &quality->row);
    quality->row.max_high = quality->row.max_low = row->shift;
    quality->part = quality->denominator = 0;
}

/* Error of a weight in the oracle's arithmetic, where that of its score is `own`. */
static double own_weight_error(const attn_own_quality *quality, double score, double own) {
    return attn_weight_error(&quality->bound, &quality->row, score, own, 0, 0);
}

/* Counts one term, exp(x), whose weight has that error. */
static void count_term(attn_own_quality *quality, double x, double exponential, double log_error,
                       double weight) {
    double path = exp_times_expm1(exponential, x, log_error + quality->row.numerator);
    quality->denominator += exp_times_expm1(exponential, x, log_error + quality->row.denominator);
    if (weight > 0 && path > quality->part * weight) {
        quality->part = path / weight;
    }
}

void attn_row_weigh(attn_row_data *row, const attn_oracle_call *call) {
    if (row->state != ATTN_ROW_REGULAR) {
        return;
    }
    score_keys(row, call);
    if (row->state != ATTN_ROW_REGULAR) {
        return;
    }
    attn_own_quality *own = &row->own_quality;
    own->bound = call->own_bound;
    start_quality(own, row);
    attn_bound_row(&call->bound, row->count, isfinite(row->sink), &row->bound);
    ranking ranks;
    bound_maximum(row, call, &ranks);
    if (!attn_weights_in_domain(&call->bound, &row->bound)) {
        row->state = ATTN_ROW_OUT_OF_DOMAIN;
        return;
    }

    double sum = 0, spread = 0;
    for (int64_t n = 0; n < row->count; n++) {
        double x = row->score[n] - row->shift;
        if (row->score[n] == (double)-INFINITY) {
            row->exponent[n] = row->weight[n] = 0;
            continue;
        }
        double e = attn_exp(x), error = row->weight[n];
        double larger = larger_than(&ranks, row->score[n] - error - row->own[n]);
        double model =
            attn_weight_error(&call->bound, &row->bound, row->score[n], error, row->own[n], larger);
        double mine = own_weight_error(own, row->score[n], row->own[n]);
        double up = 1 + attn_expm1_up(mine);
        row->exponent[n] = e;
        row->weight[n] = up * exp_times_expm1(e, x, model + row->bound.numerator);
        count_term(own, x, e, mine, row->weight[n]);
        spread += up * exp_times_expm1(e, x, model + row->bound.denominator);
        sum += e;
    }
    if (isfinite(row->sink)) {
        double x = row->sink - row->shift, e = attn_exp(x);
        double error = attn_sink_error(&call->bound, row->sink);
        double larger = larger_than(&ranks, row->sink - error);
        double model = attn_weight_error(&call->bound, &row->bound, row->sink, error, 0, larger);
        double mine = own_weight_error(own, row->sink, 0);
        count_term(own, x, e, mine, 0);
        spread += (1 + attn_expm1_up(mine)) * exp_times_expm1(e, x, model + row->bound.denominator);
        sum += e;
    }
    row->sum = sum;
    own->denominator = attn_denominator_error(&own->bound, &own->row, own->denominator / sum);
    row->inflation = (1 + 2 * own->denominator) *
                     (1 + 0x1p-50 * ((double)row->count + (double)call->normal->head_size + 64));
    row->denominator =
        attn_denominator_error(&call->bound, &row->bound, row->inflation * (spread / sum));
    /* Weights known to less than a factor of two say nothing about a result. */
    if (!(row->denominator < 0.5) || !(own->denominator < 0.25) || !(call->bound.dot < 0.65)) {
        row->state = ATTN_ROW_NO_RADIUS;
    }
}

void attn_own_quality_of(attn_own_quality *quality, const attn_model *arithmetic,
                         const attn_row_data *row, const attn_oracle_call *call) {
    attn_bound_problem(&quality->bound, arithmetic, call->normal);
    start_quality(quality, row);
    for (int64_t n = 0; n < row->count; n++) {
        if (row->score[n] != (double)-INFINITY) {
            double own = row->mean_of_all ? 0
                                          : attn_score_error(&quality->bound, &row->facts[n],
                                                             row->q_sum, row->own[n]);
            count_term(quality, row->score[n] - row->shift, row->exponent[n],
                       own_weight_error(quality, row->score[n], own), row->weight[n]);
        }
    }
    if (isfinite(row->sink)) {
        double x = row->sink - row->shift;
        count_term(quality, x, attn_exp(x), own_weight_error(quality, row->sink, 0), 0);
    }
    /* row->exponent stands for the exact one: twice covers its own error. */
    quality->part *= 2;
    quality->denominator =
        attn_denominator_error(&quality->bound, &quality->row, 2 * quality->denominator / row->sum);
}

double attn_own_output_error(const attn_own_quality *quality, const attn_row_data *row,
                             double value, double weighted) {
    return attn_output_error(&quality->bound, &quality->row, quality->denominator, value,
                             quality->part * weighted, row->v_sum) *
           (1 + 0x1p-20);
}

double attn_own_lse_error(const attn_own_quality *quality, double lse) {
    return attn_lse_error(&quality->bound, &quality->row, quality->denominator, lse, 0) *
           (1 + 0x1p-20);
}
