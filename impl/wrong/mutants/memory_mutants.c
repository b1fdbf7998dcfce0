/* SPDX-License-Identifier: Apache-2.0 */
/* memory - a row at a time; wrong about heads, strides, offsets, or which bytes it may touch. */
#include "impl/wrong/mutants/base.h"

#define FAMILY "memory"
enum {
    CORRECT,
    /* heads */
    GQA_TILED,
    GQA_GROUP_AS_MODULUS,
    GQA_DIVIDES_BY_KV_HEADS,
    GQA_TILES_OF_16,
    GQA_LAST_GROUP_WRAPS,
    KV_HEAD_0_FOR_ALL,
    HEAD_11_OF_13,
    /* batch entries */
    KV_BATCH_0_FOR_ALL,
    ENTRIES_START_PACKED,
    NEIGHBOUR_FILLS_PADDING,
    BATCH_3_TO_8,
    /* strides */
    Q_TAKEN_FOR_DENSE,
    V_WITH_STRIDES_OF_K,
    KV_TAKEN_FOR_DENSE,
    STRIDE_0_TAKEN_FOR_UNSET,
    COLUMN_STRIDE_IGNORED,
    OUTPUT_TAKEN_FOR_DENSE,
    LSE_TAKEN_FOR_DENSE,
    SINKS_STRIDE_IGNORED,
    BROADCAST_TAIL,
    /* 32-bit offsets */
    K_INDEX_32_BITS,
    V_INDEX_UNSIGNED_32_BITS,
    Q_BYTES_32_BITS,
    MASK_INDEX_32_BITS,
    OUTPUT_INDEX_32_BITS,
    LSE_INDEX_32_BITS,
    /* bounds */
    K_READ_IN_FOURS,
    V_ROW_READ_AHEAD,
    Q_READ_FROM_BEFORE,
    OUTPUT_WRITTEN_IN_FOURS,
    OUTPUT_READ_FIRST,
    UNSEEN_KEYS_TOUCHED,
    /* outputs */
    OUTPUT_AS_WIDE_AS_Q,
    EMPTY_ROWS_NOT_WRITTEN,
    LSE_OF_EMPTY_NOT_WRITTEN,
    ADDS_TO_OUTPUT,
    ROWS_BEYOND_KEYS_NOT_WRITTEN,
    RESULT_NOT_COPIED_FOR_ONE_QUERY,
    HALF_TRUNCATED,
    BFLOAT_TRUNCATED,
    /* inputs */
    SCALES_Q_IN_PLACE,
    ZEROES_INPUTS
};

static int64_t kv_head(const attn_normal *n, int64_t h) {
    int64_t group = n->q_heads / n->kv_heads;
    if (MUTANT == GQA_TILED) {
        return h % n->kv_heads;
    }
    if (MUTANT == GQA_GROUP_AS_MODULUS) {
        return h / group % (group > 1 ? group : n->kv_heads);
    }
    if (MUTANT == GQA_DIVIDES_BY_KV_HEADS) {
        return h / n->kv_heads % n->kv_heads;
    }
    if (MUTANT == GQA_TILES_OF_16) {
        return h / 16 * 16 / group;
    }
    if (MUTANT == GQA_LAST_GROUP_WRAPS && n->kv_heads > 2 && h / group == n->kv_heads - 1) {
        return 0;
    }
    return MUTANT == KV_HEAD_0_FOR_ALL ? 0 : h / group;
}

static int64_t kv_batch(const row *r) {
    int64_t b = r->b, batch = r->n->batch;
    if (MUTANT == KV_BATCH_0_FOR_ALL) {
        return 0;
    }
    if (MUTANT == BATCH_3_TO_8 && batch >= 3 && batch <= 8 && r->n->queries == 1) {
        return (b + 1) % batch;
    }
    return b;
}

