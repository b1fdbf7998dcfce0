/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/diagnose/misreadings.h"

#include <math.h>
#include <stddef.h>

#include "certify/plan/bug_class.h"

static int has(const attest_question *a, uint64_t feature) {
    return (a->n->features & feature) != 0;
}

static int times(attest_question *a, int64_t count) {
    a->times = (double)count;
    return 1;
}

static int key_before(attest_question *a, int64_t back) {
    a->k_back = back;
    return a->n->keys > 1;
}

static int value_before(attest_question *a, int64_t back) {
    a->v_back = back;
    return a->n->keys > 1;
}

static int row_before(attest_question *a, int64_t back) {
    a->q_row = a->i - back;
    return a->q_row >= 0;
}

static int next_head(attest_question *a, int64_t step) {
    a->kv_head = (a->kv_head + step) % (a->n->kv_heads > 0 ? a->n->kv_heads : 1);
    return a->n->kv_heads > 1;
}

static int first_head(attest_question *a, int64_t head) {
    const int changes = a->kv_head != head;
    a->kv_head = head;
    return changes;
}

static int other_order(attest_question *a, int64_t unused) {
    const int64_t right = a->kv_head,
                  group = a->n->kv_heads > 0 ? a->n->q_heads / a->n->kv_heads : 1;
    (void)unused;
    a->kv_head = a->h % (a->n->kv_heads > 0 ? a->n->kv_heads : 1);
    if (a->kv_head == right) {
        a->kv_head = a->h / group;
    }
    return a->kv_head != right;
}

static int next_entry(attest_question *a, int64_t step) {
    a->entry = (a->entry + step) % a->n->batch;
    return a->n->batch > 1;
}

static int first_entry(attest_question *a, int64_t entry) {
    const int changes = a->entry != entry;
    a->entry = entry;
    return changes;
}

static int no_causal(attest_question *a, int64_t unused) {
    (void)unused;
    const int had = a->causal;
    a->causal = 0;
    return had;
}

static int unasked_causal(attest_question *a, int64_t unused) {
    (void)unused;
    const int had = a->causal;
    a->causal = 1;
    return !had;
}

static int frontier(attest_question *a, int64_t step) {
    a->frontier = step;
    return a->causal;
}

static int64_t length_of(const attest_question *a) { return attn_key_length(a->n, a->b); }

static int offset_to(attest_question *a, int64_t offset) {
    const int changes = a->offset != offset;
    a->offset = offset;
    return changes && (a->causal || a->left >= 0 || a->right >= 0);
}

static int top_left(attest_question *a, int64_t unused) {
    (void)unused;
    return offset_to(a, 0);
}

static int bottom_right(attest_question *a, int64_t unused) {
    (void)unused;
    return offset_to(a, length_of(a) - a->n->queries);
}

static int corner_of_axis(attest_question *a, int64_t unused) {
    (void)unused;
    return offset_to(a, a->n->keys - a->n->queries);
}

static int no_window(attest_question *a, int64_t unused) {
    (void)unused;
    const int had = a->left >= 0 || a->right >= 0;
    a->left = a->right = ATTEST_UNBOUNDED;
    return had;
}

static int left_by(attest_question *a, int64_t step) {
    const int changes = a->left >= 0 && a->left + step >= 0;
    a->left += changes ? step : 0;
    return changes;
}

static int right_by(attest_question *a, int64_t step) {
    const int changes = a->right >= 0 && a->right + step >= 0;
    a->right += changes ? step : 0;
    return changes;
}

static int no_length(attest_question *a, int64_t unused) {
    (void)unused;
    const int had = a->lengths;
    a->lengths = 0;
    return had;
}

static int longer(attest_question *a, int64_t step) {
    a->longer = step;
    return a->lengths;
}

static int length_of_entry(attest_question *a, int64_t entry) {
    const int changes = a->lengths && a->length_b != entry;
    a->length_b = entry;
    return changes;
}

static int use_mask(attest_question *a, int64_t use) {
    const int had = a->mask == ATTEST_MASK_USED;
    a->mask = (attest_mask_use)use;
    return had && (use != ATTEST_MASK_NEGATED || has(a, ATTEST_MASK_BOOL)) &&
           (use != ATTEST_MASK_BOUNDED || has(a, ATTEST_MASK_ADD));
}

static int mask_row_before(attest_question *a, int64_t back) {
    a->mask_i = a->i - back;
    return a->mask == ATTEST_MASK_USED && a->mask_i >= 0;
}

