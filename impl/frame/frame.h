/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - the loop nest that every tiled kernel shares: which keys a block of rows visits, in
 * which order, and what is done about the ones a row may not see. Portable, on the arithmetic layer
 * of scalar.h alone, so that the frame that is proved is the frame that runs. Threads, types and
 * the walk over batch entries and heads are outside (drive.h); vector code is below (attn_micro).
 *
 *   block: at most ATTN_TILE_ROWS rows that read one KV head
 *     range: keys [begin, end), cut to the keys that some row of the block sees by its band
 *       tile: at most ATTN_TILE_KEYS keys; tiles start at multiples of ATTN_TILE_KEYS, so that a
 *             row's arithmetic does not depend on the rows beside it
 *         visible    band and mask; all pairs, some, or none: none is skipped  micro-kernel show
 *         fetch K    in place where some row sees each key; else seen keys are copied, others are 0
 *         scores     s[j][r] = scale * (q[r] . k[j])                           micro-kernel
 *         bend       softcap, then bias; an invisible pair becomes -inf        micro-kernel hide
 *         softmax    max, exp, sum; the old sum and output shrink by factor[r] micro-kernel
 *         fetch V
 *         mix        o[r] = factor[r] * o[r] + sum of s[j][r] * v[j]           micro-kernel
 *
 * Scores lie key by key with the rows of a key side by side: rows are the lanes of vector code.
 * Where a block has few rows, as when decoding, the keys lie closer (attn_lanes): all scores of a
 * tile then take a few lines of the first cache, beside what streams through it.
 *
 * A sum by parts is ATTN_PARTS sums, part p over the terms p, p + ATTN_PARTS, ... in that order,
 * added in pairs: ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)). Scores are summed so over dimensions,
 * weights over the keys of a tile: where rows are few, parts may be lanes. So vector code is fast
 * for any number of rows, and every micro-kernel can equal its portable twin bit for bit. Which
 * term is the first does not matter: if it is another, the parts change places, but each is still
 * added to the same ones. So a row's sum does not depend on the key at which its block begins.
 *
 * An invisible pair. Its score may be computed, and is then replaced by -inf through SELECT, which
 * makes its weight exactly +0. A weight of +0 meets the value only if every value of the tile is
 * finite; else the pair is left out (mix_some), because 0 * inf is NaN. Both ways give the same
 * bits but for the sign of a zero, which attn_block_finish settles.
 *
 * A neutral tile. For a row that sees nothing in a tile that others see, the maximum stays, the
 * factor is exp(0) = 1 (or exp(-inf) = 0 while sum and output are still 0), every weight is +0.
 *
 * For a proof: build an attn_block over arrays of attn_real with load = attn_load_real, give it
 * buffers of the sizes named in attn_scratch and attn_state, and call start, begin, range, finish
 * with &attn_micro_portable. ATTN_TILE_ROWS, ATTN_TILE_KEYS and ATTN_FEW_ROWS may be any sizes
 * >= 1, ATTN_PARTS any power of 2. A reading may define ISFINITE; SEM-03 bounds the positions (rows
 * and keys to 2^40, |offset| to 2^62).
 */
#ifndef ATTN_FRAME_H
#define ATTN_FRAME_H

#include "reference/arithmetic/scalar.h"
#include "reference/problem/mask.h"

#ifndef ATTN_TILE_ROWS
#define ATTN_TILE_ROWS 32
#endif
#ifndef ATTN_TILE_KEYS
#define ATTN_TILE_KEYS 96
#endif
#ifndef ATTN_FEW_ROWS
#define ATTN_FEW_ROWS 4
#endif
#ifndef ATTN_PARTS
#define ATTN_PARTS 8
#endif

/* Lanes from the scores of one key to the next in a block of so many rows. */
static inline size_t attn_lanes(size_t rows) {
    return rows <= ATTN_FEW_ROWS && ATTN_FEW_ROWS < ATTN_TILE_ROWS ? ATTN_FEW_ROWS : ATTN_TILE_ROWS;
}

/* How many rows the queries of a block of few rows have room for; 0 if its rows are many. */
static inline size_t attn_few(size_t rows) {
    const size_t twice = (size_t)2 * ATTN_FEW_ROWS;
    return rows <= ATTN_FEW_ROWS && ATTN_FEW_ROWS < ATTN_TILE_ROWS ? ATTN_FEW_ROWS
           : rows <= twice && twice < ATTN_TILE_ROWS               ? twice
                                                                   : 0;
}

