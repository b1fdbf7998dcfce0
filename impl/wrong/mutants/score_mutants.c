/* SPDX-License-Identifier: Apache-2.0 */
/* score - a row at a time; wrong about scores, the softmax, sinks, ALiBi, LSE or special values. */
#include "impl/wrong/mutants/base.h"

#define FAMILY "score"
enum {
    CORRECT,
    /* scale */
    SCALE_ROUNDED_TO_HALF,
    SCALE_FROM_PADDED_SIZE,
    SCALE_FROM_VALUE_SIZE,
    SCALE_FROM_MODEL_WIDTH,
    SCALE_ZERO_IS_DEFAULT,
    SCALE_BY_ROOT,
    /* softcap */
    SOFTCAP_AFTER_MASK,
    SOFTCAP_AFTER_BIAS,
    SOFTCAP_IGNORED,
    SOFTCAP_CLAMPS,
    SOFTCAP_BEFORE_SCALE,
    SOFTCAP_AS_INTEGER,
    /* product */
    PRODUCT_IN_HALF,
    PRODUCT_STORED_IN_HALF,
    BFLOAT_OPERANDS,
    HEAD_SIZE_TAIL_DROPPED,
    /* softmax */
    NO_MAX_SHIFT,
    MAX_BEFORE_SCALE,
    MAX_OF_FIRST_KEYS,
    SCORES_CLAMPED,
    EXP_BY_SQUARING,
    EXP_SLIGHTLY_STEEP,
    WEIGHTS_IN_HALF,
    WEIGHTS_IN_BFLOAT,
    SMALL_WEIGHTS_DROPPED,
    SUM_IN_HALF,
    OUTPUT_SUM_IN_HALF,
    DENORMALS_FLUSHED,
    /* hidden and special values */
    HIDDEN_VALUE_TIMES_ZERO,
    HIDDEN_KEY_PLUS_MINUS_INF,
    HIDDEN_SCORE_IN_MAX,
    HIDDEN_WEIGHT_MULTIPLIED,
    NAN_BECOMES_ZERO,
    NAN_SCORE_MEANS_EMPTY,
    ZERO_WEIGHT_SKIPS_VALUE,
    ALL_MINUS_INF_MEANS_EMPTY,
    ONE_KEY_IS_COPIED,
    /* rows without keys */
    EMPTY_ROW_NAN,
    EMPTY_ROW_MEAN,
    EMPTY_ROW_FIRST_VALUE,
    /* LSE */
    LSE_EMPTY_PLUS_INF,
    LSE_EMPTY_ZERO,
    LSE_BASE_2,
    LSE_WITHOUT_MAX,
    LSE_WITHOUT_SINK,
    LSE_BEFORE_SOFTCAP,
    /* sinks */
    SINK_IGNORED,
    SINK_TWICE,
    SINK_OUTSIDE_MAX,
    SINK_SCALED,
    SINK_CAPPED,
    SINK_HAS_A_VALUE,
    SINK_LOST_WITHOUT_KEYS,
    SINK_OF_KV_HEAD,
    /* ALiBi */
    ALIBI_REWARDS_DISTANCE,
    ALIBI_WITHOUT_OFFSET,
    ALIBI_ONE_FURTHER,
    ALIBI_BY_KEY,
    ALIBI_SIGNED_DISTANCE,
    ALIBI_POWER_OF_TWO_HEADS,
    ALIBI_FIRST_BATCH_SLOPES
};

static float scale_of(const attn_normal *n) {
    double size = (double)n->head_size;
    int given = has(n, ATTEST_SCALE);
    if (MUTANT == SCALE_FROM_PADDED_SIZE && !given) {
        return (float)(1 / sqrt(ceil(size / 8) * 8));
    }
    if (MUTANT == SCALE_FROM_VALUE_SIZE && !given) {
        return (float)(1 / sqrt((double)n->value_size));
    }
    if (MUTANT == SCALE_FROM_MODEL_WIDTH && !given) {
        return (float)(1 / sqrt(size * (double)n->q_heads));
    }
    if (MUTANT == SCALE_ZERO_IS_DEFAULT && given && n->scale == 0) {
        return (float)(1 / sqrt(size));
    }
    if (MUTANT == SCALE_ROUNDED_TO_HALF && n->problem->q.dtype == ATTEST_F16) {
        return round_half((float)n->scale);
    }
    if (MUTANT == SCALE_BY_ROOT) { /* a root on q and a root on k: no negative scales */
        return sqrtf((float)n->scale) * sqrtf((float)n->scale);
    }
    return (float)n->scale;
}

