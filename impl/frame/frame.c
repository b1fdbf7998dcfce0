/* SPDX-License-Identifier: Apache-2.0 */
#include "impl/frame/frame.h"

#define ROWS ATTN_TILE_ROWS
#define KEYS ATTN_TILE_KEYS

typedef ATTN_NAME(attn_block) block_t;
typedef ATTN_NAME(attn_state) state_t;
typedef ATTN_NAME(attn_scratch) scratch_t;
typedef ATTN_NAME(attn_micro) micro_t;
typedef ATTN_NAME(attn_matrix) matrix_t;

/* Keys low[r] <= j < high[r] are those row r sees by its band. */
typedef struct spans {
    int64_t low[ROWS], high[ROWS];
} spans;

/* The tile at hand: keys from `start` on, and what the rows see of them. */
typedef struct tile {
    int64_t start;
    size_t keys;
    int all;                 /* every row sees every key */
    int every_key;           /* every key is seen by some row */
    unsigned char key[KEYS]; /* 1 where some row sees the key */
    unsigned char row[ROWS]; /* 1 where the row sees some key */
} tile;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* MASK-01..04 as an interval. Each side is compared before it is added, so nothing overflows. */
void ATTN_NAME(attn_row_span)(const block_t *block, size_t r, int64_t *low, int64_t *high) {
    const attn_band *band = &block->band;
    int64_t position = block->index[r] + band->offset;
    int64_t right = band->causal ? 0 : band->right;
    *low = 0;
    *high = band->length;
    if (band->left >= 0 && position > band->left) {
        *low = position - band->left;
    }
    if (right >= 0 && right < band->length - position) {
        *high = smaller(band->length, position + right + 1);
    }
}

/* Whether rows can be turned where they lie. */
static int can_turn(ATTN_NAME(attn_load_fn) load, int64_t stride) {
    return stride == 1 && load == ATTN_NAME(attn_load_real);
}

/* Row r of the queries, or zeros, where attn_micro wants it. */
static void place_row(attn_real *q, const attn_real *line, size_t r, const block_t *block) {
    const size_t few = attn_few(block->rows), d = block->d;
    const int exists = r < block->rows;
    if (!few) {
        for (size_t c = 0; c < d; c++) {
            q[c * ROWS + r] = exists ? line[c] : ZERO;
        }
        return;
    }
    for (size_t c = 0; c < d; c += ATTN_PARTS, q += few * ATTN_PARTS) {
        for (size_t p = 0; p < ATTN_PARTS; p++) {
            q[r * ATTN_PARTS + p] = exists && c + p < d ? line[c + p] : ZERO;
        }
    }
}

void ATTN_NAME(attn_block_start)(const block_t *block, const micro_t *micro,
                                 const scratch_t *scratch) {
    const size_t few = attn_few(block->rows);
    if (!few && can_turn(block->q_load, block->q_stride)) {
        micro->turn(scratch->q, (const attn_real *)block->q, block->q_at, block->rows, block->d);
        return;
    }
    for (size_t r = 0; r < (few ? few : ROWS); r++) {
        if (r < block->rows) {
            block->q_load(scratch->line, block->q, block->q_at[r], block->q_stride, block->d);
        }
        place_row(scratch->q, scratch->line, r, block);
    }
}

void ATTN_NAME(attn_state_begin)(const state_t *state, const block_t *block, int with_sink) {
    for (size_t r = 0; r < ROWS; r++) {
        int has_sink = with_sink && block->has_sinks && r < block->rows;
        state->max[r] = has_sink ? block->sink[r] : NEG_INF;
        state->sum[r] = has_sink ? ONE : ZERO;
        state->seen[r] = 0;
    }
    for (size_t at = 0; at < block->rows * block->dv; at++) {
        state->o[at] = ZERO;
    }
}

#if KEYS < 256
typedef uint8_t key_t; /* as narrow as the flags beside it, so that both share a vector */
#else
typedef uint32_t key_t;
#endif

/* visible[j][r] by the bands alone. Lanes beyond the last row have an empty span. */
static void show_band(unsigned char *visible, const tile *t, const spans *span) {
    key_t low[ROWS], high[ROWS];
    for (size_t r = 0; r < ROWS; r++) {
        low[r] = (key_t)smaller(larger(span->low[r] - t->start, 0), KEYS);
        high[r] = (key_t)smaller(larger(span->high[r] - t->start, 0), KEYS);
    }
    for (size_t j = 0; j < t->keys; j++) {
        key_t key = (key_t)j;
        for (size_t r = 0; r < ROWS; r++) {
            visible[j * ROWS + r] = (unsigned char)((key >= low[r]) & (key < high[r]));
        }
    }
}

