/* SPDX-License-Identifier: Apache-2.0 */
/* tiled - blocks of rows, tiles of keys, online softmax; wrong at tiles, tails and rescaling. */
#include <float.h>

#include "impl/wrong/mutants/base.h"

#define FAMILY "tiled"
enum {
    CORRECT,
    /* which tiles, which pairs */
    CAUSAL_END_OF_FIRST_ROW,
    DIAGONAL_TILE_TAKEN_FOR_FULL,
    WINDOW_START_OF_LAST_ROW,
    WINDOW_START_SHARED,
    ROWS_BEFORE_WINDOW_SKIPPED,
    TILE_SKIPPED_BY_FIRST_ROW,
    EMPTY_TILE_ENDS_LOOP,
    /* maxima */
    FIRST_TILE_HIDDEN_NAN,
    ROW_HIDDEN_IN_TILE_NAN,
    SENTINEL_MINUS_5E4,
    SENTINEL_LOWEST_FLOAT,
    NAN_WEIGHT_IS_ZERO,
    FIRST_KEY_NAN_LOST,
    EMPTY_GUARD_REMOVED,
    /* rescaling */
    OUTPUT_NOT_RESCALED,
    SUM_NOT_RESCALED,
    SMALL_GROWTH_NOT_RESCALED,
    SMALL_FACTOR_FLUSHED,
    TAIL_COLUMNS_NOT_RESCALED,
    FACTOR_IN_HALF,
    STATISTICS_IN_HALF,
    OUTPUT_IN_HALF,
    /* tails */
    TAIL_SCORES_ZERO,
    TAIL_OF_ONE_DROPPED,
    LENGTH_5_MOD_48,
    BEYOND_700_KEYS,
    TAIL_CAPPED,
    TAIL_ROWS_SHARE_BIAS,
    QUERIES_TAIL_REPEATED,
    SECOND_BLOCK_KEEPS_SUM,
    /* memory */
    K_TILE_READ_WHOLE,
    MASK_TILE_READ_WHOLE,
    LSE_BLOCK_WRITTEN_WHOLE,
    STALE_VALUES_TIMES_ZERO,
    TILE_VALUES_TIMES_ZERO,
    TILE_KEYS_PLUS_MINUS_INF,
    EMPTY_BLOCK_NOT_WRITTEN,
    /* options */
    BIAS_NOT_IN_BASE_2,
    ALIBI_BY_TILE,
    SINK_IN_EVERY_TILE,
    OTHER_ORDER_ABOVE_8_QUERIES,
    OTHER_ORDER_BY_PARITY
};
enum { ROWS = 8, KEYS = 16 };

/* A block of rows of one head, and the state of its online softmax. */
typedef struct block {
    const attn_normal *n;
    int64_t b, h, g, first, rows, seen[ROWS];
    float max[ROWS], sum[ROWS], s[ROWS][KEYS];
    unsigned char sees[ROWS][KEYS];
    float *q, *k, *v, *out; /* ROWS*D, KEYS*D, KEYS*Dv, ROWS*Dv, in the workspace */
} block;

static int sees(const block *t, int64_t r, int64_t j) {
    const attn_normal *n = t->n;
    attn_band band = band_of(t->n, t->b);
    int64_t i = t->first + r, last = t->first + t->rows - 1;
    if (MUTANT == WINDOW_START_SHARED && band.left >= 0) { /* that of the block's first row */
        if (!attn_sees_window(t->first, band.offset, band.left, ATTN_NO_LIMIT, j)) {
            return 0;
        }
        band.left = ATTN_NO_LIMIT;
    }
    if (MUTANT == DIAGONAL_TILE_TAKEN_FOR_FULL && band.causal && t->rows == ROWS &&
        attn_sees_causal(last, band.offset, j / KEYS * KEYS + KEYS - 1)) {
        band.causal = 0;
    }
    return attn_sees_band(&band, i, j) && mask_shows(n, t->b, t->h, i, j);
}

/* Fills `sees` for keys start .. start+count-1; returns how many pairs there are. */
static int64_t classify(block *t, int64_t start, int64_t count) {
    int64_t pairs = 0;
    memset(t->sees, 0, sizeof t->sees);
    for (int64_t r = 0; r < t->rows; r++) {
        for (int64_t j = 0; j < count; j++) {
            t->sees[r][j] = (unsigned char)sees(t, r, start + j);
            pairs += t->sees[r][j];
        }
        if (MUTANT == TILE_SKIPPED_BY_FIRST_ROW && r == 0 && pairs == 0 && t->rows > 1) {
            return 0;
        }
    }
    return pairs;
}

