/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reference/oracle/oracle_gsl_view.h"

#include <gsl/gsl_math.h>
#include <string.h>

/* A word of `bits` exponent bits and 15 - bits fraction bits. */
static double from_word(uint16_t word, int bits) {
    int fraction_bits = 15 - bits, bias = (1 << (bits - 1)) - 1;
    int exponent = word >> fraction_bits & ((1 << bits) - 1);
    double fraction = word & ((1 << fraction_bits) - 1);
    double sign = word >> 15 ? -1 : 1;
    if (exponent == (1 << bits) - 1) {
        return fraction > 0 ? GSL_NAN : sign * GSL_POSINF;
    }
    double significand = ldexp(fraction, -fraction_bits) + (exponent > 0 ? 1 : 0);
    return sign * ldexp(significand, (exponent > 0 ? exponent : 1) - bias);
}

static double number_at(const attest_tensor *tensor, int64_t position) {
    switch (tensor->dtype) {
    case ATTEST_F64:
        return ((const double *)tensor->data)[position];
    case ATTEST_F32:
        return (double)((const float *)tensor->data)[position];
    case ATTEST_F16:
        return from_word(((const uint16_t *)tensor->data)[position], 5);
    case ATTEST_BF16:
        return from_word(((const uint16_t *)tensor->data)[position], 8);
    default:
        return GSL_NAN;
    }
}

static int64_t integer_at(const attest_tensor *tensor, int64_t b) {
    return ((const int64_t *)tensor->data)[b * tensor->stride[0]];
}

void attn_gsl_resolve(attn_gsl_view *view, const attest_problem *p, const attn_profile *profile) {
    uint64_t f = p->features;
    int masked = (f & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) != 0, causal = (f & ATTEST_CAUSAL) != 0;
    *view = (attn_gsl_view){
        .problem = p,
        .profile = profile,
        .scale = f & ATTEST_SCALE                               ? p->scale
                 : profile->default_scale == ATTN_SCALE_RSQRT_D ? 1 / sqrt((double)p->q.shape[3])
                                                                : 1,
        .softcap = f & ATTEST_SOFTCAP ? p->softcap : 0,
        .left = -1,
        .right = -1,
        .masked = masked && !(causal && profile->mask_with_causal == ATTN_MASK_IGNORED),
        .causal = causal && !(masked && profile->mask_with_causal == ATTN_CAUSAL_IGNORED),
        .has_sinks = (f & ATTEST_SINKS) != 0,
        .has_alibi = (f & ATTEST_ALIBI) != 0,
        .base_2 = profile->lse_base == ATTN_LSE_BASE_2,
    };
    if (f & ATTEST_WINDOW) {
        view->left = p->window_left;
        view->right = p->window_right;
    }
    if (f & ATTEST_WINDOW_SIZE) {
        view->left = p->window_size - (profile->window_form == ATTN_WINDOW_W_KEYS ? 1 : 0);
        view->right = profile->window_form == ATTN_WINDOW_BOTH_W ? p->window_size : -1;
    }
    for (uint32_t axis = 0; axis < p->mask.rank; axis++) {
        view->mask_stride[4 - p->mask.rank + axis] =
            p->mask.shape[axis] == 1 ? 0 : p->mask.stride[axis];
    }
}

static void load_rows(const attest_tensor *tensor, int64_t b, int64_t h, gsl_matrix *rows) {
    gsl_matrix_set_zero(rows);
    for (int64_t s = 0; s < tensor->shape[2]; s++) {
        for (int64_t c = 0; c < tensor->shape[3]; c++) {
            int64_t position = b * tensor->stride[0] + h * tensor->stride[1] +
                               s * tensor->stride[2] + c * tensor->stride[3];
            gsl_matrix_set(rows, (size_t)s, (size_t)c, number_at(tensor, position));
        }
    }
}

void attn_gsl_load(const attn_gsl_view *view, int64_t b, int64_t h, gsl_matrix *q, gsl_matrix *k,
                   gsl_matrix *v) {
    const attest_problem *p = view->problem;
    int64_t kv_heads = p->k.shape[1], group = p->q.shape[1] / kv_heads;
    int tiled = view->profile->gqa_order == ATTN_GQA_TILED;
    int64_t kv = tiled ? h - h / kv_heads * kv_heads : h / group;
    load_rows(&p->q, b, h, q);
    load_rows(&p->k, b, kv, k);
    load_rows(&p->v, b, kv, v);
}

double attn_gsl_sink(const attn_gsl_view *view, int64_t h) {
    return number_at(&view->problem->sinks, h * view->problem->sinks.stride[0]);
}

/* Everything about a pair that follows from `ahead` = (position of the query) - (key). */
static int band_shows(const attn_gsl_view *view, int64_t ahead) {
    if (view->causal && ahead < 0) {
        return 0;
    }
    if (view->left >= 0 && ahead > view->left) {
        return 0;
    }
    return !(view->right >= 0 && -ahead > view->right);
}

static int64_t first_position(const attn_gsl_view *view, int64_t b, int64_t length) {
    const attest_problem *p = view->problem;
    if (p->features & ATTEST_OFFSETS) {
        return integer_at(&p->offsets, b);
    }
    switch (view->profile->corner) {
    case ATTN_CORNER_BOTTOM_RIGHT:
        return length - p->q.shape[2];
    case ATTN_CORNER_BOTTOM_RIGHT_LENGTHS:
        return p->features & ATTEST_KEY_LENGTHS ? length - p->q.shape[2] : 0;
    default:
        return 0;
    }
}

void attn_gsl_mask(const attn_gsl_view *view, int64_t b, int64_t h, gsl_matrix *visible,
                   gsl_matrix *bias, gsl_matrix *size) {
    const attest_problem *p = view->problem;
    int64_t length =
        p->features & ATTEST_KEY_LENGTHS ? integer_at(&p->key_lengths, b) : p->k.shape[2];
    int64_t first = first_position(view, b, length);
    double slope = 0;
    if (view->has_alibi) {
        const attest_tensor *s = &p->slopes;
        slope = number_at(s, s->rank == 2 ? b * s->stride[0] + h * s->stride[1] : h * s->stride[0]);
    }
    gsl_matrix_set_zero(visible);
    gsl_matrix_set_zero(bias);
    gsl_matrix_set_zero(size);
    for (int64_t i = 0; i < p->q.shape[2]; i++) {
        for (int64_t j = 0; j < length; j++) {
            int64_t ahead = first + i - j;
            const int64_t *stride = view->mask_stride;
            int64_t position = b * stride[0] + h * stride[1] + i * stride[2] + j * stride[3];
            double added = 0;
            int shown = band_shows(view, ahead);
            if (shown && view->masked && (p->features & ATTEST_MASK_BOOL)) {
                shown = ((const unsigned char *)p->mask.data)[position] != 0;
            } else if (shown && view->masked) {
                added = number_at(&p->mask, position);
                shown = !(gsl_isinf(added) < 0);
            }
            if (shown) {
                double alibi = view->has_alibi ? slope * fabs((double)ahead) : 0;
                gsl_matrix_set(visible, (size_t)i, (size_t)j, 1);
                gsl_matrix_set(bias, (size_t)i, (size_t)j, added - alibi);
                gsl_matrix_set(size, (size_t)i, (size_t)j, fabs(added) + fabs(alibi));
            }
        }
    }
}