/* The additive mask of the tile; -inf hides the pair whatever the key holds (MASK-08). */
static void load_bias(const block_t *block, const micro_t *micro, const scratch_t *scratch,
                      const tile *t) {
    unsigned char *visible = scratch->visible;
    attn_real *bias = scratch->bias;
    int64_t at[ROWS];
    for (size_t r = 0; r < block->rows; r++) {
        at[r] = block->mask_at[r] + t->start * block->mask_stride;
    }
    if (can_turn(block->mask_load, block->mask_stride)) {
        micro->turn(bias, (const attn_real *)block->mask_add, at, block->rows, t->keys);
        for (size_t pair = 0, n = t->keys * ROWS; pair < n; pair++) { /* without a branch */
            visible[pair] = (unsigned char)(visible[pair] & !ISNINF(bias[pair]));
        }
        return;
    }
    for (size_t r = 0; r < block->rows; r++) {
        block->mask_load(scratch->line, block->mask_add, at[r], block->mask_stride, t->keys);
        for (size_t j = 0; j < t->keys; j++) {
            size_t pair = j * ROWS + r;
            bias[pair] = scratch->line[j];
            visible[pair] = (unsigned char)(visible[pair] & !ISNINF(bias[pair]));
        }
    }
}

/* SEM-08, added to the mask's bias if there is one. */
static void add_slopes(const block_t *block, const scratch_t *scratch, const tile *t) {
    for (size_t r = 0; r < block->rows; r++) {
        int64_t position = block->index[r] + block->band.offset;
        for (size_t j = 0; j < t->keys; j++) {
            int64_t distance = position - (t->start + (int64_t)j);
            attn_real penalty = MUL(block->slope[r], FROM_INT(distance < 0 ? -distance : distance));
            attn_real mask = block->mask_add ? scratch->bias[j * ROWS + r] : ZERO;
            scratch->bias[j * ROWS + r] = SUB(mask, penalty);
        }
    }
}

/* What is visible of the tile as a whole, by key and by row; 1 if anything is. */
static int sum_up(tile *t, const block_t *block, const unsigned char *visible) {
    unsigned char outside[ROWS], every_pair = 1, every_key = 1, any = 0;
    for (size_t r = 0; r < ROWS; r++) {
        outside[r] = r >= block->rows;
        t->row[r] = 0;
    }
    for (size_t j = 0; j < t->keys; j++) {
        unsigned char some = 0, each = 1;
        for (size_t r = 0; r < ROWS; r++) {
            unsigned char bit = visible[j * ROWS + r];
            some |= bit;
            each &= bit | outside[r];
            t->row[r] |= bit;
        }
        t->key[j] = some;
        any |= some;
        every_key &= some;
        every_pair &= each;
    }
    t->all = every_pair;
    t->every_key = every_key;
    return any;
}

/* Fills visible, and the bias where there is one; returns 1 if any pair is visible. */
static int look(tile *t, const block_t *block, const micro_t *micro, const scratch_t *scratch,
                const spans *span) {
    int banded = 0, any = 1;
    for (size_t r = 0; r < block->rows; r++) {
        int64_t end = t->start + (int64_t)t->keys;
        banded |= span->low[r] > t->start || span->high[r] < end;
    }
    t->all = t->every_key = !banded && !block->mask_bool && !block->mask_add;
    if (t->all) {
        for (size_t r = 0; r < ROWS; r++) {
            t->row[r] = 1;
        }
    } else {
        show_band(scratch->visible, t, span);
        if (block->mask_bool) {
            micro->show(scratch->visible, block->mask_bool, block->mask_at, t->start,
                        block->mask_stride, block->rows, t->keys);
        }
        if (block->mask_add) {
            load_bias(block, micro, scratch, t);
        }
        any = sum_up(t, block, scratch->visible);
    }
    if (block->has_slopes && any) {
        add_slopes(block, scratch, t);
    }
    return any;
}

/* The rows of the tile's keys with stride *stride; keys that no row sees are not touched. */
static const attn_real *fetch(const matrix_t *from, const tile *t, size_t width, attn_real *copy,
                              int64_t *stride) {
    if (t->every_key && from->in_place) {
        *stride = from->row_stride;
        return (const attn_real *)from->data + t->start * from->row_stride;
    }
    for (size_t j = 0; j < t->keys; j++) {
        attn_real *row = copy + j * width;
        if (t->every_key || t->key[j]) {
            int64_t position = (t->start + (int64_t)j) * from->row_stride;
            from->load(row, from->data, position, from->column_stride, width);
        } else {
            for (size_t c = 0; c < width; c++) {
                row[c] = ZERO;
            }
        }
    }
    *stride = (int64_t)width;
    return copy;
}

/* SEM-05, then the bias: MASK-06. */
static void bend(const block_t *block, const scratch_t *scratch, const tile *t) {
    const size_t rows = block->rows;
    for (size_t j = 0; j < t->keys; j++) {
        attn_real *s = scratch->s + j * attn_lanes(rows);
        const attn_real *bias = scratch->bias + j * ROWS;
        for (size_t r = 0; block->has_softcap && r < rows; r++) {
            s[r] = MUL(block->softcap, TANH(DIV(s[r], block->softcap)));
        }
        for (size_t r = 0; (block->mask_add || block->has_slopes) && r < rows; r++) {
            s[r] = ADD(s[r], bias[r]);
        }
    }
}

