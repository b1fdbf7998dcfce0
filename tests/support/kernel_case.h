/* SPDX-License-Identifier: Apache-2.0 */
/* A random problem over all options, types and strides, for the tests of kernels. */
#ifndef KERNEL_CASE_H
#define KERNEL_CASE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reference/problem/convert.h"
#include "reference/problem/normal.h"
#include "spec/attest.h"
#include "tests/support/splitmix.h"

enum { CASE_BUFFERS = 12 };

typedef struct kernel_case {
    attest_problem p;
    void *buffer[CASE_BUFFERS];
    size_t bytes[CASE_BUFFERS];
    int buffers;
    uint64_t seed;
} kernel_case;

static int one_in(uint64_t *state, int64_t n) { return between(state, 1, n) == 1; }

static double uniform(uint64_t *state) { return (double)between(state, -4096, 4096) / 4096.0; }

static void *case_buffer(kernel_case *c, size_t bytes) {
    void *data = malloc(bytes ? bytes : 1);
    if (!data) {
        abort();
    }
    c->bytes[c->buffers] = bytes;
    c->buffer[c->buffers++] = data;
    return data;
}

static void case_release(kernel_case *c) {
    while (c->buffers > 0) {
        free(c->buffer[--c->buffers]);
    }
}

/* Axes in random order, gaps between rows, and in inputs now and then a stride of 0, or of any size
 * where an axis has one element and never steps. */
static attest_tensor case_tensor(kernel_case *c, attest_dtype dtype, uint32_t rank,
                                 const int64_t *shape, int is_output) {
    attest_tensor t = {.dtype = dtype, .rank = rank};
    uint32_t order[ATTEST_MAX_RANK] = {0, 1, 2, 3};
    int plain = one_in(&c->seed, 2);
    for (uint32_t n = rank; n > 1 && !plain; n--) {
        uint32_t other = (uint32_t)between(&c->seed, 0, n - 1), kept = order[n - 1];
        order[n - 1] = order[other];
        order[other] = kept;
    }
    int64_t step = plain || one_in(&c->seed, 2) ? 1 : 2;
    for (uint32_t n = rank; n > 0; n--) {
        uint32_t axis = order[n - 1];
        t.shape[axis] = shape[axis];
        t.stride[axis] = !is_output && one_in(&c->seed, 40) ? 0 : step;
        if (!is_output && shape[axis] == 1 && one_in(&c->seed, 2)) {
            t.stride[axis] = INT64_MAX;
        }
        step = step * (shape[axis] > 0 ? shape[axis] : 1) + (plain ? 0 : between(&c->seed, 0, 3));
    }
    size_t bytes = (size_t)(step + 1) * (size_t)attn_dtype_bytes(dtype);
    t.data = case_buffer(c, bytes);
    memset(t.data, 0x5a, bytes);
    return t;
}

static void case_fill(kernel_case *c, const attest_tensor *t, double spread) {
    int64_t at[ATTEST_MAX_RANK] = {0}, total = 1;
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        total *= t->shape[axis];
    }
    for (int64_t n = 0; n < total; n++) {
        int64_t rest = n;
        for (uint32_t axis = t->rank; axis > 0; axis--) {
            at[axis - 1] = rest % t->shape[axis - 1];
            rest /= t->shape[axis - 1];
        }
        attn_store(t->dtype, (void *)(uintptr_t)attn_element(t, at), spread * uniform(&c->seed));
    }
}

static attest_dtype case_float(kernel_case *c, int wide) {
    const attest_dtype types[] = {ATTEST_F32, ATTEST_F32, ATTEST_F16, ATTEST_BF16, ATTEST_F64};
    return types[between(&c->seed, 0, wide ? 4 : 3)];
}

static void case_mask(kernel_case *c, attest_dtype wide) {
    attest_problem *p = &c->p;
    const int64_t full[4] = {p->q.shape[0], p->q.shape[1], p->q.shape[2], p->k.shape[2]};
    uint32_t rank = (uint32_t)between(&c->seed, 0, 4);
    int64_t shape[4] = {0};
    for (uint32_t axis = 0; axis < rank; axis++) {
        shape[axis] = one_in(&c->seed, 4) ? 1 : full[4 - rank + axis];
    }
    int is_bool = (p->features & ATTEST_MASK_BOOL) != 0;
    attest_dtype dtype = is_bool ? ATTEST_BOOL : one_in(&c->seed, 2) ? wide : p->q.dtype;
    p->mask = case_tensor(c, dtype, rank, shape, 0);
    int64_t hidden = between(&c->seed, 2, 6);
    unsigned char *bytes = p->mask.data;
    size_t count = c->bytes[c->buffers - 1] / (size_t)attn_dtype_bytes(dtype);
    for (size_t n = 0; n < count; n++) {
        int hide = one_in(&c->seed, hidden);
        if (is_bool) {
            bytes[n] = hide ? 0 : (unsigned char)between(&c->seed, 1, 255);
        } else {
            attn_store(dtype, bytes + n * (size_t)attn_dtype_bytes(dtype),
                       hide ? -INFINITY : 2 * uniform(&c->seed));
        }
    }
}