static int any_row_sees(const block *t, int64_t j) {
    int any = 0;
    for (int64_t r = 0; r < t->rows; r++) {
        any |= t->sees[r][j];
    }
    return any;
}

static void load_tile(block *t, int64_t start, int64_t count) {
    const attest_problem *p = t->n->problem;
    int64_t d = t->n->head_size, dv = t->n->value_size;
    volatile float whole = 0;
    for (int64_t j = 0; j < KEYS; j++) {
        int64_t from = start + j;
        if (MUTANT == K_TILE_READ_WHOLE && j >= count && d > 0) {
            whole = get(&p->k, position(&p->k, t->b, t->g, from, 0));
        }
        if (MUTANT == MASK_TILE_READ_WHOLE && j >= count && has(t->n, ATTEST_MASK_ADD) &&
            p->mask.rank > 0 && p->mask.shape[p->mask.rank - 1] > 1) {
            whole = get(&p->mask, mask_at(&p->mask, t->b, t->h, t->first, from));
        }
        if (j < count && any_row_sees(t, j)) {
            fetch(t->k + j * d, &p->k, t->b, t->g, from);
            fetch(t->v + j * dv, &p->v, t->b, t->g,
                  MUTANT == BEYOND_700_KEYS && from >= 700 ? from - 1 : from);
        } else {
            memset(t->k + j * d, 0, (size_t)d * sizeof(float));
            if (MUTANT != STALE_VALUES_TIMES_ZERO) {
                memset(t->v + j * dv, 0, (size_t)dv * sizeof(float));
            }
        }
    }
    (void)whole;
}

static float product(const block *t, int64_t r, int64_t j) {
    int64_t d = t->n->head_size;
    const float *q = t->q + r * d, *k = t->k + j * d;
    if ((MUTANT == OTHER_ORDER_ABOVE_8_QUERIES && t->n->queries > 8) ||
        (MUTANT == OTHER_ORDER_BY_PARITY && t->b % 2 == 1)) {
        return dot(q, k, d / 2) + dot(q + d / 2, k + d / 2, d - d / 2);
    }
    return dot(q, k, d);
}

static float score(const block *t, int64_t r, int64_t start, int64_t j) {
    const attn_normal *n = t->n;
    int64_t i = t->first + r, key = start + j;
    if (MUTANT == TAIL_ROWS_SHARE_BIAS && t->rows < ROWS) {
        i = t->first;
    }
    float bias = bias_of(n, t->b, t->h, i, key);
    if (MUTANT == ALIBI_BY_TILE && has(n, ATTEST_ALIBI)) {
        bias += alibi_of(n, t->b, t->h, i, key) - alibi_of(n, t->b, t->h, i, start);
    }
    if (MUTANT == BIAS_NOT_IN_BASE_2) {
        bias *= 0.69314718f;
    }
    return bend(n, (float)n->scale * product(t, r, j)) + bias;
}

/* Scores of row r; hidden pairs -inf. Returns the tile's maximum, NaN passed over. */
static float score_row(block *t, int64_t r, int64_t start, int64_t count) {
    float tile_max = -INFINITY;
    int capped = MUTANT == TAIL_CAPPED && has(t->n, ATTEST_SOFTCAP) &&
                 !has(t->n, ATTEST_MASK_BOOL | ATTEST_MASK_ADD);
    for (int64_t j = 0; j < KEYS; j++) {
        float *s = &t->s[r][j];
        unsigned char *visible = &t->sees[r][j];
        *s = *visible ? score(t, r, start, j) : -INFINITY;
        if (MUTANT == TILE_KEYS_PLUS_MINUS_INF && j < count && !*visible) {
            *s = product(t, r, j) - INFINITY; /* NaN stays NaN */
            *visible = (unsigned char)(isnan(*s) != 0);
        }
        if (MUTANT == SENTINEL_LOWEST_FLOAT && j < count && !*visible) {
            *s = -FLT_MAX;
            *visible = 1;
        }
        if ((MUTANT == TAIL_SCORES_ZERO || capped) && j >= count) {
            *s = capped ? -(float)t->n->problem->softcap : 0;
            *visible = 1;
        }
        if (MUTANT == FIRST_KEY_NAN_LOST && j == 0 && isnan(*s)) {
            *visible = 0;
        }
        tile_max = *s > tile_max ? *s : tile_max;
    }
    return tile_max;
}

