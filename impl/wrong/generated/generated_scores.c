/* SPDX-License-Identifier: Apache-2.0 */
/* generated_scores.c - which keys a row sees, and their scores. */
#include <float.h>
#include <math.h>

#include "impl/wrong/generated/generated_row.h"
#include "reference/arithmetic/elementary.h"
#include "reference/problem/mask.h"

const float *generated_fetch(const attest_tensor *t, int64_t b, int64_t h, int64_t s, float *room) {
    const int64_t at = b * t->stride[0] + h * t->stride[1] + s * t->stride[2];
    if (t->dtype == ATTEST_F32 && t->stride[3] == 1) {
        return (const float *)t->data + at;
    }
    const int64_t bytes = attn_dtype_bytes(t->dtype);
    const char *from = (const char *)t->data + at * bytes;
    for (int64_t c = 0; c < t->shape[3]; c++) {
        room[c] = (float)attn_load(t->dtype, from + c * t->stride[3] * bytes);
    }
    return room;
}

static attn_band band_of(const row *r, effect e) {
    const attn_normal *n = r->c->n;
    attn_band band = {.offset = attn_offset(n, r->b),
                      .left = n->left,
                      .right = n->right,
                      .length = attn_key_length(n, r->b),
                      .causal = has(n, ATTEST_CAUSAL)};
    band.causal = band.causal && e != EFFECT_FORGET_CAUSAL;
    if (e == EFFECT_FORGET_OFFSETS) {
        band.offset = n->keys - n->queries;
    } else if (e == EFFECT_CAUSAL_CORNER) {
        band.offset = 0;
    } else if (e == EFFECT_FORGET_WINDOW) {
        band.left = band.right = ATTN_NO_LIMIT;
    } else if (e == EFFECT_WINDOW_LEFT_SHORT && band.left > 0) {
        band.left--;
    } else if (e == EFFECT_WINDOW_RIGHT_LONG && band.right >= 0) {
        band.right++;
    } else if (e == EFFECT_FORGET_LENGTH) {
        band.length = n->keys;
    } else if (e == EFFECT_LENGTH_SHORT && has(n, ATTEST_KEY_LENGTHS)) {
        band.length--;
    } else if (e == EFFECT_LENGTH_LONG && band.length < n->keys) {
        band.length++;
    } else if (e == EFFECT_LENGTH_OF_ENTRY_ZERO) {
        band.length = attn_key_length(n, 0);
    }
    return band;
}