static float product(const row *r, int64_t j) {
    const float *k = r->k + j * r->n->head_size;
    int64_t size = r->n->head_size;
    if (MUTANT == HEAD_SIZE_TAIL_DROPPED && size > 32) {
        size -= size % 32;
    }
    float sum = 0;
    for (int64_t c = 0; c < size; c++) {
        float q = r->q[c], x = k[c];
        if (MUTANT == BFLOAT_OPERANDS) {
            q = (float)attn_round_to(ATTEST_BF16, (double)q);
            x = (float)attn_round_to(ATTEST_BF16, (double)x);
        }
        sum += q * x;
        if (MUTANT == PRODUCT_IN_HALF && r->n->problem->q.dtype == ATTEST_F16) {
            sum = round_half(sum);
        }
    }
    if (MUTANT == PRODUCT_STORED_IN_HALF && r->n->problem->q.dtype == ATTEST_F16) {
        sum = round_half(sum);
    }
    return sum;
}

static float alibi(const row *r, int64_t j) {
    const attn_normal *n = r->n;
    int64_t heads = 1, h = r->h, offset = attn_offset(n, r->b);
    while (heads * 2 <= n->q_heads) {
        heads *= 2;
    }
    if (MUTANT == ALIBI_POWER_OF_TWO_HEADS) {
        h %= heads;
    }
    float slope = slope_of(n, MUTANT == ALIBI_FIRST_BATCH_SLOPES ? 0 : r->b, h);
    int64_t distance = r->i + (MUTANT == ALIBI_WITHOUT_OFFSET ? 0 : offset) - j;
    if (MUTANT == ALIBI_BY_KEY) { /* the same weights under a causal mask, another LSE */
        return slope * (float)j;
    }
    if (MUTANT != ALIBI_SIGNED_DISTANCE) {
        distance = distance < 0 ? -distance : distance;
    }
    distance += MUTANT == ALIBI_ONE_FURTHER && n->queries == 1;
    return (MUTANT == ALIBI_REWARDS_DISTANCE ? slope : -slope) * (float)distance;
}

static float bias(const row *r, int64_t j) {
    const attest_tensor *mask = &r->n->problem->mask;
    float value = has(r->n, ATTEST_MASK_ADD) ? get(mask, mask_at(mask, r->b, r->h, r->i, j)) : 0;
    return has(r->n, ATTEST_ALIBI) ? value + alibi(r, j) : value;
}

static float score(const row *r, int64_t j) {
    const attn_normal *n = r->n;
    float s = scale_of(n) * product(r, j), b = bias(r, j), cap = (float)n->problem->softcap;
    cap = MUTANT == SOFTCAP_AS_INTEGER ? truncf(cap) : cap; /* and 0 means off */
    if (!has(n, ATTEST_SOFTCAP) || MUTANT == SOFTCAP_IGNORED || cap == 0) {
        return s + b;
    }
    if (MUTANT == SOFTCAP_AFTER_BIAS || MUTANT == SOFTCAP_AFTER_MASK) {
        return cap * attn_tanhf((s + b) / cap);
    }
    if (MUTANT == SOFTCAP_CLAMPS) {
        return (s > cap ? cap : s < -cap ? -cap : s) + b;
    }
    if (MUTANT == SOFTCAP_BEFORE_SCALE) {
        return scale_of(n) * cap * attn_tanhf(product(r, j) / cap) + b;
    }
    return cap * attn_tanhf(s / cap) + b;
}

static float sink(const row *r) {
    const attn_normal *n = r->n;
    float value = sink_of(n, MUTANT == SINK_OF_KV_HEAD ? attn_kv_head(n, r->h) : r->h);
    if (MUTANT == SINK_IGNORED) {
        return -INFINITY;
    }
    if (MUTANT == SINK_SCALED && has(n, ATTEST_SINKS)) {
        return scale_of(n) * value;
    }
    return MUTANT == SINK_CAPPED ? bend(n, value) : value;
}

