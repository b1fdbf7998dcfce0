/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binary64 path's two passes: K once and V once for a few rows of a head at a time, so that a
 * key is widened once for all of them. A key that only some of the rows see touches only those.
 */
#include <float.h>
#include <math.h>

#include "reference/oracle/oracle_row.h"

typedef attn_lanes lanes;

#define GROUP 4 /* keys of V taken together, so that an accumulator is loaded once for four */

static double add_lanes(const double *x) {
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

ATTN_WIDE_REGISTERS
static void dot_both(const double *q, const double *k, const double *q_abs, const double *k_abs,
                     int64_t padded, double *dot, double *magnitude) {
    lanes sum = {0}, size = {0};
    for (int64_t c = 0; c < padded; c += ATTN_LANES) {
        sum += *(const lanes *)(q + c) * *(const lanes *)(k + c);
        size += *(const lanes *)(q_abs + c) * *(const lanes *)(k_abs + c);
    }
    *dot = add_lanes((const double *)&sum);
    *magnitude = add_lanes((const double *)&size);
}

/*
 * Beside an infinity the finite products still count: where their sum may overflow in the model, it
 * may meet the infinity with the other sign, and the score is out of the domain (raw = inf). So
 * may what it is multiplied by, if that rounds to 0.
 */
static double raw_beside_special(const attn_row_data *row, const attn_oracle_call *call,
                                 const attn_key_facts *facts, const double *k_abs) {
    attn_key_facts finite = {.k_sum = facts->k_sum, .k_max = facts->k_max};
    int vanish = 0;
    for (int64_t c = 0; c < call->normal->head_size; c++) {
        if (isfinite(row->q_abs[c]) && isfinite(k_abs[c])) {
            finite.raw += row->q_abs[c] * k_abs[c];
        } else {
            vanish |= !attn_infinite_in_domain(&call->bound, row->q_abs[c], k_abs[c]);
        }
    }
    int fine = attn_score_in_domain(&call->bound, &finite, row->q_max, 0);
    return fine && !vanish ? 0 : (double)INFINITY;
}

static int seen_by_any(const attn_row_block *block, int64_t j) {
    for (int r = 0; r < block->count; r++) {
        if (block->rows[r].visible[j]) {
            return 1;
        }
    }
    return 0;
}

void attn_block_scores(attn_row_block *block, const attn_oracle_call *call) {
    const attn_normal *normal = call->normal;
    const attn_row_data *first = &block->rows[0];
    double *k = block->vectors, *k_abs = k + call->padded_d;
    int64_t position[ATTN_BLOCK_ROWS] = {0};
    for (int64_t j = 0; j < normal->keys; j++) {
        if (!seen_by_any(block, j)) {
            continue;
        }
        attn_vector_facts key = attn_load_vector(&normal->problem->k, first->b, first->kv_head, j,
                                                 call->padded_d, k, k_abs);
        for (int r = 0; r < block->count; r++) {
            attn_row_data *row = &block->rows[r];
            if (!row->visible[j]) {
                continue;
            }
            attn_key_facts *facts = &row->facts[position[r]++];
            *facts = (attn_key_facts){.k_sum = key.sum, .k_max = key.max};
            if (row->mean_of_all) {
                *facts = (attn_key_facts){0}; /* its score is 0 by decree: no k takes part */
            } else if (row->q_special || key.special) {
                facts->linear = normal->scale * attn_special_dot(row->q, k, normal->head_size);
                /* A NaN stays one, whatever overflows or vanishes beside it. */
                facts->raw = isnan(facts->linear) ? 0 : raw_beside_special(row, call, facts, k_abs);
            } else {
                double dot;
                dot_both(row->q, k, row->q_abs, k_abs, call->padded_d, &dot, &facts->raw);
                facts->linear = normal->scale * dot;
            }
        }
    }
}

ATTN_WIDE_REGISTERS
static void accumulate(attn_row_data *row, const double *v, const double *v_abs, int64_t padded,
                       double exponent, double weight) {
    for (int64_t c = 0; c < padded; c += ATTN_LANES) {
        *(lanes *)(row->output + c) += exponent * *(const lanes *)(v + c);
        *(lanes *)(row->output_weight + c) += weight * *(const lanes *)(v_abs + c);
    }
}

ATTN_WIDE_REGISTERS
static void accumulate_group(attn_row_data *row, const double *v, const double *v_abs,
                             int64_t padded, const double *e, const double *w) {
    for (int64_t c = 0; c < padded; c += ATTN_LANES) {
        const double *x = v + c, *y = v_abs + c;
        *(lanes *)(row->output + c) +=
            (e[0] * *(const lanes *)x + e[1] * *(const lanes *)(x + padded)) +
            (e[2] * *(const lanes *)(x + 2 * padded) + e[3] * *(const lanes *)(x + 3 * padded));
        *(lanes *)(row->output_weight + c) +=
            (w[0] * *(const lanes *)y + w[1] * *(const lanes *)(y + padded)) +
            (w[2] * *(const lanes *)(y + 2 * padded) + w[3] * *(const lanes *)(y + 3 * padded));
    }
}

void attn_block_outputs(attn_row_block *block, const attn_oracle_call *call) {
    const attn_normal *normal = call->normal;
    const attn_row_data *first = &block->rows[0];
    int64_t padded = call->padded_dv, position[ATTN_BLOCK_ROWS] = {0};
    double *v = block->vectors, *v_abs = v + GROUP * padded;
    attn_vector_facts facts[GROUP];
    for (int64_t start = 0; start < normal->keys; start += GROUP) {
        int64_t in_group = normal->keys - start < GROUP ? normal->keys - start : GROUP;
        for (int64_t g = 0; g < in_group; g++) {
            if (seen_by_any(block, start + g)) {
                facts[g] = attn_load_vector(&normal->problem->v, first->b, first->kv_head,
                                            start + g, padded, v + g * padded, v_abs + g * padded);
            }
        }
        for (int r = 0; r < block->count; r++) {
            attn_row_data *row = &block->rows[r];
            const double *e = row->exponent + position[r], *w = row->weight + position[r];
            int seen = 0;
            for (int64_t g = 0; g < in_group; g++) {
                if (row->visible[start + g]) {
                    row->v_sum += facts[g].max;
                    row->v_max = facts[g].max > row->v_max ? facts[g].max : row->v_max;
                    seen++;
                }
            }
            position[r] += seen;
            if (row->state != ATTN_ROW_REGULAR) {
                continue;
            }
            if (seen == GROUP) {
                accumulate_group(row, v, v_abs, padded, e, w);
                continue;
            }
            for (int64_t g = 0; g < in_group; g++) {
                if (row->visible[start + g]) {
                    accumulate(row, v + g * padded, v_abs + g * padded, padded, *e++, *w++);
                }
            }
        }
    }
}
