/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base.h - a correct kernel in four steps, for kernels that are wrong in one of them.
 *
 *   look      which keys the row sees, and their bias
 *   gather    q, and k and v of the visible keys, widened to binary32
 *   attend    scores, weights, output, LSE
 *   deliver   narrow and store
 *
 * A family includes this file, replaces a step or the walk around them, and marks each deviation at
 * its place: `if (MUTANT == NAME)`. MUTANT == CORRECT is a kernel without any. A family defines
 *   FAMILY                 its name
 *   enum { CORRECT, ... }  its mutants
 *   scratch_bytes(n)       workspace for a problem
 *   run(n)                 the whole call
 */
#ifndef ATTN_MUTANT_BASE_H
#define ATTN_MUTANT_BASE_H

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "impl/wrong/mutants/access.h"
#include "reference/arithmetic/elementary.h"
#include "reference/problem/convert.h"
#include "reference/problem/mask.h"
#include "reference/problem/normal.h"

#define NOWHERE UINT64_MAX /* more bytes than any host has */

/* Row s of head h of batch entry b. */
static inline void fetch(float *to, const attest_tensor *t, int64_t b, int64_t h, int64_t s) {
    int64_t start = position(t, b, h, s, 0);
    for (int64_t c = 0; c < t->shape[3]; c++) {
        to[c] = get(t, start + c * t->stride[3]);
    }
}

static inline float round_half(float x) { return (float)attn_round_to(ATTEST_F16, (double)x); }

static inline float dot(const float *a, const float *b, int64_t size) {
    float sum = 0;
    for (int64_t c = 0; c < size; c++) {
        sum += a[c] * b[c];
    }
    return sum;
}

static inline float slope_of(const attn_normal *n, int64_t b, int64_t h) {
    const attest_tensor *slopes = &n->problem->slopes;
    return get(slopes, slopes->rank == 2 ? position(slopes, b, h, 0, 0) : h * slopes->stride[0]);
}

static inline float sink_of(const attn_normal *n, int64_t h) {
    const attest_tensor *sinks = &n->problem->sinks;
    return has(n, ATTEST_SINKS) ? get(sinks, h * sinks->stride[0]) : -INFINITY;
}

static inline int mask_shows(const attn_normal *n, int64_t b, int64_t h, int64_t i, int64_t j) {
    const attest_tensor *mask = &n->problem->mask;
    int64_t at = mask_at(mask, b, h, i, j);
    if (has(n, ATTEST_MASK_BOOL)) {
        return ((const unsigned char *)mask->data)[at] != 0;
    }
    return !has(n, ATTEST_MASK_ADD) || get(mask, at) != -INFINITY;
}

static inline attn_band band_of(const attn_normal *n, int64_t b) {
    return (attn_band){.offset = attn_offset(n, b),
                       .left = n->left,
                       .right = n->right,
                       .length = attn_key_length(n, b),
                       .causal = has(n, ATTEST_CAUSAL)};
}

/* Softcap of the scaled product. */
static inline float bend(const attn_normal *n, float score) {
    float cap = (float)n->problem->softcap;
    return has(n, ATTEST_SOFTCAP) ? cap * attn_tanhf(score / cap) : score;
}

static inline float alibi_of(const attn_normal *n, int64_t b, int64_t h, int64_t i, int64_t j) {
    int64_t distance = i + attn_offset(n, b) - j;
    float steps = (float)(distance < 0 ? -distance : distance);
    return has(n, ATTEST_ALIBI) ? slope_of(n, b, h) * steps : 0;
}

/* Mask value and ALiBi of a visible key. */
static inline float bias_of(const attn_normal *n, int64_t b, int64_t h, int64_t i, int64_t j) {
    const attest_tensor *mask = &n->problem->mask;
    float value = has(n, ATTEST_MASK_ADD) ? get(mask, mask_at(mask, b, h, i, j)) : 0;
    return value - alibi_of(n, b, h, i, j);
}