/* Element number of (b,h,s,0) as this kernel computes it. */
static int64_t row_start(const attn_normal *n, const attest_tensor *t, int64_t b, int64_t h,
                         int64_t s) {
    const attest_problem *p = n->problem;
    attest_tensor seen = *t;
    int is_kv = t == &p->k || t == &p->v;
    int64_t rows = t->shape[2], size = t->shape[3], heads = t->shape[1];
    const int64_t dense[4] = {heads * rows * size, rows * size, size, 1};
    if ((MUTANT == Q_TAKEN_FOR_DENSE && t == &p->q && n->queries <= 8) ||
        (MUTANT == KV_TAKEN_FOR_DENSE && is_kv) ||
        (MUTANT == OUTPUT_TAKEN_FOR_DENSE && t == &p->o)) {
        memcpy(seen.stride, dense, sizeof dense);
    }
    if (MUTANT == V_WITH_STRIDES_OF_K && t == &p->v) {
        memcpy(seen.stride, p->k.stride, sizeof dense);
    }
    for (int axis = 0; MUTANT == STRIDE_0_TAKEN_FOR_UNSET && is_kv && axis < 4; axis++) {
        seen.stride[axis] =
            t->stride[axis] == 0 && t->shape[axis] > 1 ? dense[axis] : t->stride[axis];
    }
    if (MUTANT == BROADCAST_TAIL && is_kv && t->stride[0] == 0 && rows % 32 == 1 && s == rows - 1) {
        s = rows > 1 ? s - 1 : s;
    }
    int64_t at = position(&seen, b, h, s, 0);
    if (MUTANT == ENTRIES_START_PACKED && is_kv && has(n, ATTEST_KEY_LENGTHS) && b > 0) {
        int64_t start = 0;
        for (int64_t before = 0; before < b; before++) {
            start += attn_key_length(n, before);
        }
        at = position(&seen, start / rows, h, start % rows + s, 0);
    }
    if (MUTANT == K_INDEX_32_BITS && t == &p->k) {
        at = (int32_t)at;
    }
    if (MUTANT == V_INDEX_UNSIGNED_32_BITS && t == &p->v) {
        at = (uint32_t)at;
    }
    if (MUTANT == Q_BYTES_32_BITS && t == &p->q) {
        at = (uint32_t)(at * attn_dtype_bytes(t->dtype)) / attn_dtype_bytes(t->dtype);
    }
    if (MUTANT == OUTPUT_INDEX_32_BITS && t == &p->o) {
        at = (uint32_t)at;
    }
    return at;
}

static void take(float *to, const attn_normal *n, const attest_tensor *t, int64_t b, int64_t h,
                 int64_t s) {
    int64_t start = row_start(n, t, b, h, s), size = t->shape[3];
    int64_t step = MUTANT == COLUMN_STRIDE_IGNORED ? 1 : t->stride[3];
    volatile float ahead = 0;
    for (int64_t c = 0; c < size; c++) {
        to[c] = get(t, start + c * step);
    }
    for (int64_t c = size; MUTANT == K_READ_IN_FOURS && t == &n->problem->k && c % 4 != 0; c++) {
        ahead += get(t, start + c * step);
    }
    if (MUTANT == Q_READ_FROM_BEFORE && t == &n->problem->q) {
        ahead = get(t, start - 1); /* a loop that starts one early and drops it */
    }
    if (MUTANT == V_ROW_READ_AHEAD && t == &n->problem->v) {
        ahead = get(t, start + t->stride[2]);
    }
    (void)ahead;
}

static void gather_here(row *r) {
    const attn_normal *n = r->n;
    const attest_problem *p = n->problem;
    int64_t g = kv_head(n, r->h), b = kv_batch(r);
    take(r->q, n, &p->q, r->b, r->h, r->i);
    for (int64_t j = 0; j < n->keys; j++) {
        int64_t from = b;
        if (MUTANT == NEIGHBOUR_FILLS_PADDING && has(n, ATTEST_KEY_LENGTHS) && b + 1 < n->batch &&
            j == attn_key_length(n, b) && !r->visible[j]) {
            from = b + 1; /* the next sequence of the pack */
            r->visible[j] = 1;
            r->bias[j] = 0;
        }
        volatile float touched = 0;
        if (r->visible[j]) {
            take(r->k + j * n->head_size, n, &p->k, from, g, j);
            take(r->v + j * n->value_size, n, &p->v, from, g, j);
        } else if (MUTANT == UNSEEN_KEYS_TOUCHED && n->value_size > 0) {
            touched = get(&p->k, row_start(n, &p->k, from, g, j));
            touched += get(&p->v, row_start(n, &p->v, from, g, j));
        }
        (void)touched;
    }
    if (MUTANT == HEAD_11_OF_13 && n->q_heads == 13 && r->h == 11 && n->keys > 1) {
        r->visible[n->keys - 1] = 0;
    }
}