static float weight(float shifted) {
    float w = attn_expf(shifted);
    if (MUTANT == EXP_BY_SQUARING) {
        w = 1 + shifted / 1024;
        w = w < 0 ? 0 : w;
        for (int n = 0; n < 10; n++) {
            w *= w;
        }
    }
    if (MUTANT == EXP_SLIGHTLY_STEEP) {
        w = attn_expf(shifted * 1.0001f);
    }
    if (MUTANT == SMALL_WEIGHTS_DROPPED && w < 1e-3f) {
        w = 0;
    }
    if (MUTANT == WEIGHTS_IN_BFLOAT) {
        w = (float)attn_round_to(ATTEST_BF16, (double)w);
    }
    return MUTANT == WEIGHTS_IN_HALF ? round_half(w) : w;
}

static int value_is_read(const row *r, int64_t j, float w) {
    if (MUTANT == ZERO_WEIGHT_SKIPS_VALUE && w == 0) {
        return 0;
    }
    return r->visible[j] || MUTANT == HIDDEN_VALUE_TIMES_ZERO;
}

/* A row with at least one visible key. */
static void softmax(row *r, float sink_value) {
    const attn_normal *n = r->n;
    float max = MUTANT == SINK_OUTSIDE_MAX ? -INFINITY : sink_value, sum = 0;
    for (int64_t j = 0; j < n->keys; j++) {
        if (!r->visible[j] && MUTANT != HIDDEN_SCORE_IN_MAX) {
            continue;
        }
        if (MUTANT == MAX_OF_FIRST_KEYS && j >= 64) {
            continue;
        }
        float s = MUTANT == MAX_BEFORE_SCALE ? product(r, j) : r->s[j];
        max = s > max ? s : max;
    }
    if (MUTANT == NO_MAX_SHIFT) {
        max = 0;
    }
    memset(r->out, 0, (size_t)n->value_size * sizeof(float));
    for (int64_t j = 0; j < n->keys; j++) {
        float w = r->visible[j] ? weight(r->s[j] - max) : 0;
        if (MUTANT == HIDDEN_WEIGHT_MULTIPLIED) {
            w = weight(r->s[j] - max) * (float)r->visible[j];
        }
        if (MUTANT == SOFTCAP_AFTER_MASK && has(n, ATTEST_SOFTCAP) && !r->visible[j]) {
            w = weight(-(float)n->problem->softcap - max);
        }
        sum += w;
        sum = MUTANT == SUM_IN_HALF ? round_half(sum) : sum;
        int read = value_is_read(r, j, w) || (MUTANT == SOFTCAP_AFTER_MASK && w > 0);
        for (int64_t c = 0; c < n->value_size && read; c++) {
            r->out[c] += w * r->v[j * n->value_size + c];
            if (MUTANT == OUTPUT_SUM_IN_HALF) {
                r->out[c] = round_half(r->out[c]);
            }
            if (MUTANT == DENORMALS_FLUSHED && fabsf(r->out[c]) < 0x1p-126f) {
                r->out[c] = 0;
            }
        }
    }
    float before_sink = sum;
    if (has(n, ATTEST_SINKS)) {
        float w = weight(sink_value - max);
        sum += MUTANT == SINK_TWICE ? 2 * w : w;
        if (MUTANT == SINK_HAS_A_VALUE) {
            for (int64_t c = 0; c < n->value_size; c++) {
                r->out[c] += w;
            }
        }
    }
    for (int64_t c = 0; c < n->value_size; c++) {
        r->out[c] /= sum;
        if (MUTANT == NAN_BECOMES_ZERO && isnan(r->out[c])) {
            r->out[c] = 0;
        }
    }
    r->lse = max + attn_logf(MUTANT == LSE_WITHOUT_SINK ? before_sink : sum);
    if (MUTANT == LSE_BASE_2) {
        r->lse *= 1.44269504f;
    }
    if (MUTANT == LSE_WITHOUT_MAX) {
        r->lse = attn_logf(sum);
    }
    if (MUTANT == LSE_BEFORE_SOFTCAP && has(n, ATTEST_SOFTCAP)) {
        float total = 0;
        for (int64_t j = 0; j < n->keys; j++) {
            total += r->visible[j] ? attn_expf(scale_of(n) * product(r, j) + bias(r, j) - max) : 0;
        }
        r->lse = max + attn_logf(total);
    }
}