/* One row on its way through the four steps; the arrays lie in the workspace. */
typedef struct row {
    const attn_normal *n;
    int64_t b, h, i;
    float *q, *k, *v, *bias, *s, *out; /* D, Sk*D, Sk*Dv, Sk, Sk, Dv */
    unsigned char *visible;            /* Sk */
    float lse;
} row;

static inline uint64_t row_bytes(const attn_normal *n) {
    uint64_t floats;
    if (__builtin_mul_overflow(n->keys, n->head_size + n->value_size + 3, &floats) ||
        __builtin_add_overflow(floats, n->head_size + n->value_size, &floats) ||
        __builtin_mul_overflow(floats, sizeof(float), &floats)) {
        return NOWHERE;
    }
    return floats; /* the third array of Sk floats is for `visible` */
}

static inline void row_open(row *r, const attn_normal *n, void *memory) {
    float *next = memory;
    r->n = n;
    r->q = next;
    r->out = next += n->head_size;
    r->k = next += n->value_size;
    r->v = next += n->keys * n->head_size;
    r->bias = next += n->keys * n->value_size;
    r->s = next += n->keys;
    r->visible = (unsigned char *)(next + n->keys);
}

static inline int64_t look(row *r) {
    int64_t count = attn_visible_keys(r->n, r->b, r->h, r->i, r->visible);
    for (int64_t j = 0; j < r->n->keys; j++) {
        r->bias[j] = r->visible[j] ? bias_of(r->n, r->b, r->h, r->i, j) : 0;
    }
    return count;
}

static inline void gather(row *r) {
    const attn_normal *n = r->n;
    int64_t g = attn_kv_head(n, r->h);
    fetch(r->q, &n->problem->q, r->b, r->h, r->i);
    for (int64_t j = 0; j < n->keys; j++) {
        if (r->visible[j]) {
            fetch(r->k + j * n->head_size, &n->problem->k, r->b, g, j);
            fetch(r->v + j * n->value_size, &n->problem->v, r->b, g, j);
        }
    }
}

static inline void attend(row *r) {
    const attn_normal *n = r->n;
    float sink = sink_of(n, r->h), max = sink, sum = 0;
    int64_t count = 0;
    for (int64_t j = 0; j < n->keys; j++) {
        if (r->visible[j]) {
            float product = dot(r->q, r->k + j * n->head_size, n->head_size);
            r->s[j] = bend(n, (float)n->scale * product) + r->bias[j];
            max = r->s[j] > max ? r->s[j] : max;
            count++;
        }
    }
    memset(r->out, 0, (size_t)n->value_size * sizeof(float));
    for (int64_t j = 0; j < n->keys; j++) {
        if (r->visible[j]) {
            float weight = attn_expf(r->s[j] - max);
            sum += weight;
            for (int64_t c = 0; c < n->value_size; c++) {
                r->out[c] += weight * r->v[j * n->value_size + c];
            }
        }
    }
    sum += has(n, ATTEST_SINKS) && count > 0 ? attn_expf(sink - max) : 0;
    for (int64_t c = 0; c < n->value_size && count > 0; c++) {
        r->out[c] /= sum;
    }
    r->lse = count > 0 ? max + attn_logf(sum) : sink;
}

static inline void deliver(const row *r) {
    const attest_tensor *o = &r->n->problem->o, *lse = &r->n->problem->lse;
    for (int64_t c = 0; c < r->n->value_size; c++) {
        put(o, position(o, r->b, r->h, r->i, c), r->out[c]);
    }
    if (has(r->n, ATTEST_LSE)) {
        put(lse, position(lse, r->b, r->h, r->i, 0), r->lse);
    }
}

/* The correct row. */
static inline void all_steps(row *r) {
    look(r);
    gather(r);
    attend(r);
    deliver(r);
}

/* Every row of the problem, one after the other. */
static inline void for_each_row(const attn_normal *n, void *memory, void (*one_row)(row *r)) {
    row r;
    row_open(&r, n, memory);
    for (r.b = 0; r.b < n->batch; r.b++) {
        for (r.h = 0; r.h < n->q_heads; r.h++) {
            for (r.i = 0; r.i < n->queries; r.i++) {
                one_row(&r);
            }
        }
    }
}

#endif
