/* SPDX-License-Identifier: Apache-2.0 */
/* From a weighed row to enclosures: what must be special, what has a radius, who needs digits. */
#include <float.h>
#include <math.h>

#include "reference/arithmetic/elementary.h"
#include "reference/oracle/oracle_finish.h"
#include "reference/oracle/wide.h"
#include "reference/problem/convert.h"

#define LAST_RESORT 0.25 /* own error in parts of the radius that the last path may leave */

static double value_at(const attn_row_data *row, const attn_oracle_call *call, int64_t n,
                       int64_t c) {
    const attest_tensor *v = &call->normal->problem->v;
    const int64_t index[ATTEST_MAX_RANK] = {row->b, row->kv_head, row->keys[n], c};
    return attn_load(v->dtype, attn_element(v, index));
}

/* A column that holds something that is not finite, or whose sums overflow binary64. */
static attn_kind special_column(const attn_row_data *row, const attn_oracle_call *call, int64_t c) {
    const attn_model *m = call->model;
    double floor = m->exp_floor > m->weight.eta ? m->exp_floor : m->weight.eta;
    floor = floor > m->sum.eta ? floor : m->sum.eta;
    int above = 0, below = 0, in_doubt = 0;
    double sum = 0, max = 0;
    for (int64_t n = 0; n < row->count; n++) {
        double v = value_at(row, call, n, c);
        if (isnan(v)) {
            return ATTN_NAN;
        }
        if (isinf(v)) {
            above |= v > 0;
            below |= v < 0;
            /* A weight that may round to 0 makes a NaN of an infinity. */
            in_doubt |= !(row->exponent[n] / row->sum > 1024 * floor);
        } else {
            sum += fabs(v);
            max = fabs(v) > max ? fabs(v) : max;
        }
    }
    if (!above && !below) {
        return ATTN_OUT_OF_DOMAIN;
    }
    /* So do finite values whose sum overflows with the other sign. */
    in_doubt |= above != below && !attn_values_in_domain(&call->bound, &row->bound, max, sum);
    if (above && below) {
        return in_doubt ? ATTN_NONFINITE : ATTN_NAN;
    }
    return in_doubt ? ATTN_NONFINITE : above ? ATTN_POS_INF : ATTN_NEG_INF;
}

/* The row's sums of |v| are over the largest of each key; a column's own may still be in domain. */
static int column_in_domain(const attn_row_data *row, const attn_oracle_call *call, int64_t c) {
    if (attn_values_in_domain(&call->bound, &row->bound, row->v_max, row->v_sum)) {
        return 1;
    }
    double sum = 0, max = 0;
    for (int64_t n = 0; n < row->count; n++) {
        double size = fabs(value_at(row, call, n, c));
        sum += size;
        max = size > max ? size : max;
    }
    return attn_values_in_domain(&call->bound, &row->bound, max, sum);
}

/* Calls `improve` with better and better arithmetic until the own error is small enough. */
typedef void improver(attn_precise_row *precise, int64_t c, double weighted,
                      attn_enclosure *result);

static int good_enough(const attn_enclosure *e, attn_path least, double part) {
    return (attn_path)e->path >= least && e->own_error <= part * e->radius;
}

static void escalate(const attn_row_data *row, const attn_oracle_call *call, attn_precise *precise,
                     improver *improve, int64_t c, double weighted, attn_enclosure *result) {
    if (!good_enough(result, call->least_path, ATTN_OWN_ERROR_PART)) {
        if (!precise->wide) {
            precise->wide = attn_wide_row(row, call);
        }
        if (precise->wide) {
            improve(precise->wide, c, weighted, result);
        }
    }
#ifndef ATTN_NO_MPFR
    static const int bits[ATTN_PRECISIONS] = {192, 448};
    for (int step = 0; step < ATTN_PRECISIONS; step++) {
        if (good_enough(result, call->least_path, ATTN_OWN_ERROR_PART)) {
            return;
        }
        if (!precise->mpfr[step]) {
            precise->mpfr[step] = attn_mpfr_row(row, call, bits[step]);
        }
        if (precise->mpfr[step]) {
            improve(precise->mpfr[step], c, weighted, result);
        }
    }
#endif
    if (!(result->own_error <= LAST_RESORT * result->radius)) {
        *result = (attn_enclosure){.kind = ATTN_NO_RADIUS, .path = result->path};
    }
}

