/* SPDX-License-Identifier: Apache-2.0 */
/* mask - a row at a time; wrong about which keys a row sees, or about a mask's values. */
#include "impl/wrong/mutants/base.h"

#define FAMILY "mask"
enum {
    CORRECT,
    /* where row 0 stands */
    CAUSAL_TOP_LEFT,
    CAUSAL_IGNORES_OFFSETS,
    CORNER_IGNORES_LENGTHS,
    CAUSAL_STRICT,
    WINDOW_WITHOUT_OFFSET,
    OFFSET_32_BITS,
    /* not applied */
    CAUSAL_ONLY_WITH_MASK,
    CAUSAL_LOST_BESIDE_LSE,
    WINDOW_ALONE_IGNORED,
    WINDOW_RIGHT_IGNORED,
    WINDOW_REPLACES_MASK,
    CAUSAL_REPLACES_MASK,
    MASK_WITH_CAUSAL_DROPS_WINDOW,
    MASK_OBEYED_TO_512,
    KEY_LENGTHS_IGNORED,
    /* applied though not asked for */
    WINDOW_IMPLIES_CAUSAL,
    KEY_LENGTH_IS_LAST_INDEX,
    /* window edges */
    WINDOW_LEFT_ONE_MORE,
    WINDOW_LEFT_EXCLUSIVE,
    WINDOW_RIGHT_EXCLUSIVE,
    WINDOW_ZERO_IS_NONE,
    WINDOW_SIZE_ONE_MORE,
    WINDOW_EXCLUSIVE_AT_HEAD_SIZE_16,
    /* batch entries */
    LENGTH_OF_FIRST_ENTRY,
    LENGTH_OF_LONGEST_ENTRY,
    LENGTHS_READ_PAST_END,
    /* booleans */
    BOOL_INVERTED,
    BOOL_ADDED,
    BOOL_ONLY_ONE_IS_TRUE,
    CAUSAL_HOLDS_ONE,
    /* types and values of additive masks */
    MASK_READ_AS_Q_TYPE,
    MASK_INF_NARROWED,
    LOWEST_FLOAT_HIDES,
    MINUS_1E4_FOR_HIDDEN,
    LOWEST_FLOAT_FOR_HIDDEN,
    MASK_NAN_HIDES,
    /* places in a mask */
    MASK_HEAD_REPEATED_OVER_BATCH,
    MASK_ONE_HEAD_READ_AS_ALL,
    MASK_ONE_ROW_READ_AS_ALL,
    MASK_RANK_3_BY_BATCH,
    MASK_ROW_STRIDE_FROM_LENGTH,
    MASK_LAST_AXIS_NOT_REPEATED,
    MASK_READ_TO_MULTIPLE_OF_8,
    MASK_RANK_2_ROWS_SWAPPED
};

static int64_t key_length(const row *r) {
    const attest_tensor *lengths = &r->n->problem->key_lengths;
    int64_t length = attn_key_length(r->n, r->b);
    if (!has(r->n, ATTEST_KEY_LENGTHS) || MUTANT == KEY_LENGTHS_IGNORED) {
        return r->n->keys;
    }
    const int64_t *all = lengths->data;
    if (MUTANT == KEY_LENGTH_IS_LAST_INDEX) {
        return length < r->n->keys ? length + 1 : length;
    }
    if (MUTANT == LENGTH_OF_FIRST_ENTRY) {
        return all[0];
    }
    if (MUTANT == LENGTHS_READ_PAST_END && all[(r->b + 1) * lengths->stride[0]] < 0) {
        return 0;
    }
    for (int64_t b = 0; MUTANT == LENGTH_OF_LONGEST_ENTRY && b < r->n->batch; b++) {
        length = all[b * lengths->stride[0]] > length ? all[b * lengths->stride[0]] : length;
    }
    return length;
}

static int64_t row_offset(const row *r) {
    int64_t offset = attn_offset(r->n, r->b);
    int explicit_offsets = has(r->n, ATTEST_OFFSETS);
    if (MUTANT == CAUSAL_TOP_LEFT && !explicit_offsets) {
        return 0;
    }
    if (MUTANT == CAUSAL_IGNORES_OFFSETS) {
        return key_length(r) - r->n->queries;
    }
    if (MUTANT == CORNER_IGNORES_LENGTHS && !explicit_offsets) {
        return r->n->keys - r->n->queries;
    }
    if (MUTANT == OFFSET_32_BITS) {
        return (int32_t)offset;
    }
    return offset;
}

