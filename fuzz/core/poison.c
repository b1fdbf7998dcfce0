/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/core/poison.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/core/decode.h"

/* Absent without the sanitizer: then a kernel is only watched, not fenced. */
void __asan_poison_memory_region(void const volatile *address, size_t bytes) __attribute__((weak));
void __asan_unpoison_memory_region(void const volatile *address, size_t bytes)
    __attribute__((weak));

/* seen[(b * Hkv + g) * Sk + j]: whether a row of the group sees key j. */
static unsigned char *seen_keys(const attn_normal *n) {
    unsigned char *seen = calloc((size_t)(n->batch * n->kv_heads * n->keys) + 1, 1);
    unsigned char *row = calloc((size_t)n->keys + 1, 1);
    for (int64_t r = 0; seen && row && r < n->batch * n->q_heads * n->queries; r++) {
        int64_t b = r / n->queries / n->q_heads, h = r / n->queries % n->q_heads;
        unsigned char *group = seen + (b * n->kv_heads + attn_kv_head(n, h)) * n->keys;
        int64_t count = attn_visible_keys(n, b, h, r % n->queries, row);
        int all = count == 0 && n->profile.empty_row == ATTN_EMPTY_MEAN_OF_ALL;
        for (int64_t j = 0; j < n->keys; j++) {
            group[j] |= row[j] || all;
        }
    }
    if (!row) {
        free(seen);
        seen = NULL;
    }
    free(row);
    return seen;
}

/* Rows of one tensor, those seen or the others; element by element where they have gaps. */
static void mark(const attest_tensor *t, const unsigned char *seen, int wanted,
                 void (*set)(void const volatile *, size_t)) {
    size_t element = (size_t)attn_dtype_bytes(t->dtype);
    int64_t size = t->shape[3], step = t->stride[3] == 1 ? size : 1;
    for (int64_t n = 0; n < attest_fuzz_count(t); n += step) {
        if (seen[n / size] == wanted) {
            set(attest_fuzz_address(t, n), element * (size_t)step);
        }
    }
}

void attest_fuzz_poison_unseen(const attn_normal *n) {
    if (!__asan_poison_memory_region || !__asan_unpoison_memory_region) {
        return;
    }
    unsigned char *seen = seen_keys(n);
    if (seen) {
        const attest_tensor *const both[] = {&n->problem->k, &n->problem->v};
        for (int k = 0; k < 2; k++) { /* rows may share bytes: what is seen has the last word */
            mark(both[k], seen, 0, __asan_poison_memory_region);
            mark(both[k], seen, 1, __asan_unpoison_memory_region);
        }
    }
    free(seen);
}

void attest_fuzz_unpoison(const attest_problem *problem) {
    const attest_tensor *const both[] = {&problem->k, &problem->v};
    for (int k = 0; k < 2 && __asan_unpoison_memory_region; k++) {
        if (attest_fuzz_extent(both[k]) > 0) {
            __asan_unpoison_memory_region(both[k]->data, attest_fuzz_extent(both[k]));
        }
    }
}
