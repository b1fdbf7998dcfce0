/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/kernel/shell.h"

#include <stdlib.h>

#include "reference/kernel/row.h"
#include "reference/problem/convert.h"

typedef ATTN_NAME(attn_row_problem) row_problem;

#define REAL_DTYPE (ATTN_BITS == 64 ? ATTEST_F64 : ATTEST_F32)

/* What one row needs beside its tensors: O(Sk * (D + Dv)). */
typedef struct scratch {
    unsigned char *visible;
    const attn_real **k, **v;
    attn_real *k_copy, *v_copy, *q_copy, *bias, *scores, *exps, *weights, *out;
} scratch;

static void *array(int64_t a, int64_t b, size_t element_bytes) {
    size_t count;
    if (__builtin_mul_overflow(a, b, &count)) {
        return NULL;
    }
    return calloc(count ? count : 1, element_bytes);
}

static void release(scratch *s) {
    free(s->visible);
    free(s->k);
    free(s->v);
    free(s->k_copy);
    free(s->v_copy);
    free(s->q_copy);
    free(s->bias);
    free(s->scores);
    free(s->exps);
    free(s->weights);
    free(s->out);
}

static int reserve(scratch *s, const attn_normal *n) {
    *s = (scratch){
        .visible = array(n->keys, 1, 1),
        .k = array(n->keys, 1, sizeof *s->k),
        .v = array(n->keys, 1, sizeof *s->v),
        .k_copy = array(n->keys, n->head_size, sizeof(attn_real)),
        .v_copy = array(n->keys, n->value_size, sizeof(attn_real)),
        .q_copy = array(n->head_size, 1, sizeof(attn_real)),
        .bias = array(n->keys, 1, sizeof(attn_real)),
        .scores = array(n->keys, 1, sizeof(attn_real)),
        .exps = array(n->keys, 1, sizeof(attn_real)),
        .weights = array(n->keys, 1, sizeof(attn_real)),
        .out = array(n->value_size, 1, sizeof(attn_real)),
    };
    return s->visible && s->k && s->v && s->k_copy && s->v_copy && s->q_copy && s->bias &&
           s->scores && s->exps && s->weights && s->out;
}

static attn_real load(const attest_tensor *tensor, int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t index[ATTEST_MAX_RANK] = {a, b, c, d};
    return (attn_real)attn_load(tensor->dtype, attn_element(tensor, index));
}

/* The row itself where its scalars are already typed and adjacent, otherwise a widened copy. */
static const attn_real *typed_row(const attest_tensor *tensor, int64_t b, int64_t h, int64_t s,
                                  attn_real *copy) {
    int has_elements = tensor->shape[3] > 0; /* without any, data may be NULL */
    if (tensor->dtype == REAL_DTYPE && tensor->stride[3] == 1 && has_elements) {
        const int64_t start[ATTEST_MAX_RANK] = {b, h, s, 0};
        return attn_element(tensor, start);
    }
    for (int64_t c = 0; c < tensor->shape[3]; c++) {
        copy[c] = load(tensor, b, h, s, c);
    }
    return copy;
}

static void store(const attest_tensor *tensor, const int64_t index[ATTEST_MAX_RANK],
                  attn_real value) {
    attn_store(tensor->dtype, (void *)(uintptr_t)attn_element(tensor, index), (double)value);
}

static attn_real slope(const attn_normal *n, int64_t b, int64_t h) {
    const attest_tensor *slopes = &n->problem->slopes;
    return slopes->rank == 2 ? load(slopes, b, h, 0, 0) : load(slopes, h, 0, 0, 0);
}

static const attn_real *bias_row(const attn_normal *n, int64_t b, int64_t h, int64_t i,
                                 const scratch *s) {
    int has_mask = (n->features & ATTEST_MASK_ADD) != 0;
    int has_alibi = (n->features & ATTEST_ALIBI) != 0;
    if (!has_mask && !has_alibi) {
        return NULL;
    }
    for (int64_t j = 0; j < n->keys; j++) {
        if (s->visible[j]) {
            s->bias[j] = has_mask ? (attn_real)attn_mask_value(n, b, h, i, j) : ZERO;
            if (has_alibi) {
                int64_t distance = i + attn_offset(n, b) - j;
                s->bias[j] = ATTN_NAME(attn_add_alibi)(s->bias[j], slope(n, b, h),
                                                       distance < 0 ? -distance : distance);
            }
        }
    }
    return s->bias;
}

