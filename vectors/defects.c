/* SPDX-License-Identifier: Apache-2.0 */
#include "defects.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "convert.h"
#include "elementary.h"

typedef struct evaluator {
    const attn_normal *n;
    const attest_problem *p;
    unsigned char on[ATTEST_DEFECTS];
    double *score, *weight;
    unsigned char *visible;
    double scale;
    attest_score_stage stage;
} evaluator;

typedef struct place {
    int64_t b, h, i;
} place;

/* The element [a,h,s,c], or the one that the other order of heads and sequence has there. */
static double load(const evaluator *e, const attest_tensor *t, int64_t a, int64_t h, int64_t s,
                   int64_t c) {
    int64_t index[ATTEST_MAX_RANK] = {a, h, s, c};
    if (e->on[ATTEST_LAYOUT_SWAPPED] && t->rank == 4) {
        int64_t flat = s * t->shape[1] + h;
        index[1] = flat / t->shape[2];
        index[2] = flat % t->shape[2];
    }
    double x = attn_load(t->dtype, attn_element(t, index));
    double smallest = t->dtype == ATTEST_F16 ? 0x1p-14 : t->dtype == ATTEST_F64 ? DBL_MIN : FLT_MIN;
    if (e->on[ATTEST_DENORMALS_FLUSHED] && fabs(x) < smallest) {
        return 0;
    }
    return e->on[ATTEST_NAN_SWALLOWED] && isnan(x) ? 0 : x;
}

static int64_t kv_head(const evaluator *e, int64_t h) {
    int tiled = e->n->profile.gqa_order == ATTN_GQA_TILED;
    if (e->on[ATTEST_KV_HEAD_0]) {
        return 0;
    }
    return tiled != e->on[ATTEST_HEADS_TILED] ? h % e->n->kv_heads
                                              : h / (e->n->q_heads / e->n->kv_heads);
}

static int64_t length_of(const evaluator *e, int64_t b) {
    if (!(e->p->features & ATTEST_KEY_LENGTHS)) {
        return e->n->keys;
    }
    int64_t entry = e->on[ATTEST_LENGTH_OF_ENTRY_0] ? 0 : b;
    return ((const int64_t *)e->p->key_lengths.data)[entry * e->p->key_lengths.stride[0]];
}

static int64_t offset_of(const evaluator *e, int64_t b) {
    if (e->p->features & ATTEST_OFFSETS) {
        int64_t given = ((const int64_t *)e->p->offsets.data)[b * e->p->offsets.stride[0]];
        return e->on[ATTEST_OFFSET_IGNORED] ? 0 : given;
    }
    int top_left = e->n->profile.corner == ATTN_CORNER_TOP_LEFT ||
                   (e->n->profile.corner == ATTN_CORNER_BOTTOM_RIGHT_LENGTHS &&
                    !(e->p->features & ATTEST_KEY_LENGTHS));
    return top_left != e->on[ATTEST_CORNER_SWAPPED] ? 0 : length_of(e, b) - e->n->queries;
}

/* Where key j of the normal form lies on the axis of K and V. */
static int64_t stored_key(const evaluator *e, int64_t b, int64_t j) {
    int64_t past = e->p->features & ATTEST_OFFSETS ? offset_of(e, b) : 0;
    if (e->on[ATTEST_CACHE_AFTER_NEW] && past > 0 && past < e->n->keys) {
        return (j + past) % e->n->keys;
    }
    return j;
}