static int mask_shows(const row *r, int64_t j, effect e) {
    const attn_normal *n = r->c->n;
    if (!has(n, ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
        return 1;
    }
    const attest_tensor *mask = e == EFFECT_MASK_ROW_STRIDE ? &r->c->mask : &n->problem->mask;
    const int64_t b = e == EFFECT_MASK_ENTRY_ZERO ? 0 : r->b;
    const int64_t h = e == EFFECT_MASK_HEAD_ZERO ? 0 : r->h;
    const int64_t i = e == EFFECT_MASK_ROW_BEFORE && r->i > 0 ? r->i - 1 : r->i;
    const int64_t at = mask_at(mask, b, h, i, j);
    if (has(n, ATTEST_MASK_BOOL)) {
        const int shows = ((const unsigned char *)mask->data)[at] != 0;
        return e == EFFECT_FORGET_MASK_BOOL || (e == EFFECT_MASK_INVERTED ? !shows : shows);
    }
    return e == EFFECT_FORGET_MASK_ADD || e == EFFECT_MASK_ADD_CLAMPED ||
           attn_mask_value(n, r->b, r->h, r->i, j) != (double)-INFINITY;
}

int generated_sees(const row *r, int64_t j, effect e) {
    const attn_band band = band_of(r, e);
    const int strict = e == EFFECT_CAUSAL_STRICT && band.causal && j == r->i + band.offset;
    return attn_sees_band(&band, r->i, j) && !strict && mask_shows(r, j, e);
}

int64_t generated_kv_head(const row *r, effect e) {
    const attn_normal *n = r->c->n;
    const int64_t right = attn_kv_head(n, r->h);
    return e == EFFECT_KV_HEAD_MODULO ? r->h % n->kv_heads
           : e == EFFECT_NEXT_KV_HEAD ? (right + 1) % n->kv_heads
                                      : right;
}

int64_t generated_entry(const row *r, effect e) {
    return e == EFFECT_NEXT_ENTRY ? (r->b + 1) % r->c->n->batch : r->b;
}

void generated_flush_denormals(float *to, const float *from, int64_t count) {
    for (int64_t c = 0; c < count; c++) {
        to[c] = fabsf(from[c]) < FLT_MIN ? 0.0f : from[c];
    }
}

float generated_product(const row *r, const float *q, int64_t j, effect e) {
    const call *c = r->c;
    const attest_tensor *k = e == EFFECT_K_TOKEN_STRIDE ? &c->k : &c->n->problem->k;
    const int64_t key = e == EFFECT_SHIFT_K && j > 0 ? j - 1 : j;
    const float *row_of_k =
        generated_fetch(k, generated_entry(r, e), generated_kv_head(r, e), key, r->k);
    int64_t size = c->n->head_size;
    if (e == EFFECT_HEAD_TAIL_DROPPED && size > c->defect.tile) {
        size -= size % c->defect.tile;
    }
    if (e == EFFECT_DENORMALS_ZERO) {
        generated_flush_denormals(r->k, row_of_k, size);
        row_of_k = r->k;
    }
    float sum = 0;
    for (int64_t at = 0; at < size; at++) {
        sum += q[at] * row_of_k[at];
    }
    return e == EFFECT_PRODUCT_BF16 ? narrow(ATTEST_BF16, sum)
           : e == EFFECT_SCORE_F16  ? narrow(ATTEST_F16, sum)
                                    : sum;
}

static float scale_of(const row *r, effect e) {
    const attn_normal *n = r->c->n;
    const float scale = (float)n->scale;
    return e == EFFECT_FORGET_SCALE     ? (float)(1 / sqrt((double)n->head_size))
           : e == EFFECT_SCALE_WRONG    ? 0.125f
           : e == EFFECT_SCALE_ABSOLUTE ? fabsf(scale)
           : e == EFFECT_SCALE_KEPT     ? r->c->scale_before
                                        : scale;
}

/* Position of row 0 on the key axis, as ALiBi sees it. */
static int64_t offset_of(const row *r, effect e) {
    return e == EFFECT_ALIBI_NO_OFFSET ? 0 : attn_offset(r->c->n, r->b);
}

static float bias_of(const row *r, int64_t j, effect e) {
    const attn_normal *n = r->c->n;
    const attest_tensor *slopes = &n->problem->slopes;
    float bias = 0;
    if (has(n, ATTEST_MASK_ADD) && e != EFFECT_FORGET_MASK_ADD) {
        bias = (float)attn_mask_value(n, r->b, r->h, r->i, j);
        bias = e == EFFECT_MASK_ADD_BF16                       ? narrow(ATTEST_BF16, bias)
               : e == EFFECT_MASK_ADD_CLAMPED && bias < -10000 ? -10000
                                                               : bias;
    }
    if (has(n, ATTEST_ALIBI) && e != EFFECT_FORGET_ALIBI) {
        const int64_t h = e == EFFECT_ALIBI_SLOPE_HEAD ? 0 : r->h;
        const int64_t at =
            slopes->rank == 2 ? position(slopes, r->b, h, 0, 0) : position(slopes, h, 0, 0, 0);
        const float slope = get(slopes, at);
        const int64_t distance = r->i + offset_of(r, e) - j;
        const int turned = distance < 0 && e != EFFECT_ALIBI_SIGNED;
        bias -= slope * (float)(turned ? -distance : distance);
    }
    return bias;
}

float generated_score(const row *r, const float *q, int64_t j, effect e) {
    const attn_normal *n = r->c->n;
    float s = scale_of(r, e) * generated_product(r, q, j, e);
    const float bias = bias_of(r, j, e), cap = (float)n->problem->softcap;
    if (e == EFFECT_SOFTCAP_AFTER_BIAS) {
        return has(n, ATTEST_SOFTCAP) ? cap * attn_tanhf((s + bias) / cap) : s + bias;
    }
    if (has(n, ATTEST_SOFTCAP) && e != EFFECT_FORGET_SOFTCAP) {
        s = cap * attn_tanhf(s / cap);
    }
    return s + bias;
}