void attn_precise_release(attn_precise *precise) {
    if (precise->wide) {
        precise->wide->release(precise->wide);
    }
    for (int step = 0; step < ATTN_PRECISIONS; step++) {
        if (precise->mpfr[step]) {
            precise->mpfr[step]->release(precise->mpfr[step]);
        }
    }
    *precise = (attn_precise){0};
}

static void improve_column(attn_precise_row *precise, int64_t c, double weighted,
                           attn_enclosure *result) {
    precise->column(precise, c, weighted, result);
}

static void regular_output(const attn_row_data *row, const attn_oracle_call *call,
                           attn_precise *precise, int64_t c, attn_enclosure *e) {
    double weighted = row->output_weight[c];
    if (!(weighted <= DBL_MAX)) {
        e->kind = (uint8_t)special_column(row, call, c);
        return;
    }
    if (!column_in_domain(row, call, c)) {
        e->kind = ATTN_OUT_OF_DOMAIN;
        return;
    }
    weighted = weighted / row->sum * row->inflation;
    e->high = row->output[c] / row->sum;
    e->own_error = attn_own_output_error(&row->own_quality, row, fabs(e->high), weighted);
    double size = fabs(e->high) + e->own_error;
    double radius =
        attn_output_error(&call->bound, &row->bound, row->denominator, size, weighted, row->v_sum);
    radius += attn_store_error(&call->model->sum, &call->o_format, size, radius);
    e->radius = radius * row->inflation + 0x1p-1073;
    if (!(size + e->radius <= call->o_format.max)) {
        *e = (attn_enclosure){.kind = ATTN_OUT_OF_DOMAIN};
        return;
    }
    escalate(row, call, precise, improve_column, c, weighted, e);
}

void attn_finish_output(const attn_row_data *row, const attn_oracle_call *call,
                        attn_precise *precise, int64_t c, attn_enclosure *e) {
    static const uint8_t empty_kind[] = {
        [ATTN_EMPTY_ZERO] = ATTN_FINITE,
        [ATTN_EMPTY_NAN] = ATTN_NAN,
        [ATTN_EMPTY_MEAN_OF_ALL] = ATTN_ANY, /* of no keys at all */
        [ATTN_EMPTY_UNSPECIFIED] = ATTN_ANY,
    };
    *e = (attn_enclosure){.kind = ATTN_FINITE};
    switch (row->state) {
    case ATTN_ROW_EMPTY: /* with a sink exactly 0, whatever the sink is */
        if (!row->has_sink) {
            e->kind = empty_kind[call->normal->profile.empty_row];
        }
        break;
    case ATTN_ROW_NAN:
    case ATTN_ROW_ABOVE:
    case ATTN_ROW_BELOW:
        e->kind = ATTN_NAN;
        break;
    case ATTN_ROW_OUT_OF_DOMAIN:
        e->kind = ATTN_OUT_OF_DOMAIN;
        break;
    case ATTN_ROW_NO_RADIUS:
        e->kind = ATTN_NO_RADIUS;
        break;
    default:
        regular_output(row, call, precise, c, e);
        break;
    }
}

/* log2(e) as a double-double. */
static const attn_wide LOG2_E = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};

static void in_base(const attn_oracle_call *call, attn_enclosure *e) {
    if (call->normal->profile.lse_base == ATTN_LSE_BASE_2) {
        attn_wide lse = attn_wide_multiply((attn_wide){e->high, e->low}, LOG2_E);
        e->high = lse.high;
        e->low = lse.low;
        e->own_error = 1.4427 * e->own_error + 0x1p-100 * fabs(lse.high) + ATTN_WIDE_ETA;
    }
}

static void improve_lse(attn_precise_row *precise, int64_t c, double weighted,
                        attn_enclosure *result) {
    (void)c;
    (void)weighted;
    precise->lse(precise, result);
    in_base(precise->call, result);
}

/* Radius in the profile's base, store included. */
static double stored_lse_radius(const attn_oracle_call *call, double natural, double value) {
    int base_2 = call->normal->profile.lse_base == ATTN_LSE_BASE_2;
    double radius = (base_2 ? 1.4427 : 1.0) * natural;
    radius += attn_store_error(&call->model->sum, &call->lse_format, value, radius);
    return radius * (1 + 0x1p-30) + 0x1p-1073;
}

