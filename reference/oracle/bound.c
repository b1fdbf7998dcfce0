/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/oracle/bound.h"

#include <math.h>

#include "reference/arithmetic/elementary.h"

/* Logarithm of one rounding: |log(1 + d)| <= u / (1 - u) for |d| <= u. */
static double log_rounding(double u) { return u / (1 - u); }

/* An ulp of y is at most 2u|y|. */
static double log_ulps(double ulps, double u) { return log_rounding(2 * ulps * u); }

double attn_exp_up(double x) { return attn_exp(x) * (1 + 0x1p-50) + 0x1p-1074; }

double attn_expm1_up(double x) {
    if (x < 0.5) {
        return x * (1 + 0.6 * x); /* x^2/2 + x^3/6 + ... <= 0.6 x^2 for x < 1/2 */
    }
    return attn_exp_up(x) - 1;
}

/* Every number of `from` is one of `to`, apart from the largest. */
static int fits(const attn_format *from, const attn_format *to) {
    return from->u >= to->u && from->eta >= to->eta;
}

static int must_round(attest_dtype dtype, const attn_format *to) {
    attn_format from = attn_format_of(dtype);
    return dtype != 0 && !fits(&from, to);
}

static double has(uint32_t set, uint32_t bit) { return (set & bit) != 0 ? 1.0 : 0.0; }

void attn_bound_problem(attn_bound *bound, const attn_model *m, const attn_normal *normal) {
    const attest_problem *p = normal->problem;
    double one = log_rounding(m->score.u), narrow = log_rounding(m->operand.u);
    double eta = m->score.eta, operand_eta = m->operand.eta;
    double d = (double)normal->head_size, scale = fabs(normal->scale);
    double round_q = must_round(p->q.dtype, &m->operand);
    double round_k = must_round(p->k.dtype, &m->operand);
    double additions = 0;
    additions += (normal->features & ATTEST_MASK_ADD) ? 1 : 0;
    additions += (normal->features & ATTEST_ALIBI) ? 1 : 0;
    double narrow_score = has(m->narrow, ATTN_NARROW_SCORE);

    double dot_log =
        one * (1 + attn_depth(m, normal->head_size) + m->scale_roundings + m->score_roundings) +
        narrow * (round_q + round_k + has(m->narrow, ATTN_NARROW_SCALE) +
                  has(m->narrow, ATTN_NARROW_SCALED_Q) + narrow_score);
    double finish_log = one * (additions + m->score_roundings) + narrow * narrow_score;
    double softcap = (normal->features & ATTEST_SOFTCAP) ? p->softcap : 0;
    *bound = (attn_bound){
        .model = m,
        .scale = scale,
        .softcap = softcap,
        .dot = attn_expm1_up(dot_log),
        /* The factor 2 pays for the relative errors that follow an absolute one. */
        .dot_tiny = 2 * (2 * d * eta * (1 + scale) + 3 * (eta + operand_eta)),
        .k_tiny = 2 * (eta + operand_eta) * (1 + scale),
        .q_tiny = 2 * (eta + operand_eta) * (1 + scale),
        .raw_tiny = 2 * (eta + has(m->narrow, ATTN_NARROW_SCALE) * operand_eta),
        .ratio = attn_expm1_up(3 * one),
        .cap = attn_expm1_up(2 * one + log_ulps(m->tanh_ulps, m->score.u)),
        .cap_tiny = 4 * eta * (1 + softcap),
        .mask = attn_expm1_up(one * must_round(p->mask.dtype, &m->score)),
        .alibi = attn_expm1_up(3 * one + 2 * narrow * has(m->narrow, ATTN_NARROW_ALIBI)),
        .finish = attn_expm1_up(finish_log),
        .alibi_tiny = (normal->features & ATTEST_ALIBI) ? 2 * eta : 0, /* of the slope */
        .finish_tiny = 8 * (eta + (narrow_score + has(m->narrow, ATTN_NARROW_ALIBI)) * operand_eta),
        .sink = attn_expm1_up(
            one * ((double)must_round(p->sinks.dtype, &m->score) + m->score_roundings) +
            narrow * narrow_score),
        .sink_tiny = 4 * (eta + narrow_score * operand_eta),
        .argument = attn_expm1_up(m->argument_roundings * one),
        .shift = m->shift_roundings * one,
        .round_q = round_q,
        .round_k = round_k,
        .round_v = must_round(p->v.dtype, &m->operand),
        .log2_factor = m->score_roundings ? 1.4426950408889636 : 1.0,
    };
}