static row_problem gather(const attn_normal *n, int64_t b, int64_t h, int64_t i, const scratch *s) {
    const attest_problem *p = n->problem;
    int64_t kv_head = attn_kv_head(n, h);
    for (int64_t j = 0; j < n->keys; j++) {
        if (s->visible[j]) {
            s->k[j] = typed_row(&p->k, b, kv_head, j, s->k_copy + j * n->head_size);
            s->v[j] = typed_row(&p->v, b, kv_head, j, s->v_copy + j * n->value_size);
        } else {
            s->k[j] = s->v[j] = NULL;
        }
    }
    int has_softcap = (n->features & ATTEST_SOFTCAP) != 0;
    int has_sink = (n->features & ATTEST_SINKS) != 0;
    return (row_problem){
        .q = typed_row(&p->q, b, h, i, s->q_copy),
        .k = s->k,
        .v = s->v,
        .visible = s->visible,
        .bias = bias_row(n, b, h, i, s),
        .n = (size_t)n->keys,
        .d = (size_t)n->head_size,
        .dv = (size_t)n->value_size,
        .score = {(attn_real)n->scale, has_softcap ? (attn_real)p->softcap : ONE, has_softcap},
        .sink = has_sink ? load(&p->sinks, h, 0, 0, 0) : ZERO,
        .has_sink = has_sink,
    };
}

/* The profile's word on a row that sees nothing; row.c has already given 0 and -inf. */
static void fill_empty_row(const attn_normal *n, int64_t b, int64_t h, scratch *s, attn_real *lse) {
    if (n->profile.lse_empty == ATTN_LSE_EMPTY_POS_INF) {
        *lse = NEG(NEG_INF);
    }
    if (n->profile.empty_row == ATTN_EMPTY_NAN) {
        for (int64_t c = 0; c < n->value_size; c++) {
            s->out[c] = SUB(NEG_INF, NEG_INF);
        }
    } else if (n->profile.empty_row == ATTN_EMPTY_MEAN_OF_ALL) {
        for (int64_t j = 0; j < n->keys; j++) {
            s->visible[j] = 1;
            s->exps[j] = ONE;
            s->v[j] =
                typed_row(&n->problem->v, b, attn_kv_head(n, h), j, s->v_copy + j * n->value_size);
        }
        size_t keys = (size_t)n->keys;
        ATTN_NAME(attn_row_divide)(s->weights, s->exps, s->visible, keys, FROM_INT(n->keys));
        ATTN_NAME(attn_row_mix)(s->out, s->weights, s->v, s->visible, keys, (size_t)n->value_size);
    }
}

static void one_row(const attn_normal *n, int64_t b, int64_t h, int64_t i, scratch *s) {
    const attn_real log2_e = (attn_real)1.44269504088896340736;
    attn_real lse;
    int64_t visible_keys = attn_visible_keys(n, b, h, i, s->visible);
    row_problem row = gather(n, b, h, i, s);
    ATTN_NAME(attn_row)(s->out, &lse, s->scores, s->exps, s->weights, &row);
    if (visible_keys == 0 && !row.has_sink) {
        fill_empty_row(n, b, h, s, &lse);
    }
    for (int64_t c = 0; c < n->value_size; c++) {
        const int64_t index[ATTEST_MAX_RANK] = {b, h, i, c};
        store(&n->problem->o, index, s->out[c]);
    }
    if (n->features & ATTEST_LSE) {
        const int64_t index[ATTEST_MAX_RANK] = {b, h, i, 0};
        int base_2 = n->profile.lse_base == ATTN_LSE_BASE_2;
        store(&n->problem->lse, index, base_2 ? MUL(lse, log2_e) : lse);
    }
}

attest_status ATTN_NAME(attn_shell)(const attn_normal *normal) {
    scratch s;
    if (!reserve(&s, normal)) {
        release(&s);
        return ATTEST_NO_MEMORY;
    }
    for (int64_t b = 0; b < normal->batch; b++) {
        for (int64_t h = 0; h < normal->q_heads; h++) {
            for (int64_t i = 0; i < normal->queries; i++) {
                one_row(normal, b, h, i, &s);
            }
        }
    }
    release(&s);
    return ATTEST_OK;
}