static double mask_value(const evaluator *e, place at, int64_t j) {
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

static int has_mask(const evaluator *e) {
    int causal = (e->p->features & ATTEST_CAUSAL) != 0;
    if (e->on[ATTEST_MASK_DROPPED] || (causal && e->on[ATTEST_CAUSAL_REPLACES_MASK])) {
        return 0;
    }
    return (e->n->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) != 0;
}

static int has_causal(const evaluator *e) {
    return (e->n->features & ATTEST_CAUSAL) && !e->on[ATTEST_CAUSAL_IGNORED] &&
           !(has_mask(e) && e->on[ATTEST_MASK_REPLACES_CAUSAL]);
}

static int in_window(const evaluator *e, int64_t position, int64_t j) {
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

static int64_t loop_end(const evaluator *e) {
    int64_t end = e->n->keys;
    const int64_t limits[] = {16, 64, 128};
    for (int k = 0; k < 3; k++) {
        end = e->on[ATTEST_FIRST_16_KEYS + k] && end > limits[k] ? limits[k] : end;
    }
    end -= e->on[ATTEST_LAST_KEY_DROPPED] && end > 0;
    return e->on[ATTEST_TAIL_OF_8_DROPPED] ? end - end % 8 : end;
}

static int sees(const evaluator *e, place at, int64_t j) {
    int64_t position = at.i + offset_of(e, at.b);
    int64_t frontier = position + e->on[ATTEST_CAUSAL_ONE_MORE] - e->on[ATTEST_CAUSAL_STRICT];
    int64_t length = length_of(e, at.b) + e->on[ATTEST_LENGTH_IS_INDEX];
    if (j >= loop_end(e) || (has_causal(e) && j > frontier) ||
        (!e->on[ATTEST_LENGTHS_IGNORED] && j >= length) ||
        !in_window(e, e->on[ATTEST_WINDOW_NOT_SHIFTED] ? at.i : position, j)) {
        return 0;
    }
    double mask = has_mask(e) ? mask_value(e, at, j) : 0;
    int hides = mask == (double)-INFINITY || (e->on[ATTEST_LARGE_NEGATIVE_HIDES] && mask < -1e4);
    return !hides;
}

static double alibi(const evaluator *e, place at, int64_t j) {
    const attest_tensor *slopes = &e->p->slopes;
    double slope = slopes->rank == 2 ? load(e, slopes, at.b, at.h, 0, 0)
                                     : load(e, slopes, at.h, 0, 0, 0);
    int64_t offset = e->on[ATTEST_ALIBI_NOT_SHIFTED] ? 0 : offset_of(e, at.b);
    double steps = (double)(at.i + offset - j);
    if (e->on[ATTEST_ALIBI_BY_KEY]) {
        return slope * (double)j;
    }
    return -slope * (e->on[ATTEST_ALIBI_SIGNED] ? steps : fabs(steps));
}

static double bias_of(const evaluator *e, place at, int64_t j) {
    double bias = has_mask(e) && (e->n->features & ATTEST_MASK_ADD) ? mask_value(e, at, j) : 0;
    if (e->on[ATTEST_MASK_IS_SCALED]) {
        bias *= e->scale;
    }
    if ((e->p->features & ATTEST_ALIBI) && !e->on[ATTEST_ALIBI_IGNORED]) {
        bias += alibi(e, at, j);
    }
    return bias;
}

static double bend(const evaluator *e, double score) {
    double cap = e->p->softcap;
    if (e->on[ATTEST_SOFTCAP_CLAMPS]) {
        return fmin(fmax(score, -cap), cap);
    }
    return cap * attn_tanh(score / cap);
}

static double score_of(const evaluator *e, place at, int64_t j) {
    int64_t entry = e->on[ATTEST_KV_ENTRY_0] ? 0 : at.b;
    int64_t end = e->n->head_size - (e->on[ATTEST_LAST_ELEMENT_DROPPED] ? 1 : 0);
    double dot = 0;
    end = e->on[ATTEST_FIRST_64_ELEMENTS] && end > 64 ? 64 : end;
    for (int64_t d = 0; d < end; d++) {
        dot += load(e, &e->p->q, at.b, at.h, at.i, d) *
               load(e, &e->p->k, entry, kv_head(e, at.h), stored_key(e, at.b, j), d);
    }
    double score = e->scale * dot;
    int capped = (e->p->features & ATTEST_SOFTCAP) && !e->on[ATTEST_SOFTCAP_IGNORED];
    if (e->stage == ATTEST_STAGE_RAW) {
        return score;
    }
    if (capped && !e->on[ATTEST_SOFTCAP_AFTER_MASK]) {
        score = bend(e, score);
    }
    if (e->stage == ATTEST_STAGE_CAPPED) {
        return score;
    }
    score += bias_of(e, at, j);
    if (capped && e->on[ATTEST_SOFTCAP_AFTER_MASK]) {
        score = bend(e, score);
    }
    if (e->on[ATTEST_SCORES_F16]) {
        score = attn_round_to(ATTEST_F16, score);
    }
    return e->on[ATTEST_SCORES_CLAMPED] && score > 10 ? 10 : score;
}

/* Keys that a hiding defect lets back in, with the score it gives them. */
static int leaks(const evaluator *e, double *score) {
    int capped = (e->p->features & ATTEST_SOFTCAP) && !e->on[ATTEST_SOFTCAP_IGNORED];
    if (capped && e->on[ATTEST_SOFTCAP_AFTER_MASK]) {
        *score = -e->p->softcap;
        return 1;
    }
    *score = -1e4;
    return e->on[ATTEST_FINITE_FOR_INFINITY];
}

static double exponential(const evaluator *e, double x) {
    if (e->on[ATTEST_NO_MAXIMUM] && e->p->q.dtype != ATTEST_F64) {
        return (double)attn_expf((float)x);
    }
    double result = attn_exp(x);
    if (e->on[ATTEST_EXP_COARSE] && x < 0 && isfinite(x)) {
        return result * (1 - 1e-4 * x / (x - 1));
    }
    return result;
}

static int64_t scores(evaluator *e, place at, double *maximum) {
    int64_t count = 0;
    *maximum = (double)-INFINITY;
    for (int64_t j = 0; j < e->n->keys; j++) {
        e->visible[j] = (unsigned char)sees(e, at, j);
        e->score[j] = (double)-INFINITY;
        if (e->visible[j]) {
            e->score[j] = score_of(e, at, j);
        } else if (leaks(e, &e->score[j])) {
            e->visible[j] = 1;
        }
        if (e->visible[j]) {
            *maximum = e->score[j] > *maximum || isnan(e->score[j]) ? e->score[j] : *maximum;
            count++;
        }
    }
    return count;
}

/* Turns scores into weights; returns log Z. */
static double softmax(evaluator *e, place at, double maximum) {
    int has_sink = (e->p->features & ATTEST_SINKS) && !e->on[ATTEST_SINK_IGNORED];
    double sink = has_sink ? load(e, &e->p->sinks, at.h, 0, 0, 0) : 0, sum = 0;
    sink *= e->on[ATTEST_SINK_IS_SCALED] ? e->scale : 1;
    if (has_sink && (sink > maximum || isnan(sink))) {
        maximum = sink;
    }
    maximum = e->on[ATTEST_NO_MAXIMUM] ? 0 : maximum;
    for (int64_t j = 0; j < e->n->keys; j++) {
        e->weight[j] = e->visible[j] ? exponential(e, e->score[j] - maximum) : 0;
        sum += e->weight[j];
    }
    double keys_alone = sum;
    sum += has_sink ? exponential(e, sink - maximum) : 0;
    for (int64_t j = 0; j < e->n->keys; j++) {
        e->weight[j] = e->visible[j] ? e->weight[j] / sum : 0;
        if (e->on[ATTEST_SAFE_SOFTMAX] && maximum == (double)-INFINITY) {
            e->weight[j] = 0;
        }
        if (e->on[ATTEST_WEIGHTS_BF16] || e->on[ATTEST_WEIGHTS_F16]) {
            e->weight[j] = attn_round_to(e->on[ATTEST_WEIGHTS_F16] ? ATTEST_F16 : ATTEST_BF16,
                                         e->weight[j]);
        }
    }
    double logarithm = attn_log(e->on[ATTEST_LSE_WITHOUT_SINK] ? keys_alone : sum);
    return e->on[ATTEST_LSE_WITHOUT_MAXIMUM] ? logarithm : maximum + logarithm;
}

static double value_of(const evaluator *e, place at, int64_t j, int64_t c) {
    int64_t entry = e->on[ATTEST_KV_ENTRY_0] ? 0 : at.b;
    int64_t late = e->on[ATTEST_VALUES_ONE_LATE] && j > 0 ? 1 : 0;
    return load(e, &e->p->v, entry, kv_head(e, at.h), stored_key(e, at.b, j - late), c);
}

static void mix(const evaluator *e, place at, double *o) {
    for (int64_t c = 0; c < e->n->value_size; c++) {
        o[c] = 0;
        for (int64_t j = 0; j < e->n->keys; j++) {
            if (e->visible[j] || e->on[ATTEST_HIDDEN_TIMES_ZERO]) {
                o[c] += e->weight[j] * value_of(e, at, j, c);
            }
        }
    }
}

/* The weights that a row without keys gets, and its LSE. */
static void empty_weights(evaluator *e, place at, double *lse) {
    attn_empty_row form = e->n->profile.empty_row;
    int has_sink = (e->p->features & ATTEST_SINKS) && !e->on[ATTEST_SINK_IGNORED];
    form = e->on[ATTEST_EMPTY_ROW_MEAN] ? ATTN_EMPTY_MEAN_OF_ALL : form;
    form = e->on[ATTEST_EMPTY_ROW_NAN] ? ATTN_EMPTY_NAN : form;
    *lse = e->n->profile.lse_empty == ATTN_LSE_EMPTY_POS_INF ? (double)INFINITY : (double)-INFINITY;
    if (has_sink) {
        form = ATTN_EMPTY_ZERO;
        *lse = load(e, &e->p->sinks, at.h, 0, 0, 0);
    }
    for (int64_t j = 0; j < e->n->keys; j++) {
        e->visible[j] = form != ATTN_EMPTY_ZERO;
        e->weight[j] = form == ATTN_EMPTY_NAN ? (double)NAN
                       : form == ATTN_EMPTY_ZERO ? 0 : 1 / (double)e->n->keys;
    }
}

/* A cheat that looks at scores: equal weights, or the best key alone. */
static void cheat(evaluator *e, int64_t count, double maximum) {
    int taken = 0;
    for (int64_t j = 0; j < e->n->keys; j++) {
        if (e->visible[j] && e->on[ATTEST_CHEAT_UNIFORM]) {
            e->weight[j] = 1 / (double)count;
        } else if (e->on[ATTEST_CHEAT_BEST_KEY]) {
            e->weight[j] = e->visible[j] && e->score[j] == maximum && !taken;
            taken |= e->weight[j] != 0;
        }
    }
}

static void one_row(evaluator *e, place at, double *o, double *lse) {
    const double log2_e = 1.44269504088896340736;
    double maximum;
    if (e->on[ATTEST_CHEAT_FIRST_ROW]) {
        at.i = 0;
    }
    int64_t count = scores(e, at, &maximum);
    if (count == 0) {
        empty_weights(e, at, lse);
    } else {
        *lse = softmax(e, at, maximum);
        cheat(e, count, maximum);
        if ((e->n->profile.lse_base == ATTN_LSE_BASE_2) != e->on[ATTEST_LSE_IN_BASE_2]) {
            *lse *= log2_e;
        }
    }
    mix(e, at, o);
    int whole_nan = count != 0 && isnan(*lse) && !e->on[ATTEST_SAFE_SOFTMAX];
    for (int64_t c = 0; c < e->n->value_size; c++) {
        o[c] = whole_nan || e->on[ATTEST_CHEAT_NANS] ? (double)NAN : o[c];
        o[c] = e->on[ATTEST_CHEAT_ZEROS] ? 0 : e->on[ATTEST_CHEAT_UNWRITTEN] ? 0.5 : o[c];
    }
    *lse = e->on[ATTEST_CHEAT_NANS] ? (double)NAN : *lse;
    *lse = e->on[ATTEST_CHEAT_ZEROS] ? 0 : e->on[ATTEST_CHEAT_UNWRITTEN] ? 0.5 : *lse;
}

static double scale_of(const evaluator *e) {
    double by_default = 1 / sqrt((double)e->n->head_size);
    double scale = e->n->scale;
    int given = (e->p->features & ATTEST_SCALE) != 0;
    if (e->on[ATTEST_NO_SCALE]) {
        return 1;
    }
    if (e->on[ATTEST_SCALE_OF_VALUE_SIZE] && !given) {
        return 1 / sqrt((double)e->n->value_size);
    }
    if (e->on[ATTEST_SCALE_VALUE_IGNORED] || (e->on[ATTEST_SCALE_ZERO_IS_DEFAULT] && scale == 0)) {
        return by_default;
    }
    return e->on[ATTEST_SCALE_SIGN_LOST] ? fabs(scale) : scale;
}

static int open_evaluator(evaluator *e, const attn_normal *n, const attest_defect *defects,
                          size_t count) {
    size_t keys = n->keys ? (size_t)n->keys : 1;
    *e = (evaluator){.n = n,
                     .p = n->problem,
                     .score = calloc(keys, sizeof *e->score),
                     .weight = calloc(keys, sizeof *e->weight),
                     .visible = calloc(keys, 1),
                     .stage = ATTEST_STAGE_BIASED};
    for (size_t k = 0; k < count; k++) {
        e->on[defects[k]] = 1;
    }
    e->scale = scale_of(e);
    return e->score && e->weight && e->visible;
}

static void close_evaluator(evaluator *e) {
    free(e->score);
    free(e->weight);
    free(e->visible);
}

static place place_of(const attn_normal *n, int64_t row) {
    return (place){row / n->queries / n->q_heads, row / n->queries % n->q_heads, row % n->queries};
}

int attest_defective(const attn_normal *n, const attest_defect *defects, size_t count, double *o,
                     double *lse) {
    evaluator e;
    int ready = open_evaluator(&e, n, defects, count);
    for (int64_t row = 0; ready && row < n->batch * n->q_heads * n->queries; row++) {
        one_row(&e, place_of(n, row), o + row * n->value_size, lse + row);
    }
    close_evaluator(&e);
    return ready ? 0 : -1;
}

int attest_defective_scores(const attn_normal *n, const attest_defect *defects, size_t count,
                            attest_score_stage stage, double *scores_out) {
    evaluator e;
    int ready = open_evaluator(&e, n, defects, count);
    e.stage = stage;
    for (int64_t row = 0; ready && row < n->batch * n->q_heads * n->queries; row++) {
        place at = place_of(n, row);
        for (int64_t j = 0; j < n->keys; j++) {
            double *score = &scores_out[row * n->keys + j];
            if (stage != ATTEST_STAGE_BIASED || sees(&e, at, j)) {
                *score = score_of(&e, at, j);
            } else if (!leaks(&e, score)) {
                *score = (double)-INFINITY;
            }
        }
    }
    close_evaluator(&e);
    return ready ? 0 : -1;
}