static attest_tensor case_integers(kernel_case *c, int64_t low, int64_t high) {
    attest_tensor t = case_tensor(c, ATTEST_I64, 1, c->p.q.shape, 0);
    int64_t *values = t.data;
    for (size_t n = 0; n < c->bytes[c->buffers - 1] / sizeof *values; n++) {
        values[n] = between(&c->seed, low, high);
    }
    return t;
}

/* `wide`: binary64 may occur. `size`: 0 small, 1 some tiles, 2 some chunks of keys, 3 few rows and
 * large heads, as when decoding. */
static void case_make(kernel_case *c, uint64_t seed, int wide, int size) {
    const int64_t queries[] = {9, 80, 40, 2}, keys[] = {9, 230, 2000, 230};
    const int64_t sizes[] = {9, 40, 20, 160};
    *c = (kernel_case){.seed = seed};
    uint64_t *s = &c->seed;
    int64_t batch = between(s, size ? 1 : 0, 2), kv_heads = between(s, 1, 2);
    int64_t heads = kv_heads * between(s, 1, 3), sq = between(s, 0, queries[size]);
    int64_t sk = between(s, 0, keys[size]), d = between(s, 1, sizes[size]);
    int64_t dv = one_in(s, 2) ? d : between(s, 0, sizes[size]);
    attest_problem *p = &c->p;
    *p = (attest_problem){.struct_bytes = sizeof *p, .threads = 1};
    attest_dtype q_type = case_float(c, wide), k_type = one_in(s, 2) ? q_type : case_float(c, wide);
    attest_dtype a_type = q_type == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    p->q = case_tensor(c, q_type, 4, (int64_t[]){batch, heads, sq, d}, 0);
    p->k = case_tensor(c, k_type, 4, (int64_t[]){batch, kv_heads, sk, d}, 0);
    p->v = case_tensor(c, k_type, 4, (int64_t[]){batch, kv_heads, sk, dv}, 0);
    p->o = case_tensor(c, one_in(s, 2) ? q_type : case_float(c, wide), 4,
                       (int64_t[]){batch, heads, sq, dv}, 1);
    case_fill(c, &p->q, 3);
    case_fill(c, &p->k, 3);
    case_fill(c, &p->v, 2);
    p->features = draw(s) & ATTEST_ALL_FEATURES;
    p->features &= ~(one_in(s, 2) ? ATTEST_MASK_BOOL : ATTEST_MASK_ADD);
    p->features &= ~(one_in(s, 2) ? ATTEST_WINDOW : ATTEST_WINDOW_SIZE);
    if (p->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
        case_mask(c, a_type);
    }
    if (p->features & ATTEST_SINKS) {
        p->sinks = case_tensor(c, a_type, 1, &heads, 0);
        case_fill(c, &p->sinks, 3);
    }
    if (p->features & ATTEST_ALIBI) {
        uint32_t rank = (uint32_t)between(s, 1, 2);
        p->slopes = case_tensor(c, a_type, rank, p->q.shape + 2 - rank, 0);
        case_fill(c, &p->slopes, 0.05);
    }
    if (p->features & ATTEST_KEY_LENGTHS) {
        p->key_lengths = case_integers(c, 0, sk);
    }
    if (p->features & ATTEST_OFFSETS) {
        int huge = one_in(s, 20);
        p->offsets =
            huge ? case_integers(c, -ATTN_MAX_OFFSET, ATTN_MAX_OFFSET) : case_integers(c, -sq, sk);
        p->features &= ~(huge ? ATTEST_ALIBI : 0);
        if (huge) {
            p->slopes = (attest_tensor){0};
        }
    }
    if (p->features & ATTEST_LSE) {
        p->lse = case_tensor(c, a_type, 3, p->q.shape, 1);
    }
    p->scale = uniform(s);
    p->softcap = 1 + 3 * fabs(uniform(s));
    p->window_left = one_in(s, 10) ? INT64_MAX : between(s, -1, sk);
    p->window_right = one_in(s, 10) ? INT64_MAX : between(s, -1, sk);
    p->window_size = between(s, 1, sk + 1);
}

#endif