/*
 * Through softcap * tanh(x / softcap): the slope is sech^2 at the nearer end of what x may be, and
 * z sech^2(z) < 0.4477 bounds the effect of a relative error of the ratio.
 */
static double bent_error(const attn_bound *k, const attn_key_facts *facts, double error,
                         double slop) {
    double x = fabs(facts->linear) + slop + error, near = fabs(facts->linear) - slop - error;
    double t = near > 0 ? attn_tanh(near / k->softcap * (1 - 0x1p-50)) * (1 - 0x1p-50) : 0;
    double slope = (1 - t) * (1 + t) + 0x1p-50;
    double moved = slope * error < 2 * k->softcap ? slope * error : 2 * k->softcap;
    double reach = x < 0.45 * k->softcap ? x : 0.45 * k->softcap;
    moved += reach * k->ratio / (1 - k->ratio);
    return moved + (fabs(facts->bent) + slop + moved) * k->cap + k->cap_tiny;
}

double attn_score_error(const attn_bound *k, const attn_key_facts *facts, double q_sum,
                        double slop) {
    double error = k->dot * k->scale * facts->raw + k->dot_tiny + k->k_tiny * facts->k_sum +
                   k->q_tiny * q_sum + k->raw_tiny * facts->raw;
    if (k->softcap > 0) {
        error = bent_error(k, facts, error, slop);
    }
    double mask = fabs(facts->mask), alibi = fabs(facts->alibi);
    error += mask * k->mask + alibi * k->alibi + facts->distance * k->alibi_tiny;
    double parts = fabs(facts->bent) + slop + mask + alibi + error;
    return (error + parts * k->finish + k->finish_tiny) * (1 + 0x1p-20);
}

double attn_sink_error(const attn_bound *k, double sink) {
    return fabs(sink) * k->sink + k->sink_tiny;
}

int attn_infinite_in_domain(const attn_bound *k, double q, double key) {
    const double least = 2 * (k->model->score.eta + k->model->operand.eta);
    const double factor = isinf(q) ? key : q;
    const double scaled = isinf(q) || k->scale > 1 ? factor : factor * k->scale;
    return isnan(factor) || factor == 0 || k->scale == 0 || (scaled > least && k->scale > least);
}

int attn_score_in_domain(const attn_bound *k, const attn_key_facts *facts, double q_max,
                         double error) {
    const attn_model *m = k->model;
    double wide = k->scale > 1 ? k->scale : 1;
    double bias = fabs(facts->mask) + fabs(facts->alibi);
    double dot = 2 * wide * facts->raw, scaled_q = 2 * k->scale * q_max;
    double score = (fabs(facts->bent) + bias + error) * k->log2_factor;
    int fine = dot <= m->score.max && scaled_q <= m->score.max && k->scale <= m->score.max / 2 &&
               score <= m->score.max;
    fine = fine && (k->round_q == 0 || q_max <= m->operand.max) &&
           (k->round_k == 0 || facts->k_max <= m->operand.max);
    if (m->narrow & ATTN_NARROW_SCALED_Q) {
        fine = fine && scaled_q <= m->operand.max;
    }
    if (m->narrow & ATTN_NARROW_SCORE) {
        fine = fine && dot <= m->operand.max && score <= m->operand.max;
    }
    if (k->softcap > 0) { /* it must be a normal number, and the ratio must not overflow */
        fine = fine && k->softcap * m->score.u >= m->score.eta && k->softcap <= m->score.max / 2 &&
               dot / k->softcap <= m->score.max;
    }
    double promised = fabs(facts->linear) + bias;
    return fine && (m->max_abs_score == 0 || promised <= m->max_abs_score);
}

void attn_bound_row(const attn_bound *k, int64_t keys, int has_sink, attn_row_bound *row) {
    const attn_model *m = k->model;
    int64_t terms = keys + (has_sink ? 1 : 0);
    double weight = log_rounding(m->weight.u), sum = log_rounding(m->sum.u);
    double rescales = 0;
    if (m->rescale_tile > 0 && terms > 0) {
        rescales = (double)((terms + m->rescale_tile - 1) / m->rescale_tile - 1);
    }
    row->terms = (double)terms;
    row->rescales = rescales;
    row->exponent = log_ulps(m->exp_ulps, m->score.u) + m->score.eta;
    row->rescale = row->exponent + sum;
    row->numerator =
        weight + k->round_v * log_rounding(m->operand.u) + sum * (1 + attn_depth(m, keys));
    row->denominator = weight + sum * attn_depth(m, terms);
}

