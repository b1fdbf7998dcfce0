/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/oracle/oracle_row.h"
#include "reference/problem/convert.h"

static void *array(int64_t count, size_t bytes) {
    size_t n = count > 0 ? (size_t)count : 1;
    return calloc(n, bytes);
}

int attn_row_reserve(attn_row_data *row, const attn_oracle_call *call) {
    int64_t n = call->normal->keys;
    *row = (attn_row_data){
        .visible = array(n, 1),
        .keys = array(n, sizeof *row->keys),
        .facts = array(n, sizeof *row->facts),
        .score = array(n, sizeof(double)),
        .own = array(n, sizeof(double)),
        .exponent = array(n, sizeof(double)),
        .weight = array(n, sizeof(double)),
        .q = array(call->padded_d, sizeof(double)),
        .q_abs = array(call->padded_d, sizeof(double)),
        .output = array(call->padded_dv, sizeof(double)),
        .output_weight = array(call->padded_dv, sizeof(double)),
    };
    return row->visible && row->keys && row->facts && row->score && row->own && row->exponent &&
           row->weight && row->q && row->q_abs && row->output && row->output_weight;
}

void attn_row_release(attn_row_data *row) {
    free(row->visible);
    free(row->keys);
    free(row->facts);
    free(row->score);
    free(row->own);
    free(row->exponent);
    free(row->weight);
    free(row->q);
    free(row->q_abs);
    free(row->output);
    free(row->output_weight);
}

static void widen(const attest_tensor *tensor, const void *start, double *values) {
    int64_t count = tensor->shape[3], stride = tensor->stride[3];
    if (tensor->dtype == ATTEST_F32 && stride == 1) {
        const float *source = start;
        for (int64_t c = 0; c < count; c++) {
            values[c] = (double)source[c];
        }
    } else if (tensor->dtype == ATTEST_F64 && stride == 1) {
        memcpy(values, start, (size_t)count * sizeof(double));
    } else {
        int64_t step = stride * attn_dtype_bytes(tensor->dtype);
        for (int64_t c = 0; c < count; c++) {
            values[c] = attn_load(tensor->dtype, (const char *)start + c * step);
        }
    }
}

/* Magnitudes, their sum and the largest; a NaN or an infinity shows in the sum. */
ATTN_WIDE_REGISTERS
static void measure(const double *values, int64_t padded, double *magnitudes,
                    double sums[ATTN_LANES], double largest[ATTN_LANES]) {
    attn_lanes sum = {0}, max = {0};
    for (int64_t c = 0; c < padded; c += ATTN_LANES) {
        attn_lane_bits size_bits = *(const attn_lane_bits *)(values + c) & INT64_MAX;
        attn_lanes size = (attn_lanes)size_bits;
        attn_lane_bits larger = (attn_lane_bits)(size > max);
        *(attn_lanes *)(magnitudes + c) = size;
        sum += size;
        max = (attn_lanes)((larger & size_bits) | (~larger & (attn_lane_bits)max));
    }
    memcpy(sums, &sum, sizeof sum);
    memcpy(largest, &max, sizeof max);
}

/* The same where something is not finite, or finite magnitudes overflow. */
static attn_vector_facts measure_special(const double *magnitudes, int64_t padded) {
    attn_vector_facts facts = {0, 0, 0};
    for (int64_t c = 0; c < padded; c++) {
        int finite = magnitudes[c] <= DBL_MAX;
        facts.special |= !finite;
        facts.max = finite && magnitudes[c] > facts.max ? magnitudes[c] : facts.max;
    }
    facts.sum = facts.special ? 0 : DBL_MAX;
    return facts;
}

attn_vector_facts attn_load_vector(const attest_tensor *tensor, int64_t b, int64_t h, int64_t s,
                                   int64_t padded, double *values, double *magnitudes) {
    const int64_t index[ATTEST_MAX_RANK] = {b, h, s, 0};
    attn_vector_facts facts = {0, 0, 0};
    if (tensor->shape[3] > 0) {
        widen(tensor, attn_element(tensor, index), values);
    }
    for (int64_t c = tensor->shape[3]; c < padded; c++) {
        values[c] = 0;
    }
    double sums[ATTN_LANES], largest[ATTN_LANES];
    measure(values, padded, magnitudes, sums, largest);
    for (int lane = 0; lane < ATTN_LANES; lane++) {
        facts.sum += sums[lane];
        facts.max = largest[lane] > facts.max ? largest[lane] : facts.max;
    }
    return facts.sum <= DBL_MAX ? facts : measure_special(magnitudes, padded);
}

double attn_special_dot(const double *q, const double *k, int64_t d) {
    int above = 0, below = 0;
    for (int64_t c = 0; c < d; c++) {
        if (!isfinite(q[c]) || !isfinite(k[c])) {
            double product = q[c] * k[c]; /* 0 * inf is a NaN here as anywhere */
            if (isnan(product)) {
                return NAN;
            }
            above |= product > 0;
            below |= product < 0;
        }
    }
    return above && below ? (double)NAN : above ? (double)INFINITY : (double)-INFINITY;
}

static double element(const attest_tensor *tensor, int64_t a, int64_t b) {
    const int64_t index[ATTEST_MAX_RANK] = {a, b, 0, 0};
    return attn_load(tensor->dtype, attn_element(tensor, index));
}

void attn_row_open(attn_row_data *row, const attn_oracle_call *call, int64_t b, int64_t h,
                   int64_t i) {
    const attn_normal *normal = call->normal;
    const attest_problem *p = normal->problem;
    row->b = b;
    row->h = h;
    row->i = i;
    row->kv_head = attn_kv_head(normal, h);
    row->offset = attn_offset(normal, b);
    row->has_sink = (normal->features & ATTEST_SINKS) != 0;
    row->sink = row->has_sink ? element(&p->sinks, h, 0) : (double)-INFINITY;
    row->slope = 0;
    if (normal->features & ATTEST_ALIBI) {
        row->slope = p->slopes.rank == 2 ? element(&p->slopes, b, h) : element(&p->slopes, h, 0);
    }
    row->mean_of_all = 0;
    row->state = ATTN_ROW_REGULAR;
    int64_t seen = attn_visible_keys(normal, b, h, i, row->visible);
    if (seen == 0 && !row->has_sink && normal->profile.empty_row == ATTN_EMPTY_MEAN_OF_ALL &&
        normal->keys > 0) {
        memset(row->visible, 1, (size_t)normal->keys);
        row->mean_of_all = 1;
    } else if (seen == 0) {
        row->state = ATTN_ROW_EMPTY;
    }
    row->count = 0;
    for (int64_t j = 0; j < normal->keys; j++) {
        if (row->visible[j]) {
            row->keys[row->count++] = j;
        }
    }
    attn_vector_facts q = attn_load_vector(&p->q, b, h, i, call->padded_d, row->q, row->q_abs);
    row->q_sum = q.sum;
    row->q_max = q.max;
    row->q_special = q.special;
    row->v_sum = row->v_max = 0;
    memset(row->output, 0, (size_t)call->padded_dv * sizeof(double));
    memset(row->output_weight, 0, (size_t)call->padded_dv * sizeof(double));
}