static void look_here(row *r) {
    const attest_tensor *m = &r->n->problem->mask;
    look(r);
    for (int64_t j = 0; MUTANT == MASK_INDEX_32_BITS && m->rank > 0 && j < r->n->keys; j++) {
        int64_t at = (uint32_t)mask_at(m, r->b, r->h, r->i, j);
        if (has(r->n, ATTEST_MASK_BOOL) && r->visible[j]) {
            r->visible[j] = ((const unsigned char *)m->data)[at] != 0;
        }
        if (has(r->n, ATTEST_MASK_ADD) && r->visible[j] && !has(r->n, ATTEST_ALIBI)) {
            r->bias[j] = get(m, at);
        }
    }
}

static void store_here(const row *r, int64_t count) {
    const attn_normal *n = r->n;
    const attest_tensor *o = &n->problem->o, *lse = &n->problem->lse;
    int64_t start = row_start(n, o, r->b, r->h, r->i), columns = n->value_size;
    int64_t step = MUTANT == OUTPUT_TAKEN_FOR_DENSE ? 1 : o->stride[3];
    volatile float old = 0;
    if (MUTANT == OUTPUT_AS_WIDE_AS_Q && columns > n->head_size) {
        columns = n->head_size;
    }
    if ((MUTANT == EMPTY_ROWS_NOT_WRITTEN && count == 0) ||
        (MUTANT == ROWS_BEYOND_KEYS_NOT_WRITTEN && r->i >= n->keys) ||
        (MUTANT == RESULT_NOT_COPIED_FOR_ONE_QUERY && n->queries == 1 && n->left >= 0)) {
        return;
    }
    for (int64_t c = 0; c < columns; c++) {
        float value = r->out[c];
        if (MUTANT == ADDS_TO_OUTPUT || MUTANT == OUTPUT_READ_FIRST) {
            old = get(o, start + c * step);
            value += MUTANT == ADDS_TO_OUTPUT ? old : old * 0;
        }
        put(o, start + c * step, value);
        int cut = (MUTANT == HALF_TRUNCATED && o->dtype == ATTEST_F16) ||
                  (MUTANT == BFLOAT_TRUNCATED && o->dtype == ATTEST_BF16);
        if (cut && fabsf(get(o, start + c * step)) > fabsf(value)) {
            ((uint16_t *)o->data)[start + c * step]--; /* toward zero, not to nearest */
        }
    }
    for (int64_t c = columns; MUTANT == OUTPUT_WRITTEN_IN_FOURS && c % 4 != 0; c++) {
        put(o, start + c * step, 0);
    }
    if (!has(n, ATTEST_LSE) || (MUTANT == LSE_OF_EMPTY_NOT_WRITTEN && count == 0)) {
        return;
    }
    int64_t at = position(lse, r->b, r->h, r->i, 0);
    if (MUTANT == LSE_TAKEN_FOR_DENSE) {
        at = (r->b * n->q_heads + r->h) * n->queries + r->i;
    }
    if (MUTANT == LSE_INDEX_32_BITS) {
        at = (uint32_t)at;
    }
    put(lse, at, r->lse);
}

static void one_row(row *r) {
    const attn_normal *n = r->n;
    const attest_tensor *q = &n->problem->q, *k = &n->problem->k;
    int64_t count = 0;
    look_here(r);
    for (int64_t j = 0; j < n->keys; j++) {
        count += r->visible[j];
    }
    gather_here(r);
    if (MUTANT == SCALES_Q_IN_PLACE) { /* and puts back what was there */
        for (int64_t c = 0; c < n->head_size; c++) {
            put(q, position(q, r->b, r->h, r->i, c), r->q[c] * (float)n->scale);
            put(q, position(q, r->b, r->h, r->i, c), r->q[c]);
        }
    }
    attn_normal seen = *n;
    attest_problem changed = *n->problem;
    if (MUTANT == SINKS_STRIDE_IGNORED) {
        changed.sinks.stride[0] = 1;
        seen.problem = &changed;
        r->n = &seen;
    }
    attend(r);
    r->n = n;
    store_here(r, count);
    if (MUTANT == ZEROES_INPUTS && r->b == n->batch - 1 && r->h == n->q_heads - 1 &&
        r->i == n->queries - 1 && n->keys > 0) {
        put(k, 0, 0);
    }
}

static uint64_t scratch_bytes(const attn_normal *n) { return row_bytes(n); }

static void run(const attn_normal *n) { for_each_row(n, n->problem->workspace, one_row); }

#include "impl/wrong/mutants/mutant_entry.h"
