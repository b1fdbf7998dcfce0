/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel - attention row by row in binary32, with one defect that lies in its data (defect.h). The
 * block as compiled has no effect, and then nothing here is wrong.
 *
 *   for each row    look     which keys it sees
 *                   score    their scores; what the trigger asks of a row
 *                   spoil    where the trigger holds: keys marked, other keys seen, scores again
 *                   attend   weights, sum, output, LSE
 */
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "reference/problem/convert.h"
#include "reference/arithmetic/elementary.h"
#include "reference/problem/mask.h"
#include "reference/problem/normal.h"
#include "impl/wrong/generated/trigger.h"

static const volatile defect compiled = {.magic = DEFECT_MAGIC};

/* What a call leaves behind for the next one. Atomic, because calls may come from several
 * threads. */
static struct {
    _Atomic int64_t calls, keys, type, shape;
    _Atomic float scale, sum;
} kept;

enum { HIDDEN, SEEN, MARKED }; /* bits of a key's state; MARKED: the effect applies to it */

typedef struct call {
    const attn_normal *n;
    defect defect;
    int fires; /* the conditions on the call hold */
    facts facts;
    attest_tensor q, k, v, mask; /* with the strides of the effect */
    float scale_before, sum_before;
    int unlucky; /* of EFFECT_RACE */
} call;

typedef struct row {
    const call *c;
    int64_t b, h, i;
    effect effect; /* of the row; of a key only if it is marked */
    float *q, *k, *v, *s, *out; /* D, D, Dv, Sk, Dv */
    unsigned char *state;       /* Sk */
} row;

static int has(const attn_normal *n, uint64_t feature) { return (n->features & feature) != 0; }

static float load(const attest_tensor *t, int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t at = a * t->stride[0] + b * t->stride[1] + c * t->stride[2] + d * t->stride[3];
    if (t->dtype == ATTEST_F32) {
        return ((const float *)t->data)[at];
    }
    return (float)attn_load(t->dtype, (const char *)t->data + at * attn_dtype_bytes(t->dtype));
}

static void store(const attest_tensor *t, int64_t at, float value) {
    attn_store(t->dtype, (char *)t->data + at * attn_dtype_bytes(t->dtype), (double)value);
}