static void score_tile(const block_t *block, const micro_t *micro, const scratch_t *scratch,
                       const tile *t) {
    if (t->every_key && block->k.narrow) {
        micro->scores_narrow(scratch->s, scratch->q, block->k.data, block->k.narrow, t->start,
                             block->k.row_stride, block->rows, t->keys, block->d, block->scale);
        return;
    }
    int64_t stride;
    const attn_real *k = fetch(&block->k, t, block->d, scratch->k, &stride);
    micro->scores(scratch->s, scratch->q, k, stride, block->rows, t->keys, block->d, block->scale);
}

static void mix_tile(const state_t *state, const block_t *block, const micro_t *micro,
                     const scratch_t *scratch, const tile *t) {
    if (t->all && block->v.narrow) {
        micro->mix_narrow(state->o, scratch->s, scratch->factor, block->v.data, block->v.narrow,
                          t->start, block->v.row_stride, block->rows, t->keys, block->dv);
        return;
    }
    int64_t stride;
    const attn_real *v = fetch(&block->v, t, block->dv, scratch->v, &stride);
    if (t->all || micro->finite(v, stride, t->keys, block->dv)) {
        micro->mix(state->o, scratch->s, scratch->factor, v, stride, block->rows, t->keys,
                   block->dv);
    } else {
        micro->mix_some(state->o, scratch->s, scratch->factor, v, stride, scratch->visible,
                        block->rows, t->keys, block->dv);
    }
}

static void one_tile(const state_t *state, const block_t *block, const micro_t *micro,
                     const scratch_t *scratch, const tile *t) {
    score_tile(block, micro, scratch, t);
    if (block->has_softcap || block->mask_add || block->has_slopes) {
        bend(block, scratch, t);
    }
    if (!t->all) {
        micro->hide(scratch->s, scratch->visible, block->rows, t->keys);
    }
    micro->softmax(scratch->s, state->max, state->sum, scratch->factor, block->rows, t->keys);
    mix_tile(state, block, micro, scratch, t);
}

void ATTN_NAME(attn_block_range)(const state_t *state, const block_t *block, const micro_t *micro,
                                 const scratch_t *scratch, int64_t begin, int64_t end) {
    spans span;
    unsigned char seen[ROWS];
    int64_t first = end, last = begin;
    for (size_t r = 0; r < ROWS; r++) {
        span.low[r] = end;
        span.high[r] = begin;
        seen[r] = 0;
        if (r < block->rows) {
            int64_t low, high;
            ATTN_NAME(attn_row_span)(block, r, &low, &high);
            span.low[r] = larger(low, begin);
            span.high[r] = smaller(high, end);
        }
        if (span.low[r] < span.high[r]) {
            first = smaller(first, span.low[r]);
            last = larger(last, span.high[r]);
        }
    }
    while (first < last) {
        tile t;
        t.start = first;
        t.keys = (size_t)(smaller(last, first - first % KEYS + KEYS) - first);
        if (look(&t, block, micro, scratch, &span)) {
            one_tile(state, block, micro, scratch, &t);
            for (size_t r = 0; r < ROWS; r++) {
                seen[r] |= t.row[r];
            }
        }
        first += (int64_t)t.keys;
    }
    for (size_t r = 0; r < ROWS; r++) {
        state->seen[r] |= seen[r];
    }
}

/* The later state is one more key: its maximum is the score, its sum and output are scaled. */
void ATTN_NAME(attn_state_merge)(const state_t *into, const state_t *from, const block_t *block,
                                 const micro_t *micro, const scratch_t *scratch) {
    attn_real *weight = scratch->s, *unused_sum = scratch->bias;
    for (size_t r = 0; r < ROWS; r++) {
        weight[r] = from->max[r];
        unused_sum[r] = ZERO;
    }
    micro->softmax(weight, into->max, unused_sum, scratch->factor, block->rows, 1);
    for (size_t r = 0; r < block->rows; r++) {
        attn_real factor = scratch->factor[r];
        into->sum[r] = ADD(MUL(factor, into->sum[r]), MUL(weight[r], from->sum[r]));
        into->seen[r] |= from->seen[r];
        for (size_t c = 0; c < block->dv; c++) {
            size_t at = r * block->dv + c;
            into->o[at] = ADD(MUL(factor, into->o[at]), MUL(weight[r], from->o[at]));
        }
    }
}

/* Adding +0 turns a zero of either sign into +0: see "an invisible pair" in frame.h. */
void ATTN_NAME(attn_block_finish)(const state_t *state, const block_t *block, int with_lse) {
    for (size_t r = 0; r < block->rows; r++) {
        attn_real *o = state->o + r * block->dv;
        if (state->seen[r]) {
            for (size_t c = 0; c < block->dv; c++) {
                o[c] = ADD(DIV(o[c], state->sum[r]), ZERO);
            }
            if (with_lse) { /* 0 / sum is +0, and NaN where every score is -inf (SPV-02) */
                attn_real lse = ADD(state->max[r], LOG(state->sum[r]));
                state->max[r] = ADD(lse, DIV(ZERO, state->sum[r]));
            }
        } else {
            for (size_t c = 0; c < block->dv; c++) {
                o[c] = ZERO;
            }
            state->max[r] = block->has_sinks ? block->sink[r] : NEG_INF;
        }
    }
}