static int in_window(const row *r, int64_t j) {
    const attn_normal *n = r->n;
    int64_t offset = MUTANT == WINDOW_WITHOUT_OFFSET ? 0 : row_offset(r);
    int64_t left = n->left, right = n->right;
    int masked = has(n, ATTEST_MASK_BOOL | ATTEST_MASK_ADD), causal = has(n, ATTEST_CAUSAL);
    if (MUTANT == WINDOW_ALONE_IGNORED && !masked && !causal && !has(n, ATTEST_KEY_LENGTHS)) {
        return 1;
    }
    if (MUTANT == MASK_WITH_CAUSAL_DROPS_WINDOW && masked && causal) {
        return 1;
    }
    if (MUTANT == WINDOW_ZERO_IS_NONE && left == 0) {
        left = ATTEST_UNBOUNDED;
    }
    if (MUTANT == WINDOW_RIGHT_IGNORED) {
        right = ATTEST_UNBOUNDED;
    }
    if (MUTANT == WINDOW_IMPLIES_CAUSAL && has(n, ATTEST_WINDOW) &&
        !attn_sees_causal(r->i, offset, j)) {
        return 0;
    }
    if (left >= 0) {
        left += MUTANT == WINDOW_LEFT_ONE_MORE && has(n, ATTEST_WINDOW);
        left += MUTANT == WINDOW_SIZE_ONE_MORE && has(n, ATTEST_WINDOW_SIZE);
        left -= MUTANT == WINDOW_LEFT_EXCLUSIVE && has(n, ATTEST_WINDOW) && left > 0;
        left -= MUTANT == WINDOW_EXCLUSIVE_AT_HEAD_SIZE_16 && n->head_size == 16 && left > 0;
    }
    right -= MUTANT == WINDOW_RIGHT_EXCLUSIVE && right > 0;
    return attn_sees_window(r->i, offset, left, right, j);
}

static int is_causal(const row *r) {
    int masked = has(r->n, ATTEST_MASK_BOOL | ATTEST_MASK_ADD);
    if ((MUTANT == CAUSAL_ONLY_WITH_MASK && !masked) ||
        (MUTANT == CAUSAL_LOST_BESIDE_LSE && has(r->n, ATTEST_LSE))) {
        return 0;
    }
    return has(r->n, ATTEST_CAUSAL);
}

static int64_t mask_place(const row *r, int64_t j) {
    const attest_tensor *m = &r->n->problem->mask;
    int64_t b = r->b, h = r->h, i = r->i;
    if (MUTANT == MASK_HEAD_REPEATED_OVER_BATCH && m->rank == 4 && m->shape[1] == 1) {
        b = 0;
    }
    if (MUTANT == MASK_RANK_3_BY_BATCH && m->rank == 3 && m->shape[0] > b) {
        h = b;
    }
    int64_t at = mask_at(m, b, h, i, j);
    if (MUTANT == MASK_ONE_HEAD_READ_AS_ALL && m->rank == 4 && m->shape[1] == 1) {
        at += h * m->stride[1];
    }
    if (MUTANT == MASK_ONE_ROW_READ_AS_ALL && m->rank >= 2 && m->shape[m->rank - 2] == 1) {
        at += i * m->stride[m->rank - 2];
    }
    if (MUTANT == MASK_LAST_AXIS_NOT_REPEATED && m->rank >= 1 && m->shape[m->rank - 1] == 1) {
        at += j * m->stride[m->rank - 1];
    }
    if (MUTANT == MASK_ROW_STRIDE_FROM_LENGTH && m->rank >= 2 && m->shape[m->rank - 2] > 1) {
        at += i * (key_length(r) - m->stride[m->rank - 2]);
    }
    if (MUTANT == MASK_RANK_2_ROWS_SWAPPED && m->rank == 2 && r->n->queries == r->n->keys &&
        m->shape[0] == m->shape[1]) {
        at = j * m->stride[0] + i * m->stride[1];
    }
    return at;
}

