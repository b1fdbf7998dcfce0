/* SPDX-License-Identifier: Apache-2.0 */
/* A row in double-double: 100 bits, for columns whose terms cancel and for binary64 models. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "reference/oracle/oracle_row.h"
#include "reference/oracle/wide.h"
#include "reference/problem/convert.h"

typedef struct wide_row {
    attn_precise_row base;
    attn_wide *exponent; /* exp(score - shift), one a visible key */
    attn_wide sum;
} wide_row;

static const attn_model wide_model = {
    .name = "double-double",
    .operand = {0, 0, DBL_MAX}, /* inputs are taken as they are */
    .score = {ATTN_WIDE_U, ATTN_WIDE_ETA, DBL_MAX},
    .weight = {ATTN_WIDE_U, ATTN_WIDE_ETA, DBL_MAX},
    .sum = {ATTN_WIDE_U, ATTN_WIDE_ETA, DBL_MAX},
    .scale_roundings = 1,
    .argument_roundings = 1,
    .exp_ulps = ATTN_WIDE_FUNCTION_ULPS,
    .tanh_ulps = ATTN_WIDE_FUNCTION_ULPS,
    .log_ulps = ATTN_WIDE_FUNCTION_ULPS,
    .exp_floor = ATTN_WIDE_ETA,
    .summation = ATTN_ANY_ORDER,
};

static attn_wide integer_wide(int64_t n) {
    double high = (double)n;
    return attn_quick_sum(high, (double)(n - (int64_t)high));
}

static attn_wide score_of(const attn_row_data *row, const attn_oracle_call *call, int64_t n,
                          const double *k) {
    const attn_normal *normal = call->normal;
    const attn_key_facts *facts = &row->facts[n];
    attn_wide score = attn_wide_of(facts->linear);
    if (isfinite(facts->linear)) {
        attn_wide dot = attn_wide_of(0);
        for (int64_t c = 0; c < normal->head_size; c++) {
            dot = attn_wide_add(dot, attn_two_product(row->q[c], k[c]));
        }
        score = attn_wide_scale(dot, normal->scale);
    }
    if (call->bound.softcap > 0) {
        attn_wide cap = attn_wide_of(call->bound.softcap);
        attn_wide bent = attn_wide_of(facts->linear < 0 ? -1 : 1);
        if (isfinite(facts->linear)) {
            bent = attn_wide_tanh(attn_wide_divide(score, cap));
        }
        score = attn_wide_scale(bent, cap.high);
    }
    score = attn_wide_add(score, attn_wide_of(facts->mask));
    if (normal->features & ATTEST_ALIBI) {
        int64_t distance = row->i + row->offset - row->keys[n];
        attn_wide steps = integer_wide(distance < 0 ? distance : -distance);
        score = attn_wide_add(score, attn_wide_scale(steps, row->slope));
    }
    return score;
}

static void wide_column(attn_precise_row *self, int64_t c, double weighted,
                        attn_enclosure *result) {
    wide_row *wide = (wide_row *)self;
    const attn_row_data *row = self->row;
    const attest_tensor *v = &self->call->normal->problem->v;
    attn_wide sum = attn_wide_of(0);
    for (int64_t n = 0; n < row->count; n++) {
        const int64_t index[ATTEST_MAX_RANK] = {row->b, row->kv_head, row->keys[n], c};
        double value = attn_load(v->dtype, attn_element(v, index));
        sum = attn_wide_add(sum, attn_wide_scale(wide->exponent[n], value));
    }
    attn_wide o = attn_wide_divide(sum, wide->sum);
    result->high = o.high;
    result->low = o.low;
    result->own_error = attn_own_output_error(&self->quality, row, fabs(o.high), weighted);
    result->path = ATTN_PATH_DOUBLE_DOUBLE;
}

static void wide_lse(attn_precise_row *self, attn_enclosure *result) {
    wide_row *wide = (wide_row *)self;
    attn_wide lse = attn_wide_add(attn_wide_of(self->row->shift), attn_wide_log(wide->sum));
    result->high = lse.high;
    result->low = lse.low;
    result->own_error = attn_own_lse_error(&self->quality, lse.high) + 0x1p-97;
    result->path = ATTN_PATH_DOUBLE_DOUBLE;
}

static void wide_release(attn_precise_row *self) {
    free(((wide_row *)self)->exponent);
    free(self);
}

attn_precise_row *attn_wide_row(const attn_row_data *row, const attn_oracle_call *call) {
    wide_row *wide = calloc(1, sizeof *wide);
    size_t count = row->count > 0 ? (size_t)row->count : 1;
    attn_wide *exponent = calloc(count, sizeof *exponent);
    double *vectors = calloc(2 * (size_t)call->padded_d, sizeof *vectors);
    if (!wide || !exponent || !vectors) {
        free(wide);
        free(exponent);
        free(vectors);
        return NULL;
    }
    wide->base = (attn_precise_row){
        .column = wide_column, .lse = wide_lse, .release = wide_release, .row = row, .call = call};
    wide->exponent = exponent;
    attn_own_quality_of(&wide->base.quality, &wide_model, row, call);
    attn_wide shift = attn_wide_of(-row->shift);
    if (isfinite(row->sink)) {
        wide->sum = attn_wide_exp(attn_wide_add(attn_wide_of(row->sink), shift));
    }
    for (int64_t n = 0; n < row->count; n++) {
        if (row->score[n] == (double)-INFINITY) {
            continue;
        }
        attn_wide score = attn_wide_of(0);
        if (!row->mean_of_all) {
            attn_load_vector(&call->normal->problem->k, row->b, row->kv_head, row->keys[n],
                             call->padded_d, vectors, vectors + call->padded_d);
            score = score_of(row, call, n, vectors);
        }
        exponent[n] = attn_wide_exp(attn_wide_add(score, shift));
        wide->sum = attn_wide_add(wide->sum, exponent[n]);
    }
    free(vectors);
    return &wide->base;
}
