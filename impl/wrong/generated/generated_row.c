/* SPDX-License-Identifier: Apache-2.0 */
/* generated_row.c - a row with the effect where the trigger holds: keys, weights, output. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "impl/wrong/generated/generated_row.h"
#include "reference/arithmetic/elementary.h"

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
        int seen = generated_sees(r, j, e) && e != EFFECT_LOSE_KEY;
        seen = seen && !(e == EFFECT_RACE && c->unlucky);
        seen = seen && !(e == EFFECT_TAIL_DROPPED && keys > c->defect.tile &&
                         j >= keys - keys % c->defect.tile);
        seen = seen && !(e == EFFECT_NAN_SWALLOWED && isnan(r->s[j]));
        r->state[j] = (unsigned char)(MARKED | (seen ? SEEN : HIDDEN));
    }
}

static float sink_of(const row *r) {
    const attn_normal *n = r->c->n;
    if (!has(n, ATTEST_SINKS) || r->effect == EFFECT_FORGET_SINK) {
        return -INFINITY;
    }
    const attest_tensor *sinks = &n->problem->sinks;
    return get(sinks, r->effect == EFFECT_SINK_HEAD ? 0 : r->h * sinks->stride[0]);
}

static const float *value_row(const row *r, int64_t j, effect e) {
    const call *c = r->c;
    const attest_tensor *v = e == EFFECT_V_HEAD_STRIDE ? &c->v : &c->n->problem->v;
    const float *value = generated_fetch(v, generated_entry(r, e), generated_kv_head(r, e),
                                         e == EFFECT_SHIFT_V && j > 0 ? j - 1 : j, r->v);
    if (e == EFFECT_DENORMALS_ZERO) {
        generated_flush_denormals(r->v, value, c->n->value_size);
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
    return r->effect == EFFECT_LEAK_K ? sum + 0 * generated_product(r, q, j, EFFECT_NONE) : sum;
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
            value = e == EFFECT_EMPTY_ROW_NAN                    ? NAN
                    : e == EFFECT_EMPTY_ROW_FIRST && n->keys > 0 ? value_row(r, 0, e)[c]
                                                                 : 0;
        }
        put(o, at + c * o->stride[3], c < whole ? value : 0);
    }
    if (e == EFFECT_WRITE_BEFORE && size > 0) {
        put(o, at - 1, 1);
    }
    if (has(n, ATTEST_LSE) && e != EFFECT_FORGET_LSE) {
        float value = t->count > 0 ? t->max + attn_logf(t->sum) : t->sink;
        if (t->count > 0 && e == EFFECT_LSE_NO_SINK) {
            value = t->max + attn_logf(t->sum - attn_expf(t->sink - t->max));
        }
        value = t->count > 0 && e == EFFECT_LSE_NO_MAX ? attn_logf(t->sum) : value;
        value *= e == EFFECT_LSE_BASE_2 ? 1.44269504f : 1;
        put(lse, r->b * lse->stride[0] + r->h * lse->stride[1] + r->i * lse->stride[2], value);
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

float generated_row(row *r) {
    const call *c = r->c;
    const attn_normal *n = c->n;
    const attest_problem *p = n->problem;
    const float *q = generated_fetch(&p->q, r->b, r->h, r->i, r->q);
    const int64_t count = attn_visible_keys(n, r->b, r->h, r->i, r->state);
    r->effect = EFFECT_NONE;
    for (int64_t j = 0; j < n->keys; j++) {
        if (r->state[j]) {
            r->s[j] = generated_score(r, q, j, EFFECT_NONE);
        }
    }
    if (c->fires) {
        facts f = c->facts;
        row_facts(r, q, count, &f);
        if (holds(&c->defect, ROW, &f)) {
            r->effect = (effect)c->defect.effect;
            mark(r, &f);
            if (r->effect == EFFECT_SHIFT_ROW && r->i > 0) {
                q = generated_fetch(&p->q, r->b, r->h, r->i - 1, r->q);
            } else if (r->effect == EFFECT_Q_BATCH_STRIDE) {
                q = generated_fetch(&c->q, r->b, r->h, r->i, r->q);
            } else if (r->effect == EFFECT_READ_BEYOND && n->keys > 0 && n->head_size > 0) {
                read_beyond(&p->k);
            }
            for (int64_t j = 0; j < n->keys; j++) {
                if (r->state[j] == (MARKED | SEEN)) {
                    r->s[j] = generated_score(r, q, j, r->effect);
                }
            }
        }
    }
    const sums t = attend(r, q);
    deliver(r, &t);
    return t.sum;
}
