/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/diagnose/question.h"

#include <math.h>

#include "certify/plan/data.h"
#include "reference/problem/convert.h"

attest_question attest_question_of(const attn_normal *n, int64_t b, int64_t h, int64_t i) {
    return (attest_question){
        .n = n,
        .b = b,
        .h = h,
        .i = i,
        .q_row = i,
        .entry = b,
        .kv_head = attn_kv_head(n, h),
        .size = n->head_size,
        .mask_b = b,
        .mask_h = h,
        .mask_i = i,
        .length_b = b,
        .slope_h = h,
        .sink_h = h,
        .mask = n->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD) ? ATTEST_MASK_USED
                                                                   : ATTEST_MASK_UNUSED,
        .distance = n->features & ATTEST_ALIBI ? ATTEST_DISTANCE_RIGHT : ATTEST_DISTANCE_NONE,
        .cap = n->features & ATTEST_SOFTCAP ? ATTEST_CAP_FIRST : ATTEST_CAP_NONE,
        .scale = n->scale,
        .causal = (n->features & ATTEST_CAUSAL) != 0,
        .lengths = (n->features & ATTEST_KEY_LENGTHS) != 0,
        .offset = attn_offset(n, b),
        .left = n->left,
        .right = n->right,
        .times = 1,
        .sinks = (n->features & ATTEST_SINKS) != 0,
        .divided = 1,
    };
}

static double rounded(attest_dtype type, double x) { return type ? attn_round_to(type, x) : x; }

static double slope(const attest_question *a) {
    const attest_tensor *t = &a->n->problem->slopes;
    return t->rank == 2 ? attest_get(t, a->b, a->slope_h, 0, 0)
                        : attest_get(t, a->slope_h, 0, 0, 0);
}

/* What the mask adds: 0 or -inf if it is boolean. */
static double mask_value(const attest_question *a, int64_t key) {
    const attest_tensor *t = &a->n->problem->mask;
    const int64_t full[ATTEST_MAX_RANK] = {a->mask_b, a->mask_h, a->mask_i, key};
    int64_t index[ATTEST_MAX_RANK] = {0};
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        index[axis] = t->shape[axis] == 1 ? 0 : full[ATTEST_MAX_RANK - t->rank + axis];
    }
    if (t->dtype != ATTEST_BOOL) {
        const double value = rounded(a->added, attn_load(t->dtype, attn_element(t, index)));
        return a->mask == ATTEST_MASK_BOUNDED && value == (double)-INFINITY ? -1e4 : value;
    }
    const int shown = *(const unsigned char *)attn_element(t, index) != 0;
    return shown == (a->mask != ATTEST_MASK_NEGATED) ? 0 : (double)-INFINITY;
}

static int in_band(const attest_question *a, int64_t key) {
    const int64_t length = attn_key_length(a->n, a->length_b) + a->longer;
    return (!a->causal || key - a->i - a->frontier <= a->offset) &&
           (a->left < 0 || key - a->i >= a->offset - a->left) &&
           (a->right < 0 || key - a->i <= a->offset + a->right) && (!a->lengths || key < length);
}

static double product(const attest_question *a, int64_t key) {
    const attest_problem *p = a->n->problem;
    double sum = 0;
    for (int64_t c = 0; c < a->size; c++) {
        sum += attest_get(&p->q, a->b, a->h, a->q_row, c) *
               attest_get(&p->k, a->entry, a->kv_head, key, c);
    }
    return rounded(a->product, sum);
}

attest_term attest_question_key(const attest_question *a, int64_t key) {
    attest_term term = {.value = key >= a->v_back ? key - a->v_back : key};
    const double mask = a->mask != ATTEST_MASK_UNUSED ? mask_value(a, key) : 0;
    if (!in_band(a, key) || mask == (double)-INFINITY) {
        return term;
    }
    double bias = mask;
    if (a->distance != ATTEST_DISTANCE_NONE) {
        const int64_t origin = a->distance == ATTEST_DISTANCE_UNSHIFTED ? 0 : a->offset;
        const double apart = (double)(a->i + origin - key);
        bias -= slope(a) * (a->distance == ATTEST_DISTANCE_SIGNED ? apart : fabs(apart));
    }
    const double cap = a->n->problem->softcap;
    double score = a->scale * product(a, key >= a->k_back ? key - a->k_back : key);
    score = a->cap == ATTEST_CAP_FIRST ? cap * tanh(score / cap) + bias : score + bias;
    score = a->cap == ATTEST_CAP_LAST ? cap * tanh(score / cap) : score;
    term.seen = a->times > 0 && !(a->numbers_only && isnan(score));
    term.score = score + (a->times > 0 ? log(a->times) : 0);
    return term;
}

double attest_question_sink(const attest_question *a) {
    if (a->sinks == 0) {
        return (double)-INFINITY;
    }
    return attest_get(&a->n->problem->sinks, a->sink_h, 0, 0, 0) + log(a->sinks);
}

double attest_question_value(const attest_question *a, const attest_term *term, int64_t c) {
    return attest_get(&a->n->problem->v, a->entry, a->kv_head, term->value, c);
}