/* x - x is 0 for a finite x and NaN for any other. */
#ifndef ISFINITE
#define ISFINITE(x) GT(ADD(SUB(x, x), ONE), ZERO)
#endif

/* to[c] = element `position + c * stride` of an array of some storage type, widened. */
typedef void (*ATTN_NAME(attn_load_fn))(attn_real *to, const void *from, int64_t position,
                                        int64_t stride, size_t n);

/* A matrix inside a tensor: element (j, c) is number j * row_stride + c * column_stride. */
typedef struct ATTN_NAME(attn_matrix) {
    const void *data;
    int64_t row_stride, column_stride;
    int in_place;    /* attn_real with column_stride 1: may be used where it lies */
    uint32_t narrow; /* a storage type that attn_micro may read where it lies, or 0 */
    ATTN_NAME(attn_load_fn) load;
} ATTN_NAME(attn_matrix);

/* What a block computes. Row r of the block is query `index[r]` of some head of the group. */
typedef struct ATTN_NAME(attn_block) {
    size_t rows, d, dv;
    int64_t index[ATTN_TILE_ROWS];

    const void *q;
    int64_t q_at[ATTN_TILE_ROWS]; /* element number of each row */
    int64_t q_stride;
    ATTN_NAME(attn_load_fn) q_load;
    ATTN_NAME(attn_matrix) k, v; /* row j is key j */

    attn_band band;
    const unsigned char *mask_bool; /* or NULL; element mask_at[r] + j * mask_stride */
    const void *mask_add;           /* or NULL; likewise */
    ATTN_NAME(attn_load_fn) mask_load;
    int64_t mask_at[ATTN_TILE_ROWS];
    int64_t mask_stride;

    attn_real scale;
    attn_real softcap; /* in force where has_softcap is not 0, and so on */
    attn_real slope[ATTN_TILE_ROWS];
    attn_real sink[ATTN_TILE_ROWS];
    int has_softcap, has_slopes, has_sinks;
} ATTN_NAME(attn_block);

/* Softmax of the keys so far, before the division; ATTN_TILE_ROWS of max, sum and seen. */
typedef struct ATTN_NAME(attn_state) {
    attn_real *max, *sum;
    attn_real *o;        /* rows * dv: row r starts at r * dv */
    unsigned char *seen; /* 1 once the row has seen a key */
} ATTN_NAME(attn_state);

typedef struct ATTN_NAME(attn_scratch) {
    attn_real *q;           /* (d + ATTN_PARTS - 1) * ATTN_TILE_ROWS: see attn_micro */
    attn_real *k;           /* ATTN_TILE_KEYS * d */
    attn_real *v;           /* ATTN_TILE_KEYS * dv */
    attn_real *s;           /* ATTN_TILE_KEYS * ATTN_TILE_ROWS: scores, then weights */
    attn_real *bias;        /* the same, always ATTN_TILE_ROWS from one key to the next */
    attn_real *line;        /* the larger of d and ATTN_TILE_KEYS: one row before transposition */
    attn_real *factor;      /* ATTN_TILE_ROWS */
    unsigned char *visible; /* ATTN_TILE_KEYS * ATTN_TILE_ROWS */
} ATTN_NAME(attn_scratch);

/*
 * The inner loops, over `rows` rows and `keys` keys of a tile. Implementations may also read and
 * write lanes rows..ATTN_TILE_ROWS-1 of the buffers in attn_scratch (of s: rows..lanes-1) and of
 * max and sum, whose values are never used; but `visible` holds 0 or 1, and 0 in those lanes. K, V
 * and o are touched inside their `keys` or `rows` rows alone.
 *
 * s[j][r] lies at j * lanes + r, with lanes = attn_lanes(rows); `visible` and the bias at
 * j * ATTN_TILE_ROWS + r. q[c][r] lies at c * ATTN_TILE_ROWS + r; where rows are few, with
 * few = attn_few(rows), at (c / ATTN_PARTS * few + r) * ATTN_PARTS + c % ATTN_PARTS. Rows and
 * dimensions beyond the last are 0 there.
 */