static void sink_lse(const attn_row_data *row, const attn_oracle_call *call, attn_enclosure *e) {
    if (!isfinite(row->sink)) {
        e->kind = isnan(row->sink) ? ATTN_NAN : row->sink > 0 ? ATTN_POS_INF : ATTN_NEG_INF;
        return;
    }
    int base_2 = call->normal->profile.lse_base == ATTN_LSE_BASE_2;
    double error = attn_sink_error(&call->bound, row->sink);
    attn_row_bound bound;
    attn_bound_row(&call->bound, 0, 1, &bound);
    bound.max_high = row->sink + error;
    bound.max_low = row->sink - error;
    double weight = attn_weight_error(&call->bound, &bound, row->sink, error, 0, 0);
    double denominator =
        attn_denominator_error(&call->bound, &bound, attn_expm1_up(weight + bound.denominator));
    if (!(denominator < 0.5)) {
        e->kind = ATTN_NO_RADIUS;
        return;
    }
    e->high = row->sink;
    in_base(call, e);
    double natural = attn_lse_error(&call->bound, &bound, denominator, row->sink, base_2);
    e->radius = stored_lse_radius(call, natural, fabs(e->high));
}

static void empty_lse(const attn_row_data *row, const attn_oracle_call *call, attn_enclosure *e) {
    static const uint8_t empty_kind[] = {
        [ATTN_LSE_EMPTY_NEG_INF] = ATTN_NEG_INF,
        [ATTN_LSE_EMPTY_POS_INF] = ATTN_POS_INF,
        [ATTN_LSE_EMPTY_UNSPECIFIED] = ATTN_ANY,
    };
    if (row->has_sink) {
        sink_lse(row, call, e);
    } else {
        e->kind = empty_kind[call->normal->profile.lse_empty];
    }
}

static void regular_lse(const attn_row_data *row, const attn_oracle_call *call,
                        attn_precise *precise, attn_enclosure *e) {
    int base_2 = call->normal->profile.lse_base == ATTN_LSE_BASE_2;
    double lse = row->shift + attn_log(row->sum);
    e->high = lse;
    e->own_error = attn_own_lse_error(&row->own_quality, lse);
    /* The radius depends on lse itself only through relative errors, all far below a hundredth. */
    double natural = attn_lse_error(&call->bound, &row->bound, row->denominator, lse, base_2) +
                     0.01 * e->own_error;
    in_base(call, e);
    e->radius = stored_lse_radius(call, natural, fabs(e->high) + e->own_error);
    escalate(row, call, precise, improve_lse, 0, 0, e);
}

/* A sum that fits may have a logarithm that does not, in base 2. */
static void lse_in_domain(const attn_oracle_call *call, attn_enclosure *e) {
    if (e->kind == ATTN_FINITE && !(fabs(e->high) + e->radius <= call->lse_format.max)) {
        *e = (attn_enclosure){.kind = ATTN_OUT_OF_DOMAIN};
    }
}

void attn_finish_lse(const attn_row_data *row, const attn_oracle_call *call, attn_precise *precise,
                     attn_enclosure *e) {
    *e = (attn_enclosure){.kind = ATTN_FINITE};
    if (row->state == ATTN_ROW_EMPTY || row->mean_of_all) {
        empty_lse(row, call, e);
        lse_in_domain(call, e);
        return;
    }
    switch (row->state) {
    case ATTN_ROW_NAN:
        e->kind = ATTN_NAN;
        break;
    case ATTN_ROW_ABOVE:
        e->kind = ATTN_NAN_OR_POS_INF;
        break;
    case ATTN_ROW_BELOW:
        e->kind = ATTN_NAN_OR_NEG_INF;
        break;
    case ATTN_ROW_OUT_OF_DOMAIN:
        e->kind = ATTN_OUT_OF_DOMAIN;
        break;
    case ATTN_ROW_NO_RADIUS:
        e->kind = ATTN_NO_RADIUS;
        break;
    default:
        regular_lse(row, call, precise, e);
        lse_in_domain(call, e);
        break;
    }
}
