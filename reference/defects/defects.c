/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/defects/defects_row.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "reference/arithmetic/elementary.h"
#include "reference/problem/convert.h"

/* The element [a,h,s,c], or the one that the other order of heads and sequence has there. */
static double load(const attest_evaluator *e, const attest_tensor *t, int64_t a, int64_t h,
                   int64_t s, int64_t c) {
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

static int64_t kv_head(const attest_evaluator *e, int64_t h) {
    int tiled = e->n->profile.gqa_order == ATTN_GQA_TILED;
    if (e->on[ATTEST_KV_HEAD_0]) {
        return 0;
    }
    return tiled != e->on[ATTEST_HEADS_TILED] ? h % e->n->kv_heads
                                              : h / (e->n->q_heads / e->n->kv_heads);
}

static double alibi(const attest_evaluator *e, attest_place_of_row at, int64_t j) {
    const attest_tensor *slopes = &e->p->slopes;
    double slope =
        slopes->rank == 2 ? load(e, slopes, at.b, at.h, 0, 0) : load(e, slopes, at.h, 0, 0, 0);
    int64_t offset = e->on[ATTEST_ALIBI_NOT_SHIFTED] ? 0 : attest_defect_offset_of(e, at.b);
    double steps = (double)(at.i + offset - j);
    if (e->on[ATTEST_ALIBI_BY_KEY]) {
        return slope * (double)j;
    }
    return -slope * (e->on[ATTEST_ALIBI_SIGNED] ? steps : fabs(steps));
}

static double bias_of(const attest_evaluator *e, attest_place_of_row at, int64_t j) {
    int added = attest_defect_has_mask(e) && (e->n->features & ATTEST_MASK_ADD);
    double bias = added ? attest_defect_mask_value(e, at, j) : 0;
    if (e->on[ATTEST_MASK_IS_SCALED]) {
        bias *= e->scale;
    }
    if ((e->p->features & ATTEST_ALIBI) && !e->on[ATTEST_ALIBI_IGNORED]) {
        bias += alibi(e, at, j);
    }
    return bias;
}

static double bend(const attest_evaluator *e, double score) {
    double cap = e->p->softcap;
    if (e->on[ATTEST_SOFTCAP_CLAMPS]) {
        return fmin(fmax(score, -cap), cap);
    }
    return cap * attn_tanh(score / cap);
}

static double score_of(const attest_evaluator *e, attest_place_of_row at, int64_t j) {
    int64_t entry = e->on[ATTEST_KV_ENTRY_0] ? 0 : at.b;
    int64_t end = e->n->head_size - (e->on[ATTEST_LAST_ELEMENT_DROPPED] ? 1 : 0);
    double dot = 0;
    end = e->on[ATTEST_FIRST_64_ELEMENTS] && end > 64 ? 64 : end;
    for (int64_t d = 0; d < end; d++) {
        dot += load(e, &e->p->q, at.b, at.h, at.i, d) *
               load(e, &e->p->k, entry, kv_head(e, at.h), attest_defect_stored_key(e, at.b, j), d);
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
static int leaks(const attest_evaluator *e, double *score) {
    int capped = (e->p->features & ATTEST_SOFTCAP) && !e->on[ATTEST_SOFTCAP_IGNORED];
    if (capped && e->on[ATTEST_SOFTCAP_AFTER_MASK]) {
        *score = -e->p->softcap;
        return 1;
    }
    *score = -1e4;
    return e->on[ATTEST_FINITE_FOR_INFINITY];
}

static double exponential(const attest_evaluator *e, double x) {
    if (e->on[ATTEST_NO_MAXIMUM] && e->p->q.dtype != ATTEST_F64) {
        return (double)attn_expf((float)x);
    }
    double result = attn_exp(x);
    if (e->on[ATTEST_EXP_COARSE] && x < 0 && isfinite(x)) {
        return result * (1 - 1e-4 * x / (x - 1));
    }
    return result;
}

static int64_t scores(attest_evaluator *e, attest_place_of_row at, double *maximum) {
    int64_t count = 0;
    *maximum = (double)-INFINITY;
    for (int64_t j = 0; j < e->n->keys; j++) {
        e->visible[j] = (unsigned char)attest_defect_sees(e, at, j);
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
static double softmax(attest_evaluator *e, attest_place_of_row at, double maximum) {
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
            e->weight[j] =
                attn_round_to(e->on[ATTEST_WEIGHTS_F16] ? ATTEST_F16 : ATTEST_BF16, e->weight[j]);
        }
    }
    double logarithm = attn_log(e->on[ATTEST_LSE_WITHOUT_SINK] ? keys_alone : sum);
    return e->on[ATTEST_LSE_WITHOUT_MAXIMUM] ? logarithm : maximum + logarithm;
}

static double value_of(const attest_evaluator *e, attest_place_of_row at, int64_t j, int64_t c) {
    int64_t entry = e->on[ATTEST_KV_ENTRY_0] ? 0 : at.b;
    int64_t late = e->on[ATTEST_VALUES_ONE_LATE] && j > 0 ? 1 : 0;
    int64_t stored = attest_defect_stored_key(e, at.b, j - late);
    return load(e, &e->p->v, entry, kv_head(e, at.h), stored, c);
}

static void mix(const attest_evaluator *e, attest_place_of_row at, double *o) {
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
static void empty_weights(attest_evaluator *e, attest_place_of_row at, double *lse) {
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
        e->weight[j] = form == ATTN_EMPTY_NAN    ? (double)NAN
                       : form == ATTN_EMPTY_ZERO ? 0
                                                 : 1 / (double)e->n->keys;
    }
}

/* A cheat that looks at scores: equal weights, or the best key alone. */
static void cheat(attest_evaluator *e, int64_t count, double maximum) {
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

static void one_row(attest_evaluator *e, attest_place_of_row at, double *o, double *lse) {
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

static double scale_of(const attest_evaluator *e) {
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

static int open_evaluator(attest_evaluator *e, const attn_normal *n, const attest_defect *defects,
                          size_t count) {
    size_t keys = n->keys ? (size_t)n->keys : 1;
    *e = (attest_evaluator){.n = n,
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

static void close_evaluator(attest_evaluator *e) {
    free(e->score);
    free(e->weight);
    free(e->visible);
}

static attest_place_of_row place_of(const attn_normal *n, int64_t row) {
    return (attest_place_of_row){row / n->queries / n->q_heads, row / n->queries % n->q_heads,
                                 row % n->queries};
}

int attest_defective(const attn_normal *n, const attest_defect *defects, size_t count, double *o,
                     double *lse) {
    attest_evaluator e;
    int ready = open_evaluator(&e, n, defects, count);
    for (int64_t row = 0; ready && row < n->batch * n->q_heads * n->queries; row++) {
        one_row(&e, place_of(n, row), o + row * n->value_size, lse + row);
    }
    close_evaluator(&e);
    return ready ? 0 : -1;
}

int attest_defective_scores(const attn_normal *n, const attest_defect *defects, size_t count,
                            attest_score_stage stage, double *scores_out) {
    attest_evaluator e;
    int ready = open_evaluator(&e, n, defects, count);
    e.stage = stage;
    for (int64_t row = 0; ready && row < n->batch * n->q_heads * n->queries; row++) {
        attest_place_of_row at = place_of(n, row);
        for (int64_t j = 0; j < n->keys; j++) {
            double *score = &scores_out[row * n->keys + j];
            if (stage != ATTEST_STAGE_BIASED || attest_defect_sees(&e, at, j)) {
                *score = score_of(&e, at, j);
            } else if (!leaks(&e, score)) {
                *score = (double)-INFINITY;
            }
        }
    }
    close_evaluator(&e);
    return ready ? 0 : -1;
}