typedef struct ATTN_NAME(attn_micro) {
    const char *name;
    /* of queries or of a mask: q[c * ATTN_TILE_ROWS + r] = from[at[r] + c], and 0 in the lanes
     * beyond the last row */
    void (*turn)(attn_real *q, const attn_real *from, const int64_t *at, size_t rows, size_t d);
    /* s[j][r] = scale * sum by parts over c of q[c][r] * k[j * k_stride + c] */
    void (*scores)(attn_real *s, const attn_real *q, const attn_real *k, int64_t k_stride,
                   size_t rows, size_t keys, size_t d, attn_real scale);
    /* visible[j][r] = 0 where mask[at[r] + (first + j) * stride] is 0 */
    void (*show)(unsigned char *visible, const unsigned char *mask, const int64_t *at,
                 int64_t first, int64_t stride, size_t rows, size_t keys);
    /* s[j][r] = -inf where visible[j][r] is 0 */
    void (*hide)(attn_real *s, const unsigned char *visible, size_t rows, size_t keys);
    /* s becomes the weights exp(s[j][r] - new max[r]), factor[r] = exp(old max[r] - new max[r]),
     * sum[r] = factor[r] * sum[r] + sum by parts over j of the weights */
    void (*softmax)(attn_real *s, attn_real *max, attn_real *sum, attn_real *factor, size_t rows,
                    size_t keys);
    /* o[r][c] = factor[r] * o[r][c] + sum over j, ascending, of s[j][r] * v[j * v_stride + c] */
    void (*mix)(attn_real *o, const attn_real *s, const attn_real *factor, const attn_real *v,
                int64_t v_stride, size_t rows, size_t keys, size_t dv);
    /* the same over the visible pairs alone */
    void (*mix_some)(attn_real *o, const attn_real *s, const attn_real *factor, const attn_real *v,
                     int64_t v_stride, const unsigned char *visible, size_t rows, size_t keys,
                     size_t dv);
    /* 1 if all v[j * v_stride + c] are finite, else 0 */
    int (*finite)(const attn_real *v, int64_t v_stride, size_t keys, size_t dv);

    /*
     * Optional, for blocks of at most narrow_rows rows: scores and mix over keys first, first + 1,
     * ... of K and V as they are stored, with the same results as over their widened values.
     */
    size_t narrow_rows;
    void (*scores_narrow)(attn_real *s, const attn_real *q, const void *k, uint32_t storage,
                          int64_t first, int64_t k_stride, size_t rows, size_t keys, size_t d,
                          attn_real scale);
    void (*mix_narrow)(attn_real *o, const attn_real *s, const attn_real *factor, const void *v,
                       uint32_t storage, int64_t first, int64_t v_stride, size_t rows, size_t keys,
                       size_t dv);
} ATTN_NAME(attn_micro);

extern const ATTN_NAME(attn_micro) ATTN_NAME(attn_micro_portable);

/* Loader for arrays of attn_real. */
void ATTN_NAME(attn_load_real)(attn_real *to, const void *from, int64_t position, int64_t stride,
                               size_t n);

/* Turns the queries of a block into scratch; once before its first range. */
void ATTN_NAME(attn_block_start)(const ATTN_NAME(attn_block) * block,
                                 const ATTN_NAME(attn_micro) * micro,
                                 const ATTN_NAME(attn_scratch) * scratch);

/* The state before any key: the sink counts as a key whose value is 0, if `with_sink` is not 0. */
void ATTN_NAME(attn_state_begin)(const ATTN_NAME(attn_state) * state,
                                 const ATTN_NAME(attn_block) * block, int with_sink);

/* Takes the keys begin <= j < end into the state. `begin` is a multiple of ATTN_TILE_KEYS. */
void ATTN_NAME(attn_block_range)(const ATTN_NAME(attn_state) * state,
                                 const ATTN_NAME(attn_block) * block,
                                 const ATTN_NAME(attn_micro) * micro,
                                 const ATTN_NAME(attn_scratch) * scratch, int64_t begin,
                                 int64_t end);

/* Takes a state over later keys, begun without the sink, into an earlier one. */
void ATTN_NAME(attn_state_merge)(const ATTN_NAME(attn_state) * into,
                                 const ATTN_NAME(attn_state) * from,
                                 const ATTN_NAME(attn_block) * block,
                                 const ATTN_NAME(attn_micro) * micro,
                                 const ATTN_NAME(attn_scratch) * scratch);

/* o becomes the output and, `with_lse`, max the LSE. A row that has seen nothing gets 0, and -inf
 * or its sink. */
void ATTN_NAME(attn_block_finish)(const ATTN_NAME(attn_state) * state,
                                  const ATTN_NAME(attn_block) * block, int with_lse);

/* The keys that row r of the block sees by its band: *low <= j < *high, possibly none. */
void ATTN_NAME(attn_row_span)(const ATTN_NAME(attn_block) * block, size_t r, int64_t *low,
                              int64_t *high);

#endif