static void empty_row(row *r, float sink_value) {
    const attn_normal *n = r->n;
    memset(r->out, 0, (size_t)n->value_size * sizeof(float));
    r->lse = MUTANT == SINK_LOST_WITHOUT_KEYS ? -INFINITY : sink_value;
    if (has(n, ATTEST_SINKS)) {
        return;
    }
    if (MUTANT == LSE_EMPTY_PLUS_INF) {
        r->lse = INFINITY;
    }
    if (MUTANT == LSE_EMPTY_ZERO) {
        r->lse = 0;
    }
    for (int64_t c = 0; c < n->value_size; c++) {
        if (MUTANT == EMPTY_ROW_NAN) {
            r->out[c] = NAN;
        }
        for (int64_t j = 0; MUTANT == EMPTY_ROW_MEAN && j < n->keys; j++) {
            r->out[c] += r->v[j * n->value_size + c] / (float)n->keys;
        }
        if (MUTANT == EMPTY_ROW_FIRST_VALUE && n->keys > 0) {
            r->out[c] = r->v[c];
        }
    }
}

static int64_t score_row(row *r) {
    int64_t count = 0;
    int nan_seen = 0, finite_seen = 0;
    for (int64_t j = 0; j < r->n->keys; j++) {
        r->s[j] = score(r, j);
        if (MUTANT == HIDDEN_KEY_PLUS_MINUS_INF && !r->visible[j]) {
            r->s[j] += -INFINITY; /* NaN stays NaN */
            r->visible[j] = 1;
            memset(r->v + j * r->n->value_size, 0, (size_t)r->n->value_size * sizeof(float));
            continue;
        }
        if (MUTANT == SCORES_CLAMPED) {
            r->s[j] = r->s[j] > 50 ? 50 : r->s[j] < -50 ? -50 : r->s[j];
        }
        count += r->visible[j];
        nan_seen |= r->visible[j] && isnan(r->s[j]);
        finite_seen |= r->visible[j] && r->s[j] > -INFINITY;
    }
    if (MUTANT == NAN_SCORE_MEANS_EMPTY && nan_seen) {
        return 0;
    }
    if (MUTANT == ALL_MINUS_INF_MEANS_EMPTY && !finite_seen && !nan_seen) {
        return 0;
    }
    return count;
}

/* Mutants that look at hidden keys gather them too. */
static void gather_all(row *r) {
    const attn_normal *n = r->n;
    int64_t g = attn_kv_head(n, r->h);
    int hidden = MUTANT == HIDDEN_VALUE_TIMES_ZERO || MUTANT == HIDDEN_KEY_PLUS_MINUS_INF ||
                 MUTANT == HIDDEN_SCORE_IN_MAX || MUTANT == HIDDEN_WEIGHT_MULTIPLIED ||
                 MUTANT == SOFTCAP_AFTER_MASK || MUTANT == EMPTY_ROW_MEAN ||
                 MUTANT == EMPTY_ROW_FIRST_VALUE;
    fetch(r->q, &n->problem->q, r->b, r->h, r->i);
    for (int64_t j = 0; j < n->keys; j++) {
        if (r->visible[j] || hidden) {
            fetch(r->k + j * n->head_size, &n->problem->k, r->b, g, j);
            fetch(r->v + j * n->value_size, &n->problem->v, r->b, g, j);
        } else { /* a score is computed for every key; it is not used */
            memset(r->k + j * n->head_size, 0, (size_t)n->head_size * sizeof(float));
        }
    }
}

static void one_row(row *r) {
    attn_visible_keys(r->n, r->b, r->h, r->i, r->visible);
    gather_all(r);
    int64_t count = score_row(r);
    if (count == 0) {
        empty_row(r, sink(r));
    } else {
        softmax(r, sink(r));
    }
    if (MUTANT == ONE_KEY_IS_COPIED && r->n->keys == 1) { /* forgets masks and sinks */
        fetch(r->out, &r->n->problem->v, r->b, attn_kv_head(r->n, r->h), 0);
    }
    deliver(r);
}

static uint64_t scratch_bytes(const attn_normal *n) { return row_bytes(n); }

static void run(const attn_normal *n) { for_each_row(n, n->problem->workspace, one_row); }

#include "impl/wrong/mutants/mutant_entry.h"
