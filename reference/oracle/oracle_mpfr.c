/* SPDX-License-Identifier: Apache-2.0 */
/* The last word: a row with as many digits as it takes and no underflow. The one user of MPFR. */
#include <float.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "reference/oracle/oracle_row.h"
#include "reference/problem/convert.h"

typedef struct mpfr_row {
    attn_precise_row base;
    attn_model arithmetic;
    mpfr_t *exponent;
    mpfr_t sum, term, total, scratch;
    int64_t ready; /* exponents that were initialised */
} mpfr_row;

/* Centre = high + low, with what the two leave out. */
static void deliver(mpfr_row *self, mpfr_t value, double own, attn_enclosure *result) {
    result->high = mpfr_get_d(value, MPFR_RNDN);
    mpfr_sub_d(self->scratch, value, result->high, MPFR_RNDN);
    result->low = mpfr_get_d(self->scratch, MPFR_RNDN);
    double kept = mpfr_get_d(self->scratch, MPFR_RNDN);
    mpfr_sub_d(self->scratch, self->scratch, kept, MPFR_RNDN);
    result->own_error = own + fabs(mpfr_get_d(self->scratch, MPFR_RNDA));
    result->path = ATTN_PATH_MPFR;
}

static void score_of(mpfr_row *self, int64_t n, const double *k) {
    const attn_row_data *row = self->base.row;
    const attn_oracle_call *call = self->base.call;
    const attn_key_facts *facts = &row->facts[n];
    double softcap = call->bound.softcap;
    mpfr_set_zero(self->total, 1);
    if (isfinite(facts->linear)) {
        for (int64_t c = 0; c < call->normal->head_size; c++) {
            mpfr_set_d(self->term, row->q[c], MPFR_RNDN);
            mpfr_mul_d(self->term, self->term, k[c], MPFR_RNDN);
            mpfr_add(self->total, self->total, self->term, MPFR_RNDN);
        }
        mpfr_mul_d(self->total, self->total, call->normal->scale, MPFR_RNDN);
        if (softcap > 0) {
            mpfr_div_d(self->total, self->total, softcap, MPFR_RNDN);
            mpfr_tanh(self->total, self->total, MPFR_RNDN);
            mpfr_mul_d(self->total, self->total, softcap, MPFR_RNDN);
        }
    } else { /* only a softcap makes a finite score of it */
        mpfr_set_d(self->total, facts->linear < 0 ? -softcap : softcap, MPFR_RNDN);
    }
    mpfr_add_d(self->total, self->total, facts->mask, MPFR_RNDN);
    if (call->normal->features & ATTEST_ALIBI) {
        int64_t distance = row->i + row->offset - row->keys[n];
        mpfr_set_si(self->term, distance < 0 ? distance : -distance, MPFR_RNDN);
        mpfr_mul_d(self->term, self->term, row->slope, MPFR_RNDN);
        mpfr_add(self->total, self->total, self->term, MPFR_RNDN);
    }
}

static void mpfr_column(attn_precise_row *base, int64_t c, double weighted,
                        attn_enclosure *result) {
    mpfr_row *self = (mpfr_row *)base;
    const attn_row_data *row = base->row;
    const attest_tensor *v = &base->call->normal->problem->v;
    mpfr_set_zero(self->total, 1);
    for (int64_t n = 0; n < row->count; n++) {
        const int64_t index[ATTEST_MAX_RANK] = {row->b, row->kv_head, row->keys[n], c};
        double value = attn_load(v->dtype, attn_element(v, index));
        mpfr_mul_d(self->term, self->exponent[n], value, MPFR_RNDN);
        mpfr_add(self->total, self->total, self->term, MPFR_RNDN);
    }
    mpfr_div(self->total, self->total, self->sum, MPFR_RNDN);
    double size = fabs(mpfr_get_d(self->total, MPFR_RNDA));
    deliver(self, self->total, attn_own_output_error(&base->quality, row, size, weighted), result);
}

static void mpfr_lse(attn_precise_row *base, attn_enclosure *result) {
    mpfr_row *self = (mpfr_row *)base;
    mpfr_log(self->total, self->sum, MPFR_RNDN);
    mpfr_add_d(self->total, self->total, base->row->shift, MPFR_RNDN);
    double size = mpfr_get_d(self->total, MPFR_RNDA);
    deliver(self, self->total, attn_own_lse_error(&base->quality, size), result);
}

static void mpfr_release(attn_precise_row *base) {
    mpfr_row *self = (mpfr_row *)base;
    for (int64_t n = 0; n < self->ready; n++) {
        mpfr_clear(self->exponent[n]);
    }
    mpfr_clears(self->sum, self->term, self->total, self->scratch, (mpfr_ptr)NULL);
    free(self->exponent);
    free(self);
    mpfr_free_cache();
}

static attn_model arithmetic_of(int bits) {
    attn_format format = {ldexp(1, -bits), 0, DBL_MAX};
    return (attn_model){
        .name = "mpfr",
        .operand = {0, 0, DBL_MAX},
        .score = format,
        .weight = format,
        .sum = format,
        .scale_roundings = 1,
        .argument_roundings = 1,
        .exp_ulps = 1,
        .tanh_ulps = 1,
        .log_ulps = 1,
        .summation = ATTN_ANY_ORDER,
    };
}

attn_precise_row *attn_mpfr_row(const attn_row_data *row, const attn_oracle_call *call, int bits) {
    mpfr_row *self = calloc(1, sizeof *self);
    size_t count = row->count > 0 ? (size_t)row->count : 1;
    mpfr_t *exponent = calloc(count, sizeof *exponent);
    double *vectors = calloc(2 * (size_t)call->padded_d, sizeof *vectors);
    if (!self || !exponent || !vectors) {
        free(self);
        free(exponent);
        free(vectors);
        return NULL;
    }
    self->base = (attn_precise_row){
        .column = mpfr_column, .lse = mpfr_lse, .release = mpfr_release, .row = row, .call = call};
    self->exponent = exponent;
    self->arithmetic = arithmetic_of(bits);
    attn_own_quality_of(&self->base.quality, &self->arithmetic, row, call);
    mpfr_inits2(bits, self->sum, self->term, self->total, self->scratch, (mpfr_ptr)NULL);
    mpfr_set_zero(self->sum, 1);
    if (isfinite(row->sink)) {
        mpfr_set_d(self->sum, row->sink, MPFR_RNDN);
        mpfr_sub_d(self->sum, self->sum, row->shift, MPFR_RNDN);
        mpfr_exp(self->sum, self->sum, MPFR_RNDN);
    }
    for (; self->ready < row->count; self->ready++) {
        int64_t n = self->ready;
        mpfr_init2(exponent[n], bits);
        mpfr_set_zero(exponent[n], 1);
        if (row->score[n] == (double)-INFINITY) {
            continue;
        }
        mpfr_set_zero(self->total, 1);
        if (!row->mean_of_all) {
            attn_load_vector(&call->normal->problem->k, row->b, row->kv_head, row->keys[n],
                             call->padded_d, vectors, vectors + call->padded_d);
            score_of(self, n, vectors);
        }
        mpfr_sub_d(self->total, self->total, row->shift, MPFR_RNDN);
        mpfr_exp(exponent[n], self->total, MPFR_RNDN);
        mpfr_add(self->sum, self->sum, exponent[n], MPFR_RNDN);
    }
    free(vectors);
    return &self->base;
}