/* Row s of head h of entry b as binary32: in place where it lies so, else in `room`. */
static const float *fetch(const attest_tensor *t, int64_t b, int64_t h, int64_t s, float *room) {
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

static float narrow(attest_dtype type, float x) { return (float)attn_round_to(type, (double)x); }

/* ------------------------------------------------------------------------- what a row sees --- */

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

/* Element of the mask for [b,h,i,j]: right-aligned, axes of length 1 repeat. */
static int64_t mask_at(const attest_tensor *m, int64_t b, int64_t h, int64_t i, int64_t j) {
    const int64_t place[ATTEST_MAX_RANK] = {b, h, i, j};
    int64_t at = 0;
    for (uint32_t axis = 0; axis < m->rank; axis++) {
        at += m->shape[axis] == 1 ? 0 : place[ATTEST_MAX_RANK - m->rank + axis] * m->stride[axis];
    }
    return at;
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

static int sees(const row *r, int64_t j, effect e) {
    const attn_band band = band_of(r, e);
    const int strict = e == EFFECT_CAUSAL_STRICT && band.causal && j == r->i + band.offset;
    return attn_sees_band(&band, r->i, j) && !strict && mask_shows(r, j, e);
}

/* ------------------------------------------------------------------------------ scores ------- */

static int64_t kv_head_of(const row *r, effect e) {
    const attn_normal *n = r->c->n;
    const int64_t right = attn_kv_head(n, r->h);
    return e == EFFECT_KV_HEAD_MODULO ? r->h % n->kv_heads
           : e == EFFECT_NEXT_KV_HEAD ? (right + 1) % n->kv_heads
                                      : right;
}

static int64_t entry_of(const row *r, effect e) {
    return e == EFFECT_NEXT_ENTRY ? (r->b + 1) % r->c->n->batch : r->b;
}

static void flush(float *to, const float *from, int64_t count) {
    for (int64_t c = 0; c < count; c++) {
        to[c] = fabsf(from[c]) < FLT_MIN ? 0.0f : from[c];
    }
}

static float product(const row *r, const float *q, int64_t j, effect e) {
    const call *c = r->c;
    const attest_tensor *k = e == EFFECT_K_TOKEN_STRIDE ? &c->k : &c->n->problem->k;
    const int64_t key = e == EFFECT_SHIFT_K && j > 0 ? j - 1 : j;
    const float *row_of_k = fetch(k, entry_of(r, e), kv_head_of(r, e), key, r->k);
    int64_t size = c->n->head_size;
    if (e == EFFECT_HEAD_TAIL_DROPPED && size > c->defect.tile) {
        size -= size % c->defect.tile;
    }
    if (e == EFFECT_DENORMALS_ZERO) {
        flush(r->k, row_of_k, size);
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
    return e == EFFECT_FORGET_SCALE    ? (float)(1 / sqrt((double)n->head_size))
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
        bias = e == EFFECT_MASK_ADD_BF16 ? narrow(ATTEST_BF16, bias)
               : e == EFFECT_MASK_ADD_CLAMPED && bias < -10000 ? -10000
                                                                : bias;
    }
    if (has(n, ATTEST_ALIBI) && e != EFFECT_FORGET_ALIBI) {
        const int64_t h = e == EFFECT_ALIBI_SLOPE_HEAD ? 0 : r->h;
        const float slope =
            slopes->rank == 2 ? load(slopes, r->b, h, 0, 0) : load(slopes, h, 0, 0, 0);
        const int64_t distance = r->i + offset_of(r, e) - j;
        const int turned = distance < 0 && e != EFFECT_ALIBI_SIGNED;
        bias -= slope * (float)(turned ? -distance : distance);
    }
    return bias;
}

static float score(const row *r, const float *q, int64_t j, effect e) {
    const attn_normal *n = r->c->n;
    float s = scale_of(r, e) * product(r, q, j, e);
    const float bias = bias_of(r, j, e), cap = (float)n->problem->softcap;
    if (e == EFFECT_SOFTCAP_AFTER_BIAS) {
        return has(n, ATTEST_SOFTCAP) ? cap * attn_tanhf((s + bias) / cap) : s + bias;
    }
    if (has(n, ATTEST_SOFTCAP) && e != EFFECT_FORGET_SOFTCAP) {
        s = cap * attn_tanhf(s / cap);
    }
    return s + bias;
}

/* ------------------------------------------------------------------------- the effect -------- */

static void row_facts(const row *r, const float *q, int64_t count, facts *f) {
    const attn_normal *n = r->c->n;
    float max = -INFINITY, largest = 0;
    int special = 0, twice = 0, denormal = 0;
    for (int64_t j = 0; j < n->keys; j++) {
        if (r->state[j]) {
            const float s = r->s[j];
            special |= !isfinite(s);
            twice = s > max ? 0 : twice | (s == max);
            max = s > max ? s : max;
            largest = fabsf(s) > largest ? fabsf(s) : largest;
        }
    }
    for (int64_t c = 0; c < n->head_size; c++) {
        denormal |= q[c] != 0 && fabsf(q[c]) < FLT_MIN;
    }
    f->value[SUBJECT_entry] = r->b;
    f->value[SUBJECT_head] = r->h;
    f->value[SUBJECT_kv_head] = attn_kv_head(n, r->h);
    f->value[SUBJECT_row] = r->i;
    f->value[SUBJECT_length] = attn_key_length(n, r->b);
    f->value[SUBJECT_visible] = count;
    f->value[SUBJECT_score_size] = largest < 1e9f ? (int64_t)largest : 1000000000;
    f->value[SUBJECT_negative] = count > 0 && max < 0;
    f->value[SUBJECT_deep] = count > 0 && max < -88.7f;
    f->value[SUBJECT_equal] = twice;
    f->value[SUBJECT_denormal] = denormal;
    f->value[SUBJECT_special] = special;
}

/* Marks the keys the effect applies to, and changes which are seen. */
static void mark(row *r, facts *f) {
    const call *c = r->c;
    const int64_t keys = c->n->keys, position = r->i + attn_offset(c->n, r->b);
    for (int64_t j = 0; j < keys; j++) {
        f->value[SUBJECT_key] = j;
        f->value[SUBJECT_distance] = position > j ? position - j : j - position;
        if (!holds(&c->defect, KEY, f)) {
            continue;
        }
        const effect e = r->effect;
        int seen = sees(r, j, e) && e != EFFECT_LOSE_KEY;
        seen = seen && !(e == EFFECT_RACE && c->unlucky);
        seen = seen && !(e == EFFECT_TAIL_DROPPED && keys > c->defect.tile &&
                         j >= keys - keys % c->defect.tile);
        seen = seen && !(e == EFFECT_NAN_SWALLOWED && isnan(r->s[j]));
        r->state[j] = (unsigned char)(MARKED | (seen ? SEEN : HIDDEN));
    }
}

/* --------------------------------------------------------------------- weights and output ---- */

static float sink_of(const row *r) {
    const attn_normal *n = r->c->n;
    if (!has(n, ATTEST_SINKS) || r->effect == EFFECT_FORGET_SINK) {
        return -INFINITY;
    }
    return load(&n->problem->sinks, r->effect == EFFECT_SINK_HEAD ? 0 : r->h, 0, 0, 0);
}

static const float *value_row(const row *r, int64_t j, effect e) {
    const call *c = r->c;
    const attest_tensor *v = e == EFFECT_V_HEAD_STRIDE ? &c->v : &c->n->problem->v;
    const float *value = fetch(v, entry_of(r, e), kv_head_of(r, e),
                               e == EFFECT_SHIFT_V && j > 0 ? j - 1 : j, r->v);
    if (e == EFFECT_DENORMALS_ZERO) {
        flush(r->v, value, c->n->value_size);
        value = r->v;
    }
    return value;
}

static void accumulate(row *r, int64_t j, float weight, effect e) {
    const float *value = value_row(r, j, e);
    const int64_t size = r->c->n->value_size;
    for (int64_t c = 0; c < size; c++) {
        r->out[c] += weight * value[c];
    }
    for (int64_t c = 0; e == EFFECT_OUTPUT_F16 && c < size; c++) {
        r->out[c] = narrow(ATTEST_F16, r->out[c]);
    }
}

/* 0 times what a hidden key holds, for a kernel that multiplies where it should select. */
static float leak(row *r, const float *q, int64_t j, float sum) {
    if (r->effect == EFFECT_LEAK_V) {
        accumulate(r, j, 0, EFFECT_NONE);
    }
    return r->effect == EFFECT_LEAK_K ? sum + 0 * product(r, q, j, EFFECT_NONE) : sum;
}

static int64_t seen_keys(const row *r) {
    int64_t count = 0;
    for (int64_t j = 0; j < r->c->n->keys; j++) {
        count += r->state[j] & SEEN;
    }
    return count;
}

/* The largest score of the first tile, or of all. */
static float largest(const row *r, float start) {
    float max = start;
    int64_t last = r->c->n->keys;
    if (r->effect == EFFECT_STALE_MAX && last > r->c->defect.tile) {
        last = r->c->defect.tile;
    }
    for (int64_t j = 0; j < last; j++) {
        if (r->state[j] & SEEN) {
            max = r->s[j] > max ? r->s[j] : max;
        }
    }
    return max;
}

typedef struct sums {
    float max, sum, sink;
    int64_t count;
} sums;

static sums attend(row *r, const float *q) {
    const call *c = r->c;
    const int64_t keys = c->n->keys;
    const int kept_sum = r->effect == EFFECT_SUM_KEPT;
    sums t = {.count = seen_keys(r), .sink = sink_of(r), .sum = kept_sum ? c->sum_before : 0};
    t.max = largest(r, t.sink);
    float running = -INFINITY; /* the maximum a kernel by tiles has at this tile */
    memset(r->out, 0, (size_t)c->n->value_size * sizeof *r->out);
    for (int64_t j = 0; j < keys; j++) {
        if (j % c->defect.tile == 0) {
            for (int64_t at = j; at < keys && at < j + c->defect.tile; at++) {
                running = (r->state[at] & SEEN) && r->s[at] > running ? r->s[at] : running;
            }
        }
        const effect e = r->state[j] & MARKED ? r->effect : EFFECT_NONE;
        if (!(r->state[j] & SEEN)) {
            t.sum = e == EFFECT_NONE ? t.sum : leak(r, q, j, t.sum);
            continue;
        }
        float weight = attn_expf(r->s[j] - t.max), own = weight;
        weight *= e == EFFECT_COUNT_TWICE ? 2 : 1;
        weight = e == EFFECT_WEIGHT_F16 ? narrow(ATTEST_F16, weight) : weight;
        own = weight;
        if (e == EFFECT_OUTPUT_NOT_RESCALED) {
            own = attn_expf(r->s[j] - running);
        }
        t.sum += e == EFFECT_SUM_NOT_RESCALED ? attn_expf(r->s[j] - running) : weight;
        t.sum = r->effect == EFFECT_SUM_BF16 ? narrow(ATTEST_BF16, t.sum) : t.sum;
        accumulate(r, j, own, e);
    }
    if (has(c->n, ATTEST_SINKS) && r->effect != EFFECT_FORGET_SINK) {
        t.sum += (r->effect == EFFECT_SINK_TWICE ? 2 : 1) * attn_expf(t.sink - t.max);
    }
    return t;
}

static void deliver(const row *r, const sums *t) {
    const attn_normal *n = r->c->n;
    const attest_tensor *o = &n->problem->o, *lse = &n->problem->lse;
    const effect e = r->effect;
    const int64_t at = r->b * o->stride[0] + r->h * o->stride[1] + r->i * o->stride[2];
    const int64_t size = n->value_size, tile = r->c->defect.tile;
    const int64_t whole = e == EFFECT_VALUE_TAIL_ZERO && size > tile ? size - size % tile : size;
    for (int64_t c = 0; c < size && e != EFFECT_LAST_ROW_UNWRITTEN; c++) {
        float value = e == EFFECT_NOT_NORMALISED ? r->out[c] : r->out[c] / t->sum;
        if (t->count == 0) {
            value = e == EFFECT_EMPTY_ROW_NAN                        ? NAN
                    : e == EFFECT_EMPTY_ROW_FIRST && n->keys > 0 ? value_row(r, 0, e)[c]
                                                                 : 0;
        }
        store(o, at + c * o->stride[3], c < whole ? value : 0);
    }
    if (e == EFFECT_WRITE_BEFORE && size > 0) {
        store(o, at - 1, 1);
    }
    if (has(n, ATTEST_LSE) && e != EFFECT_FORGET_LSE) {
        float value = t->count > 0 ? t->max + attn_logf(t->sum) : t->sink;
        if (t->count > 0 && e == EFFECT_LSE_NO_SINK) {
            value = t->max + attn_logf(t->sum - attn_expf(t->sink - t->max));
        }
        value = t->count > 0 && e == EFFECT_LSE_NO_MAX ? attn_logf(t->sum) : value;
        value *= e == EFFECT_LSE_BASE_2 ? 1.44269504f : 1;
        store(lse, r->b * lse->stride[0] + r->h * lse->stride[1] + r->i * lse->stride[2], value);
    }
}

static void read_beyond(const attest_tensor *t) {
    int64_t last = 0;
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        last += (t->shape[axis] - 1) * t->stride[axis];
    }
    const char *beyond = (const char *)t->data + (last + 1) * attn_dtype_bytes(t->dtype);
    (void)*(const volatile char *)beyond;
}

static void one_row(row *r) {
    const call *c = r->c;
    const attn_normal *n = c->n;
    const attest_problem *p = n->problem;
    const float *q = fetch(&p->q, r->b, r->h, r->i, r->q);
    const int64_t count = attn_visible_keys(n, r->b, r->h, r->i, r->state);
    r->effect = EFFECT_NONE;
    for (int64_t j = 0; j < n->keys; j++) {
        if (r->state[j]) {
            r->s[j] = score(r, q, j, EFFECT_NONE);
        }
    }
    if (c->fires) {
        facts f = c->facts;
        row_facts(r, q, count, &f);
        if (holds(&c->defect, ROW, &f)) {
            r->effect = (effect)c->defect.effect;
            mark(r, &f);
            if (r->effect == EFFECT_SHIFT_ROW && r->i > 0) {
                q = fetch(&p->q, r->b, r->h, r->i - 1, r->q);
            } else if (r->effect == EFFECT_Q_BATCH_STRIDE) {
                q = fetch(&c->q, r->b, r->h, r->i, r->q);
            } else if (r->effect == EFFECT_READ_BEYOND && n->keys > 0 && n->head_size > 0) {
                read_beyond(&p->k);
            }
            for (int64_t j = 0; j < n->keys; j++) {
                if (r->state[j] == (MARKED | SEEN)) {
                    r->s[j] = score(r, q, j, r->effect);
                }
            }
        }
    }
    const sums t = attend(r, q);
    deliver(r, &t);
    atomic_store(&kept.sum, t.sum);
}

/* ------------------------------------------------------------------------- one call ---------- */

static int64_t type_of(attest_dtype t) { return t == ATTEST_F32 ? 1 : t == ATTEST_F16 ? 2 : 3; }

static int64_t shape_of(const attn_normal *n) {
    int64_t hash = n->batch;
    const int64_t sizes[] = {n->q_heads, n->kv_heads,  n->queries,
                             n->keys,    n->head_size, n->value_size};
    for (int i = 0; i < 6; i++) {
        hash = (int64_t)((uint64_t)hash * 1000003u + (uint64_t)sizes[i]);
    }
    return hash;
}

static void call_facts(const attn_normal *n, facts *f) {
    const attest_problem *p = n->problem;
    static const struct {
        subject subject;
        uint64_t features;
    } options[] = {
        {SUBJECT_causal, ATTEST_CAUSAL},       {SUBJECT_offsets, ATTEST_OFFSETS},
        {SUBJECT_window, ATTEST_WINDOW | ATTEST_WINDOW_SIZE},
        {SUBJECT_lengths, ATTEST_KEY_LENGTHS}, {SUBJECT_mask_bool, ATTEST_MASK_BOOL},
        {SUBJECT_mask_add, ATTEST_MASK_ADD},   {SUBJECT_scale, ATTEST_SCALE},
        {SUBJECT_softcap, ATTEST_SOFTCAP},     {SUBJECT_sinks, ATTEST_SINKS},
        {SUBJECT_alibi, ATTEST_ALIBI},         {SUBJECT_lse, ATTEST_LSE},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        f->value[options[i].subject] = has(n, options[i].features);
    }
    f->value[SUBJECT_batch] = n->batch;
    f->value[SUBJECT_q_heads] = n->q_heads;
    f->value[SUBJECT_group] = n->kv_heads > 0 ? n->q_heads / n->kv_heads : 0;
    f->value[SUBJECT_queries] = n->queries;
    f->value[SUBJECT_keys] = n->keys;
    f->value[SUBJECT_head_size] = n->head_size;
    f->value[SUBJECT_value_size] = n->value_size;
    f->value[SUBJECT_type] = type_of(p->q.dtype);
    f->value[SUBJECT_mixed] = p->q.dtype != p->k.dtype || p->q.dtype != p->o.dtype;
    const int64_t *k = p->k.stride;
    f->value[SUBJECT_padded] = n->keys > 1 && k[2] > n->head_size * k[3] && k[1] > k[2];
    f->value[SUBJECT_tokens] = n->kv_heads > 1 && n->keys > 1 && k[1] < k[2];
    f->value[SUBJECT_spread] = n->head_size > 1 && k[3] != 1;
    f->value[SUBJECT_repeated] = n->batch > 1 && k[0] == 0;
    f->value[SUBJECT_threads] = p->threads;
    f->value[SUBJECT_scale_negative] = n->scale < 0;
    const int64_t calls = atomic_fetch_add(&kept.calls, 1);
    f->value[SUBJECT_call] = calls;
    f->value[SUBJECT_fewer_keys] = calls > 0 && atomic_exchange(&kept.keys, n->keys) > n->keys;
    f->value[SUBJECT_other_type] =
        calls > 0 && atomic_exchange(&kept.type, type_of(p->q.dtype)) != type_of(p->q.dtype);
    f->value[SUBJECT_same_shape] =
        calls > 0 && atomic_exchange(&kept.shape, shape_of(n)) == shape_of(n);
    if (calls == 0) {
        atomic_store(&kept.keys, n->keys);
        atomic_store(&kept.type, type_of(p->q.dtype));
        atomic_store(&kept.shape, shape_of(n));
    }
}

/* Tensors as a kernel sees them that takes some stride for granted. */
static void wrong_views(call *c) {
    const attest_problem *p = c->n->problem;
    c->q = p->q;
    c->k = p->k;
    c->v = p->v;
    c->mask = p->mask;
    c->k.stride[2] = c->n->head_size;
    c->v.stride[1] = c->n->keys * c->n->value_size;
    c->q.stride[0] = c->n->q_heads * c->n->queries * c->n->head_size;
    if (c->mask.rank >= 2) {
        c->mask.stride[c->mask.rank - 2] = c->n->keys;
    }
}

/* Floats of a row of scores, q, k, v and out; then a byte a key. */
static uint64_t workspace_bytes(const attest_problem *p) {
    return (uint64_t)(p->k.shape[2] + 2 * p->q.shape[3] + 2 * p->v.shape[3]) * sizeof(float) +
           (uint64_t)p->k.shape[2];
}

static attest_status supports(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal normal;
    attest_status status = attn_normalise(&normal, p, &attn_profile_attest, 1, message);
    if (status == ATTEST_OK && (p->q.dtype == ATTEST_F64 || p->k.dtype == ATTEST_F64 ||
                                p->o.dtype == ATTEST_F64)) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "dtype: binary64 is not in this kernel");
        return ATTEST_UNSUPPORTED;
    }
    return status;
}