/* Sum and output so far, for a maximum that grew from `old` to `now`. */
static void rescale(block *t, int64_t r, float old, float now) {
    float factor = old == -INFINITY ? 0 : attn_expf(old - now);
    int64_t columns = t->n->value_size;
    if (MUTANT == SMALL_GROWTH_NOT_RESCALED && now - old < 0.01f) {
        factor = 1;
    }
    if (MUTANT == SMALL_FACTOR_FLUSHED && factor < 0x1p-14f) {
        factor = 0;
    }
    if (MUTANT == FACTOR_IN_HALF) {
        factor = round_half(factor);
    }
    if (MUTANT == TAIL_COLUMNS_NOT_RESCALED && columns > 16) {
        columns -= columns % 16;
    }
    for (int64_t c = 0; c < columns && MUTANT != OUTPUT_NOT_RESCALED; c++) {
        t->out[r * t->n->value_size + c] *= factor;
    }
    t->sum[r] *= MUTANT == SUM_NOT_RESCALED ? 1 : factor;
}

static void update_row(block *t, int64_t r, int64_t start, int64_t count, int64_t tile_pairs) {
    int64_t dv = t->n->value_size, pairs = 0;
    for (int64_t j = 0; j < KEYS; j++) {
        pairs += t->sees[r][j];
    }
    t->seen[r] += pairs;
    float old = t->max[r], tile_max = score_row(t, r, start, count);
    float now = tile_max > old ? tile_max : old, *out = t->out + r * dv;
    int unguarded = (MUTANT == ROW_HIDDEN_IN_TILE_NAN && tile_pairs > 0) ||
                    (MUTANT == FIRST_TILE_HIDDEN_NAN && tile_pairs == 0);
    if (pairs == 0 && !unguarded && MUTANT != SENTINEL_LOWEST_FLOAT) {
        return;
    }
    if (now != old) {
        rescale(t, r, old, now);
    }
    t->max[r] = now;
    float shift = now == -INFINITY && !unguarded ? 0 : now; /* -inf less -inf is NaN */
    for (int64_t j = 0; j < KEYS; j++) {
        int visible = t->sees[r][j] || unguarded;
        int multiply =
            MUTANT == STALE_VALUES_TIMES_ZERO || (MUTANT == TILE_VALUES_TIMES_ZERO && j < count);
        float w = visible ? attn_expf(t->s[r][j] - shift) : 0;
        if (MUTANT == NAN_WEIGHT_IS_ZERO && !(w > 0)) {
            w = 0;
        }
        t->sum[r] += w;
        for (int64_t c = 0; c < dv && (visible || multiply); c++) {
            out[c] += w * t->v[j * dv + c];
            out[c] = MUTANT == OUTPUT_IN_HALF ? round_half(out[c]) : out[c];
        }
    }
    if (MUTANT == STATISTICS_IN_HALF) {
        t->sum[r] = round_half(t->sum[r]);
    }
    if (MUTANT == SINK_IN_EVERY_TILE && has(t->n, ATTEST_SINKS) && start > 0) {
        t->sum[r] += attn_expf(sink_of(t->n, t->h) - now);
    }
}

static void begin(block *t) {
    const attn_normal *n = t->n;
    float sink = sink_of(n, t->h);
    memset(t->out, 0, (size_t)(t->rows * n->value_size) * sizeof(float));
    for (int64_t r = 0; r < t->rows; r++) {
        int repeated = MUTANT == QUERIES_TAIL_REPEATED && t->rows == 1 && t->first > 0;
        fetch(t->q + r * n->head_size, &n->problem->q, t->b, t->h, t->first + r - repeated);
        t->seen[r] = 0;
        if (MUTANT == SECOND_BLOCK_KEEPS_SUM && t->first > 0) {
            continue;
        }
        t->max[r] = sink;
        t->sum[r] = sink == -INFINITY ? 0 : attn_expf(sink - sink);
        if (MUTANT == SENTINEL_MINUS_5E4 && sink == -INFINITY) {
            t->max[r] = -5e4f;
        }
    }
}

