/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "reference/defects/defects_row.h"
#include "reference/problem/convert.h"

static int64_t length_of(const attest_evaluator *e, int64_t b) {
    if (!(e->p->features & ATTEST_KEY_LENGTHS)) {
        return e->n->keys;
    }
    int64_t entry = e->on[ATTEST_LENGTH_OF_ENTRY_0] ? 0 : b;
    return ((const int64_t *)e->p->key_lengths.data)[entry * e->p->key_lengths.stride[0]];
}

int64_t attest_defect_offset_of(const attest_evaluator *e, int64_t b) {
    if (e->p->features & ATTEST_OFFSETS) {
        int64_t given = ((const int64_t *)e->p->offsets.data)[b * e->p->offsets.stride[0]];
        return e->on[ATTEST_OFFSET_IGNORED] ? 0 : given;
    }
    int top_left = e->n->profile.corner == ATTN_CORNER_TOP_LEFT ||
                   (e->n->profile.corner == ATTN_CORNER_BOTTOM_RIGHT_LENGTHS &&
                    !(e->p->features & ATTEST_KEY_LENGTHS));
    return top_left != e->on[ATTEST_CORNER_SWAPPED] ? 0 : length_of(e, b) - e->n->queries;
}

int64_t attest_defect_stored_key(const attest_evaluator *e, int64_t b, int64_t j) {
    int64_t past = e->p->features & ATTEST_OFFSETS ? attest_defect_offset_of(e, b) : 0;
    if (e->on[ATTEST_CACHE_AFTER_NEW] && past > 0 && past < e->n->keys) {
        return (j + past) % e->n->keys;
    }
    return j;
}

double attest_defect_mask_value(const attest_evaluator *e, attest_place_of_row at, int64_t j) {
    const attest_tensor *mask = &e->p->mask;
    int64_t full[ATTEST_MAX_RANK] = {e->on[ATTEST_MASK_OF_ENTRY_0] ? 0 : at.b,
                                     e->on[ATTEST_MASK_OF_HEAD_0] ? 0 : at.h,
                                     e->on[ATTEST_MASK_OF_ROW_0] ? 0 : at.i, j};
    int64_t index[ATTEST_MAX_RANK] = {0};
    for (uint32_t axis = 0; axis < mask->rank; axis++) {
        int64_t where = full[ATTEST_MAX_RANK - mask->rank + axis];
        index[axis] = mask->shape[axis] == 1 ? 0 : where;
    }
    if (e->on[ATTEST_MASK_HEADS_ARE_BATCH] && mask->rank == 3 && mask->shape[0] > 1) {
        index[0] = at.b % mask->shape[0];
    }
    const void *element = attn_element(mask, index);
    if (mask->dtype == ATTEST_BOOL) {
        int shown = *(const unsigned char *)element != 0;
        return shown != e->on[ATTEST_MASK_INVERTED] ? 0 : (double)-INFINITY;
    }
    return attn_load(mask->dtype, element);
}

int attest_defect_has_mask(const attest_evaluator *e) {
    int causal = (e->p->features & ATTEST_CAUSAL) != 0;
    if (e->on[ATTEST_MASK_DROPPED] || (causal && e->on[ATTEST_CAUSAL_REPLACES_MASK])) {
        return 0;
    }
    return (e->n->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) != 0;
}

static int has_causal(const attest_evaluator *e) {
    return (e->n->features & ATTEST_CAUSAL) && !e->on[ATTEST_CAUSAL_IGNORED] &&
           !(attest_defect_has_mask(e) && e->on[ATTEST_MASK_REPLACES_CAUSAL]);
}

static int in_window(const attest_evaluator *e, int64_t position, int64_t j) {
    int64_t left = e->n->left, right = e->n->right;
    if (e->on[ATTEST_WINDOW_IGNORED]) {
        return 1;
    }
    if (left != ATTEST_UNBOUNDED) {
        left += e->on[ATTEST_WINDOW_LEFT_LONG] - e->on[ATTEST_WINDOW_LEFT_SHORT];
        if (j < position - left) {
            return 0;
        }
    }
    return right == ATTEST_UNBOUNDED || e->on[ATTEST_WINDOW_RIGHT_IGNORED] || j <= position + right;
}

static int64_t loop_end(const attest_evaluator *e) {
    int64_t end = e->n->keys;
    const int64_t limits[] = {16, 64, 128};
    for (int k = 0; k < 3; k++) {
        end = e->on[ATTEST_FIRST_16_KEYS + k] && end > limits[k] ? limits[k] : end;
    }
    end -= e->on[ATTEST_LAST_KEY_DROPPED] && end > 0;
    return e->on[ATTEST_TAIL_OF_8_DROPPED] ? end - end % 8 : end;
}

int attest_defect_sees(const attest_evaluator *e, attest_place_of_row at, int64_t j) {
    int64_t position = at.i + attest_defect_offset_of(e, at.b);
    int64_t frontier = position + e->on[ATTEST_CAUSAL_ONE_MORE] - e->on[ATTEST_CAUSAL_STRICT];
    int64_t length = length_of(e, at.b) + e->on[ATTEST_LENGTH_IS_INDEX];
    if (j >= loop_end(e) || (has_causal(e) && j > frontier) ||
        (!e->on[ATTEST_LENGTHS_IGNORED] && j >= length) ||
        !in_window(e, e->on[ATTEST_WINDOW_NOT_SHIFTED] ? at.i : position, j)) {
        return 0;
    }
    double mask = attest_defect_has_mask(e) ? attest_defect_mask_value(e, at, j) : 0;
    int hides = mask == (double)-INFINITY || (e->on[ATTEST_LARGE_NEGATIVE_HIDES] && mask < -1e4);
    return !hides;
}
