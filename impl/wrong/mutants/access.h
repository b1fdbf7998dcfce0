/* SPDX-License-Identifier: Apache-2.0 */
/* access.h - an element of an operand in binary32, for kernels that are wrong on purpose. */
#ifndef ATTN_MUTANT_ACCESS_H
#define ATTN_MUTANT_ACCESS_H

#include "reference/problem/convert.h"
#include "reference/problem/normal.h"

/* Strides beyond the rank are 0. */
static inline int64_t position(const attest_tensor *t, int64_t a, int64_t b, int64_t c, int64_t d) {
    return a * t->stride[0] + b * t->stride[1] + c * t->stride[2] + d * t->stride[3];
}

static inline float get(const attest_tensor *t, int64_t at) {
    if (t->dtype == ATTEST_F32) {
        return ((const float *)t->data)[at];
    }
    return (float)attn_load(t->dtype, (const char *)t->data + at * attn_dtype_bytes(t->dtype));
}

static inline void put(const attest_tensor *t, int64_t at, float value) {
    if (t->dtype == ATTEST_F32) {
        ((float *)t->data)[at] = value;
    } else {
        attn_store(t->dtype, (char *)t->data + at * attn_dtype_bytes(t->dtype), (double)value);
    }
}

static inline int has(const attn_normal *n, uint64_t feature) {
    return (n->features & feature) != 0;
}

/* Place of the mask's element for [b,h,i,j]: right-aligned, axes of length 1 repeat. */
static inline int64_t mask_at(const attest_tensor *m, int64_t b, int64_t h, int64_t i, int64_t j) {
    const int64_t place[ATTEST_MAX_RANK] = {b, h, i, j};
    int64_t at = 0;
    for (uint32_t axis = 0; axis < m->rank; axis++) {
        int64_t full = place[ATTEST_MAX_RANK - m->rank + axis];
        at += m->shape[axis] == 1 ? 0 : full * m->stride[axis];
    }
    return at;
}

#endif