static void finish(const block *t) {
    const attn_normal *n = t->n;
    const attest_tensor *o = &n->problem->o, *lse = &n->problem->lse;
    for (int64_t r = 0; r < ROWS; r++) {
        int64_t i = t->first + r;
        float sum = t->sum[r];
        int empty = t->seen[r] == 0 && MUTANT != EMPTY_GUARD_REMOVED && !(sum > 0);
        if (MUTANT == SENTINEL_MINUS_5E4 && sum == 0) {
            empty = 1;
        }
        if (MUTANT == ROWS_BEFORE_WINDOW_SKIPPED && n->left >= 0 && i > n->left) {
            continue;
        }
        for (int64_t c = 0; c < n->value_size && r < t->rows; c++) {
            float value = empty ? 0 : t->out[r * n->value_size + c] / sum;
            put(o, position(o, t->b, t->h, i, c), value);
        }
        if (has(n, ATTEST_LSE) && (r < t->rows || MUTANT == LSE_BLOCK_WRITTEN_WHOLE)) {
            float value = sum == 0 ? NAN : t->max[r] + attn_logf(sum);
            put(lse, position(lse, t->b, t->h, i, 0), empty ? sink_of(n, t->h) : value);
        }
    }
}

/* Keys that a row of the block may see by position: *low <= j < *high. */
static void range(const block *t, int64_t *low, int64_t *high) {
    attn_band band = band_of(t->n, t->b);
    int64_t last = t->first + t->rows - 1, keys = t->n->keys;
    int64_t top = MUTANT == CAUSAL_END_OF_FIRST_ROW ? t->first : last;
    int64_t bottom = MUTANT == WINDOW_START_OF_LAST_ROW ? last : t->first;
    *low = 0;
    *high = band.length;
    while (*low < *high && !attn_sees_window(bottom, band.offset, band.left, ATTN_NO_LIMIT, *low)) {
        ++*low;
    }
    while (*high > *low &&
           ((band.causal && !attn_sees_causal(top, band.offset, *high - 1)) ||
            !attn_sees_window(top, band.offset, ATTN_NO_LIMIT, band.right, *high - 1))) {
        --*high;
    }
    int lost = (MUTANT == TAIL_OF_ONE_DROPPED && keys > KEYS && keys % KEYS == 1) ||
               (MUTANT == LENGTH_5_MOD_48 && keys % 48 == 5);
    *high -= lost && *high == keys;
}

static void one_block(block *t) {
    int64_t low, high;
    range(t, &low, &high);
    if (MUTANT == EMPTY_BLOCK_NOT_WRITTEN && high <= low) {
        return;
    }
    begin(t);
    for (int64_t start = low / KEYS * KEYS; start < high; start += KEYS) {
        int64_t count = high - start < KEYS ? high - start : KEYS;
        int64_t pairs = classify(t, start, count);
        if (pairs == 0 && MUTANT == EMPTY_TILE_ENDS_LOOP) {
            break;
        }
        if (pairs == 0 && MUTANT != FIRST_TILE_HIDDEN_NAN) {
            continue;
        }
        load_tile(t, start, count);
        for (int64_t r = 0; r < t->rows; r++) {
            update_row(t, r, start, count, pairs);
        }
    }
    finish(t);
}

static uint64_t scratch_bytes(const attn_normal *n) {
    uint64_t floats = (uint64_t)(n->head_size + n->value_size) * (ROWS + KEYS);
    return floats * sizeof(float);
}

static void run(const attn_normal *n) {
    block t = {.n = n};
    t.q = n->problem->workspace;
    t.k = t.q + ROWS * n->head_size;
    t.v = t.k + KEYS * n->head_size;
    t.out = t.v + KEYS * n->value_size;
    for (t.b = 0; t.b < n->batch; t.b++) {
        for (t.h = 0; t.h < n->q_heads; t.h++) {
            t.g = attn_kv_head(n, t.h);
            for (t.first = 0; t.first < n->queries; t.first += ROWS) {
                t.rows = n->queries - t.first < ROWS ? n->queries - t.first : ROWS;
                one_block(&t);
            }
        }
    }
}

#include "impl/wrong/mutants/mutant_entry.h"