double attn_weight_error(const attn_bound *k, const attn_row_bound *row, double score, double error,
                         double slop, double larger) {
    const attn_model *m = k->model;
    double slack = m->rescale_slack;
    double rescales = larger < row->rescales ? larger : row->rescales;
    double gap = row->max_high - score + error + slop + 2 * slack;
    double shift = fabs(score) + error + slop + slack;
    shift = shift > fabs(row->max_high) ? shift : fabs(row->max_high);
    shift = shift > fabs(row->max_low) ? shift : fabs(row->max_low);
    return (error + gap * k->argument + shift * k->shift + row->exponent +
            rescales * row->rescale) *
           (1 + 0x1p-20);
}

/* A weight in units of the maximum that a kernel shifts by; their sum is at least 1/2. */
static double largest_weight(const attn_model *m) { return attn_exp_up(m->rescale_slack); }

/* The same before the last maximum is known: one that is scaled apart may be off by a share of it,
 * and any score may be the maximum for a while. */
static double passing_weight(const attn_bound *k, const attn_row_bound *row) {
    double off = k->shift > 0 ? attn_exp_up(k->shift * row->largest) : 1;
    return 2 * largest_weight(k->model) * off;
}

int attn_weights_in_domain(const attn_bound *k, const attn_row_bound *row) {
    double weight = passing_weight(k, row);
    return weight <= k->model->weight.max && weight * row->terms <= k->model->sum.max;
}

int attn_values_in_domain(const attn_bound *k, const attn_row_bound *row, double v_max,
                          double v_sum) {
    const attn_model *m = k->model;
    return attn_weights_in_domain(k, row) && passing_weight(k, row) * v_sum <= m->sum.max &&
           (k->round_v == 0 || v_max <= m->operand.max);
}

double attn_denominator_error(const attn_bound *k, const attn_row_bound *row, double weighted) {
    const attn_model *m = k->model;
    double lost = (1 + row->rescales) * m->exp_floor + m->weight.eta + 2 * m->sum.eta;
    return weighted + 4 * largest_weight(m) * row->terms * lost;
}

double attn_output_error(const attn_bound *k, const attn_row_bound *row, double denominator,
                         double value, double weighted, double v_sum) {
    const attn_model *m = k->model;
    double lost = ((1 + row->rescales) * m->exp_floor + m->weight.eta) * v_sum +
                  row->terms * (3 * m->sum.eta + k->round_v * m->operand.eta);
    double numerator = weighted + 4 * largest_weight(m) * lost;
    double division = 2 * log_rounding(m->sum.u) + 4 * m->sum.eta * row->terms * largest_weight(m);
    double factor = denominator / (1 - denominator); /* exact / computed - 1 */
    double grown = attn_expm1_up(division);
    double spread = factor + grown + factor * grown;
    return numerator * (1 + spread) + value * spread + m->sum.eta;
}

double attn_lse_error(const attn_bound *k, const attn_row_bound *row, double denominator,
                      double lse, int base_2) {
    const attn_model *m = k->model;
    double coarse = m->sum.u > m->score.u ? m->sum.u : m->score.u;
    double roundings = 1 + (double)m->score_roundings + (base_2 ? 2 : 0);
    double moved = denominator + denominator * denominator; /* >= -log(1 - E) for E <= 1/2 */
    double high = fabs(lse - row->max_high), low = fabs(lse - row->max_low) + m->rescale_slack;
    double logarithm = (high > low ? high : low) + moved;
    double shift_high = fabs(row->max_high), shift_low = fabs(row->max_low) + m->rescale_slack;
    double shift = shift_high > shift_low ? shift_high : shift_low;
    double log_error = logarithm * attn_expm1_up(log_ulps(m->log_ulps, m->sum.u)) + m->sum.eta;
    double parts = shift + logarithm + log_error;
    return moved + log_error + parts * attn_expm1_up(roundings * log_rounding(coarse)) +
           2 * m->sum.eta;
}

double attn_store_error(const attn_format *from, const attn_format *to, double value,
                        double radius) {
    return fits(from, to) ? 0 : to->u * (value + radius) + to->eta;
}