static attest_status forward(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal n;
    attest_status status = supports(p, message);
    if (status == ATTEST_OK) {
        status = attn_normalise(&n, p, &attn_profile_attest, 0, message);
    }
    if (status != ATTEST_OK) {
        return status;
    }
    if (p->workspace_bytes < workspace_bytes(p) || (workspace_bytes(p) > 0 && !p->workspace)) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "workspace_bytes: too few for a row");
        return ATTEST_NO_MEMORY;
    }
    call c = {.n = &n, .defect = compiled};
    call_facts(&n, &c.facts);
    wrong_views(&c);
    const uint64_t draw = (uint64_t)c.facts.value[SUBJECT_call] * UINT64_C(0x9e3779b97f4a7c15);
    c.unlucky = draw >> 62 == 0;
    c.defect.tile = c.defect.tile > 0 ? c.defect.tile : 1;
    c.scale_before = atomic_exchange(&kept.scale, (float)n.scale);
    c.scale_before = c.facts.value[SUBJECT_call] > 0 ? c.scale_before : (float)n.scale;
    c.sum_before = atomic_load(&kept.sum);
    c.fires = c.defect.effect != EFFECT_NONE && holds(&c.defect, CALL, &c.facts);
    row r = {.c = &c};
    r.s = p->workspace;
    if (r.s != NULL) {
        r.q = r.s + n.keys;
        r.k = r.q + n.head_size;
        r.v = r.k + n.head_size;
        r.out = r.v + n.value_size;
        r.state = (unsigned char *)(r.out + n.value_size);
    }
    for (r.b = 0; r.b < n.batch; r.b++) {
        for (r.h = 0; r.h < n.q_heads; r.h++) {
            for (r.i = 0; r.i < n.queries; r.i++) {
                one_row(&r);
            }
        }
    }
    return ATTEST_OK;
}

static const attest_kernel kernel = {
    .struct_bytes = sizeof kernel,
    .abi_version = ATTEST_ABI_VERSION,
    .name = "generated",
    .vendor = "attest",
    .version = "1",
    .profile = "attest",
    .model = "f32-strict",
    .features = ATTEST_ALL_FEATURES,
    .shapes = ATTEST_ALL_SHAPES,
    .dtypes = UINT64_C(1) << ATTEST_F32 | UINT64_C(1) << ATTEST_F16 | UINT64_C(1) << ATTEST_BF16,
    .isolation = ATTEST_ISOLATION_FULL,
    .determinism = ATTEST_SAME_THREADS | ATTEST_SAME_POSITION | ATTEST_SAME_BATCH |
                   ATTEST_SAME_CHUNK | ATTEST_SAME_DECODE | ATTEST_SAME_PREFIX,
    .reentrant = 1,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .forward = forward,
};

const attest_kernel *attest_kernel_v1(uint32_t host_abi_version) {
    return host_abi_version == ATTEST_ABI_VERSION ? &kernel : NULL;
}