/* The additive mask's value as the kernel takes it. */
static float mask_value(const row *r, int64_t j) {
    const attest_tensor *m = &r->n->problem->mask;
    attest_tensor seen = *m;
    if (MUTANT == MASK_READ_AS_Q_TYPE) {
        seen.dtype = r->n->problem->q.dtype;
    }
    if (MUTANT == MASK_READ_TO_MULTIPLE_OF_8 && m->rank > 0 && m->shape[m->rank - 1] > 1 &&
        j == r->n->keys - 1) {
        int64_t rest = (8 - r->n->keys % 8) % 8;
        if (get(&seen, mask_place(r, j) + rest * m->stride[m->rank - 1]) > 1e30f) {
            return 0;
        }
    }
    float value = get(&seen, mask_place(r, j));
    if (MUTANT == MASK_INF_NARROWED && r->n->problem->q.dtype == ATTEST_F16) {
        value = value < -65504.0f ? -65504.0f : value;
    }
    if (MUTANT == LOWEST_FLOAT_HIDES && value <= -1e30f) {
        value = -INFINITY;
    }
    if (MUTANT == MASK_NAN_HIDES && isnan(value)) {
        value = -INFINITY;
    }
    return value;
}

/* Whether the kernel looks at the mask at all for this key. */
static int masked(const row *r, int64_t j) {
    if ((MUTANT == WINDOW_REPLACES_MASK && has(r->n, ATTEST_WINDOW | ATTEST_WINDOW_SIZE)) ||
        (MUTANT == CAUSAL_REPLACES_MASK && has(r->n, ATTEST_CAUSAL)) ||
        (MUTANT == MASK_OBEYED_TO_512 && j >= 512)) {
        return 0;
    }
    return has(r->n, ATTEST_MASK_BOOL | ATTEST_MASK_ADD);
}

static int shown(const row *r, int64_t j) {
    if (!masked(r, j) || (MUTANT == BOOL_ADDED && has(r->n, ATTEST_MASK_BOOL))) {
        return 1;
    }
    if (has(r->n, ATTEST_MASK_ADD)) {
        return mask_value(r, j) != -INFINITY;
    }
    unsigned char value = ((const unsigned char *)r->n->problem->mask.data)[mask_place(r, j)];
    if (MUTANT == BOOL_INVERTED) {
        return value == 0;
    }
    return MUTANT == BOOL_ONLY_ONE_IS_TRUE ? value == 1 : value != 0;
}

static float key_bias(const row *r, int64_t j) {
    const attn_normal *n = r->n;
    float bias = has(n, ATTEST_MASK_ADD) && masked(r, j) ? mask_value(r, j) : 0;
    if (MUTANT == BOOL_ADDED && has(n, ATTEST_MASK_BOOL)) {
        bias += ((const unsigned char *)n->problem->mask.data)[mask_place(r, j)] ? 1.0f : 0.0f;
    }
    if (MUTANT == CAUSAL_HOLDS_ONE && has(n, ATTEST_CAUSAL)) {
        bias += 1;
    }
    return bias - alibi_of(n, r->b, r->h, r->i, j);
}

static void one_row(row *r) {
    int64_t length = key_length(r), offset = row_offset(r);
    for (int64_t j = 0; j < r->n->keys; j++) {
        int causal = !is_causal(r) || attn_sees_causal(r->i, offset, j + (MUTANT == CAUSAL_STRICT));
        int band = j < length && causal && in_window(r, j), mask = shown(r, j);
        r->visible[j] = (unsigned char)(band && mask);
        r->bias[j] = r->visible[j] ? key_bias(r, j) : 0;
        if (MUTANT == MINUS_1E4_FOR_HIDDEN && !r->visible[j]) {
            r->visible[j] = 1;
            r->bias[j] = -1e4f * (float)(!band + !mask);
        }
        if (MUTANT == LOWEST_FLOAT_FOR_HIDDEN && !r->visible[j]) {
            r->visible[j] = 1;
            r->bias[j] = -3e38f;
        }
    }
    gather(r);
    attend(r);
    deliver(r);
}

static uint64_t scratch_bytes(const attn_normal *n) { return row_bytes(n); }

static void run(const attn_normal *n) { for_each_row(n, n->problem->workspace, one_row); }

#include "impl/wrong/mutants/mutant_entry.h"