static int mask_of_first(attest_question *a, int64_t axis) {
    int64_t *const places[] = {&a->mask_b, &a->mask_h, &a->mask_i};
    const int changes = a->mask == ATTEST_MASK_USED && *places[axis] != 0;
    *places[axis] = 0;
    return changes;
}

static int mask_rounded(attest_question *a, int64_t type) {
    a->added = (attest_dtype)type;
    return a->mask == ATTEST_MASK_USED && has(a, ATTEST_MASK_ADD);
}

static int scale_to(attest_question *a, double scale) {
    const int changes = a->scale != scale && isfinite(scale);
    a->scale = scale;
    return changes;
}

static int default_scale(attest_question *a, int64_t unused) {
    (void)unused;
    return has(a, ATTEST_SCALE) && scale_to(a, 1 / sqrt((double)a->n->head_size));
}

static int no_scale(attest_question *a, int64_t unused) {
    (void)unused;
    return scale_to(a, 1);
}

static int scale_sign(attest_question *a, int64_t unused) {
    (void)unused;
    return scale_to(a, fabs(a->scale));
}

static int scale_of_value_size(attest_question *a, int64_t unused) {
    (void)unused;
    return !has(a, ATTEST_SCALE) && scale_to(a, 1 / sqrt((double)a->n->value_size));
}

/* As if D were another one that is common. */
static int scale_of_size(attest_question *a, int64_t size) {
    return scale_to(a, 1 / sqrt((double)size));
}

static int scale_padded(attest_question *a, int64_t multiple) {
    const int64_t padded = (a->n->head_size + multiple - 1) / multiple * multiple;
    return !has(a, ATTEST_SCALE) && padded > 0 && scale_to(a, 1 / sqrt((double)padded));
}

static int capping(attest_question *a, int64_t cap) {
    const int had = a->cap == ATTEST_CAP_FIRST;
    a->cap = (attest_capping)cap;
    return had;
}

static int distances(attest_question *a, int64_t distance) {
    const int had = a->distance == ATTEST_DISTANCE_RIGHT;
    a->distance = (attest_distance)distance;
    return had;
}

static int slope_of_first(attest_question *a, int64_t head) {
    const int changes = a->distance == ATTEST_DISTANCE_RIGHT && a->slope_h != head;
    a->slope_h = head;
    return changes;
}

static int sink_count(attest_question *a, int64_t count) {
    const int had = a->sinks == 1;
    a->sinks = (int)count;
    return had;
}

static int sink_of_first(attest_question *a, int64_t head) {
    const int changes = a->sinks == 1 && a->sink_h != head;
    a->sink_h = head;
    return changes;
}

static int lse_as(attest_question *a, int64_t form) {
    a->lse = (attest_lse_form)form;
    return has(a, ATTEST_LSE) && (form != ATTEST_LSE_NO_SINK || a->sinks > 0);
}

static int undivided(attest_question *a, int64_t unused) {
    (void)unused;
    a->divided = 0;
    return 1;
}

static int sum_kept(attest_question *a, int64_t tile) {
    a->sum_tile = tile;
    return a->n->keys > tile;
}

static int output_kept(attest_question *a, int64_t tile) {
    a->output_tile = tile;
    return a->n->keys > tile;
}

static int short_product(attest_question *a, int64_t multiple) {
    const int64_t right = a->size;
    a->size -= multiple > 1 ? a->size % multiple : 1;
    return a->size < right && a->size >= 0;
}

static int product_in(attest_question *a, int64_t type) {
    a->product = (attest_dtype)type;
    return 1;
}

static int weight_in(attest_question *a, int64_t type) {
    a->weight = (attest_dtype)type;
    return 1;
}

static int numbers_only(attest_question *a, int64_t unused) {
    (void)unused;
    a->numbers_only = 1;
    return 1;
}

static const attest_misreading misreadings[] = {
#define MISREADING(text, ids, whole_row, change, argument, ...)                                    \
    {text, ids, {__VA_ARGS__}, whole_row, change, argument},
#include "certify/diagnose/misreadings.def"
#undef MISREADING
};

const attest_misreading *attest_misreading_at(int index) {
    const int count = (int)(sizeof misreadings / sizeof *misreadings);
    return index >= 0 && index < count ? &misreadings[index] : NULL;
}

int attest_misreading_is_loose(const attest_misreading *misreading) {
    return misreading->change == times;
}
