/* SPDX-License-Identifier: Apache-2.0 */
/* kept.h - one result of an earlier call, for kernels that give it again. */
#ifndef ATTN_MUTANT_KEPT_H
#define ATTN_MUTANT_KEPT_H

#include "impl/wrong/mutants/base.h"

enum { KEPT_FLOATS = 1 << 12 };

typedef struct kept_result {
    uint64_t key;
    int64_t count; /* 0: none yet */
    float o[KEPT_FLOATS];
} kept_result;

static inline int64_t output_count(const attn_normal *n) {
    return n->batch * n->q_heads * n->queries * n->value_size;
}

static inline int can_keep(const attn_normal *n) {
    return output_count(n) <= KEPT_FLOATS && !has(n, ATTEST_LSE);
}

static inline int64_t output_place(const attn_normal *n, int64_t at) {
    int64_t row_number = at / n->value_size, head = row_number / n->queries;
    return position(&n->problem->o, head / n->q_heads, head % n->q_heads, row_number % n->queries,
                    at % n->value_size);
}

static inline void keep(kept_result *kept, const attn_normal *n, uint64_t key) {
    kept->key = key;
    kept->count = output_count(n);
    for (int64_t at = 0; at < kept->count; at++) {
        kept->o[at] = get(&n->problem->o, output_place(n, at));
    }
}

static inline void give_again(const kept_result *kept, const attn_normal *n) {
    for (int64_t at = 0; at < kept->count; at++) {
        put(&n->problem->o, output_place(n, at), kept->o[at]);
    }
}

/* FNV-1a over the bytes of a value. */
static inline uint64_t add_to_key(uint64_t key, uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) {
        key = (key ^ (value >> shift & 255)) * UINT64_C(1099511628211);
    }
    return key;
}

/* Features, shapes and the address of q: all that a hasty cache looks at. */
static inline uint64_t shape_key(const attn_normal *n) {
    const attest_problem *p = n->problem;
    uint64_t key = add_to_key(n->features, (uint64_t)(uintptr_t)p->q.data);
    for (int axis = 0; axis < 4; axis++) {
        key = add_to_key(key, (uint64_t)p->q.shape[axis]);
        key = add_to_key(key, (uint64_t)p->v.shape[axis]);
    }
    return key;
}

#endif
