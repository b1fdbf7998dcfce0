/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output: a part of micro_vector.c. Panels of MIX_ROWS rows x MIX_VECS vectors of columns (or
 * LONE_ROWS rows of the columns left over) go along the keys in runs.
 *
 * Many rows read V again and again from the first cache, so there is time to fetch the keys that
 * follow, be they those of the next tile: all panels of a strip of columns together prefetch about
 * as many keys as they work on. Where the rows of V fall on the same few sets of that cache, a run
 * is half a tile, so that it stays there. Few rows leave time for little but reading V about in
 * order. Each line is prefetched twice, FAR_KEYS ahead from memory and NEAR_VALUES ahead to the
 * first cache. Up to four rows go through wide panels, one or two rows and what columns registers
 * hold, in runs so short that the second pair of rows finds them in the first cache; what is near
 * is prefetched with the first pair, what is far with the second (together they are slower). A
 * prefetch waits for a sum beside it: the processor, which runs ahead of what has arrived, would
 * otherwise ask for more lines than it can wait for, and then lines that are near wait as well.
 * More rows have more to compute than to read.
 */
enum { LONE_ROWS = 8, MIX_STEPS = ROUND(8), FEW_KEYS = 32, WIDE_KEYS = 5 };
enum { NEAR = 1, FAR = 2 }; /* what to prefetch */
enum { HALF_KEYS = ATTN_TILE_KEYS / 2, SAME_SETS = 512 /* bytes between rows, or a multiple */ };
_Static_assert((int)MIX_ROWS <= (int)LONE_ROWS, "a panel has room for both");

/* Where the rows of keys to come lie; they need not exist. */
typedef struct upcoming {
    uintptr_t near, far;
} upcoming;

static SIMD upcoming upcoming_of(const char *v, int64_t v_stride, uint32_t storage) {
    const size_t size = size_of(storage);
    return (upcoming){(uintptr_t)v + NEAR_VALUES / size * (uintptr_t)v_stride,
                      (uintptr_t)v + FAR_KEYS / size * (uintptr_t)v_stride};
}

/* Their bytes from `at` on, if a line starts there, once x is known. */
static SIMD void prefetch_after(vec x, upcoming *row, size_t at, int ahead) {
    if ((ahead & NEAR) && at % LINE == 0) {
        row->near = v_after(x, row->near);
        __builtin_prefetch((const void *)(row->near + at));
    }
    if ((ahead & FAR) && at % LINE == 0) {
        row->far = v_after(x, row->far);
        __builtin_prefetch((const void *)(row->far + at), 0, 2);
    }
}

/* One key. */
static SIMD void mix_step(vec sum[LONE_ROWS][MIX_VECS], const float *s, const char *v,
                          int64_t v_stride, size_t rows, size_t vecs, size_t some, int ahead) {
    upcoming row = upcoming_of(v, v_stride, ATTEST_F32);
    vec value[MIX_VECS];
    UNROLLED for (size_t c = 0; c < vecs; c++) {
        value[c] = load_column((const float *)(const void *)v + c * LANES, some);
    }
    UNROLLED for (size_t r = 0; r < rows; r++) {
        vec weight = v_set(s[r]);
        UNROLLED for (size_t c = 0; c < vecs; c++) {
            if (c * rows / vecs == r) { /* spread over the work */
                prefetch_after(sum[0][c], &row, c * sizeof(vec), ahead);
            }
            sum[r][c] = v_fma(weight, value[c], sum[r][c]);
        }
    }
}

/* `soon`: where to prefetch one key for every MIX_STEPS, if nothing is `ahead`. */
static SIMD void mix_panel(float *o, size_t o_stride, const float *s, const float *factor,
                           const char *v, int64_t v_stride, size_t keys, size_t rows, size_t vecs,
                           size_t some, int ahead, uintptr_t soon, size_t lanes) {
    vec sum[LONE_ROWS][MIX_VECS];
    UNROLLED for (size_t r = 0; r < rows; r++) {
        UNROLLED for (size_t c = 0; c < vecs; c++) {
            sum[r][c] = v_mul(v_set(factor[r]), load_column(o + r * o_stride + c * LANES, some));
        }
    }
    size_t j = 0;
    for (; !ahead && j + MIX_STEPS <= keys; j += MIX_STEPS) {
        UNROLLED for (size_t c = 0; c < vecs; c++) {
            __builtin_prefetch((const void *)(soon + c * sizeof(vec)), 0, 2);
        }
        soon += (uintptr_t)v_stride;
        UNROLLED for (size_t e = 0; e < MIX_STEPS; e++, v += v_stride) {
            mix_step(sum, s + (j + e) * lanes, v, v_stride, rows, vecs, some, ahead);
        }
    }
    for (; j < keys; j++, v += v_stride) {
        mix_step(sum, s + j * lanes, v, v_stride, rows, vecs, some, ahead);
    }
    UNROLLED for (size_t r = 0; r < rows; r++) {
        UNROLLED for (size_t c = 0; c < vecs; c++) {
            float *to = o + r * o_stride + c * LANES;
            if (some) {
                v_store_some(to, sum[r][c], some);
            } else {
                v_store(to, sum[r][c]);
            }
        }
    }
}

/* A strip of `vecs` vectors: panels of `most` rows, then of 4, then of 1. */
static SIMD void mix_strip(float *o, size_t dv, const float *s, const float *factor, const char *v,
                           int64_t v_stride, size_t rows, size_t keys, size_t most, size_t vecs,
                           size_t some, int ahead, size_t lanes) {
    uintptr_t soon = (uintptr_t)v + keys * (uintptr_t)v_stride;
    for (size_t r = 0, step; r < rows; r += step, o += step * dv, s += step, factor += step) {
        step = step_of(rows - r, most);
        if (step == most) {
            mix_panel(o, dv, s, factor, v, v_stride, keys, most, vecs, some, ahead, soon, lanes);
        } else if (step == 4) {
            mix_panel(o, dv, s, factor, v, v_stride, keys, 4, vecs, some, ahead, soon, lanes);
        } else {
            mix_panel(o, dv, s, factor, v, v_stride, keys, 1, vecs, some, ahead, soon, lanes);
        }
        soon += keys / MIX_STEPS * (uintptr_t)v_stride;
    }
}

/* Columns c, c + 1, ... of rows of dv; strides in bytes. */
static SIMD void mix_block(float *o, const float *s, const float *factor, const char *v,
                           int64_t v_stride, size_t rows, size_t keys, size_t c, size_t dv,
                           int ahead, size_t lanes) {
    const size_t size = sizeof(float);
    for (; c + LANES * MIX_VECS <= dv; c += LANES * MIX_VECS) {
        mix_strip(o + c, dv, s, factor, v + c * size, v_stride, rows, keys, MIX_ROWS, MIX_VECS, 0,
                  ahead, lanes);
    }
    for (; c + LANES <= dv; c += LANES) {
        mix_strip(o + c, dv, s, factor, v + c * size, v_stride, rows, keys, LONE_ROWS, 1, 0, ahead,
                  lanes);
    }
    if (c < dv) {
        mix_strip(o + c, dv, s, factor, v + c * size, v_stride, rows, keys, LONE_ROWS, 1, dv - c,
                  ahead, lanes);
    }
}

/* `rows` is 1 or 2; without `factor`, the factors are 1. */
static SIMD void wide_panel(float *o, size_t dv, const float *s, const float *factor, const char *v,
                            int64_t v_stride, size_t keys, size_t rows, int ahead) {
    vec sum[2][WIDE_VECS];
    UNROLLED for (size_t r = 0; r < rows; r++) {
        UNROLLED for (size_t c = 0; c < WIDE_VECS; c++) {
            vec old = v_load(o + r * dv + c * LANES);
            sum[r][c] = factor ? v_mul(v_set(factor[r]), old) : old;
        }
    }
    for (size_t j = 0; j < keys; j++, v += v_stride) {
        upcoming row = upcoming_of(v, v_stride, ATTEST_F32);
        vec weight[2];
        UNROLLED for (size_t r = 0; r < rows; r++) { weight[r] = v_set(s[j * 4 + r]); }
        UNROLLED for (size_t c = 0; c < WIDE_VECS; c++) {
            vec value = v_keep(v_load((const float *)(const void *)v + c * LANES));
            prefetch_after(sum[0][c], &row, c * sizeof(vec), ahead);
            UNROLLED for (size_t r = 0; r < rows; r++) {
                sum[r][c] = v_fma(weight[r], value, sum[r][c]);
            }
        }
    }
    UNROLLED for (size_t r = 0; r < rows; r++) {
        UNROLLED for (size_t c = 0; c < WIDE_VECS; c++) {
            v_store(o + r * dv + c * LANES, sum[r][c]);
        }
    }
}

/* Columns 0 .. n-1, which fill wide panels, of up to four rows. */
static SIMD void mix_wide(float *o, const float *s, const float *factor, const char *v,
                          int64_t v_stride, size_t rows, size_t keys, size_t n, size_t dv) {
    const float *others = factor ? factor + 2 : NULL;
    for (size_t c = 0; c < n; c += LANES * WIDE_VECS, o += LANES * WIDE_VECS) {
        const char *from = v + c * sizeof(float);
        if (rows == 1) {
            wide_panel(o, dv, s, factor, from, v_stride, keys, 1, NEAR | FAR);
        } else if (rows == 2) {
            wide_panel(o, dv, s, factor, from, v_stride, keys, 2, NEAR | FAR);
        } else {
            wide_panel(o, dv, s, factor, from, v_stride, keys, 2, NEAR);
            if (rows == 3) {
                wide_panel(o + 2 * dv, dv, s + 2, others, from, v_stride, keys, 1, FAR);
            } else {
                wide_panel(o + 2 * dv, dv, s + 2, others, from, v_stride, keys, 2, FAR);
            }
        }
    }
}

/* One or two rows, where V is one wide panel without gaps: the processor fetches by itself what is
 * read in the order of memory, and faster (by 8 % on Zen 4). */
static void mix_in_order(float *o, const float *s, const float *factor, const char *v, size_t rows,
                         size_t keys) {
    const size_t dv = LANES * WIDE_VECS;
    if (rows == 1) {
        wide_panel(o, dv, s, factor, v, (int64_t)(dv * sizeof(float)), keys, 1, 0);
    } else {
        wide_panel(o, dv, s, factor, v, (int64_t)(dv * sizeof(float)), keys, 2, 0);
    }
}

/* The first `wide` columns in runs of WIDE_KEYS, the others in runs of `run`. Between runs the
 * factor is 1, or is left out. */
static SIMD void mix_runs(float *o, const float *s, const float *factor, const char *v,
                          int64_t v_stride, size_t rows, size_t keys, size_t wide, size_t dv,
                          size_t run, int ahead, size_t lanes) {
    float ones[ROWS];
    for (size_t r = 0; r < ROWS; r++) {
        ones[r] = 1.0f;
    }
    for (size_t j = 0; wide > 0 && j < keys; j += WIDE_KEYS) {
        const float *weights = s + j * lanes;
        const char *from = v + (int64_t)j * v_stride;
        size_t n = keys - j < WIDE_KEYS ? keys - j : WIDE_KEYS;
        if (j == 0) {
            mix_wide(o, weights, factor, from, v_stride, rows, n, wide, dv);
        } else {
            mix_wide(o, weights, NULL, from, v_stride, rows, n, wide, dv);
        }
    }
    for (size_t j = 0; wide < dv && j < keys; j += run) {
        size_t n = keys - j < run ? keys - j : run;
        mix_block(o, s + j * lanes, j == 0 ? factor : ones, v + (int64_t)j * v_stride, v_stride,
                  rows, n, wide, dv, ahead, lanes);
    }
}

static void mix(float *o, const float *s, const float *factor, const float *v, int64_t stride_elems,
                size_t rows, size_t keys, size_t dv) {
    const char *from = (const char *)v;
    int64_t v_stride = stride_elems * (int64_t)sizeof(float);
    if (rows <= 2 && dv == LANES * WIDE_VECS && stride_elems == (int64_t)dv) {
        mix_in_order(o, s, factor, from, rows, keys);
    } else if (rows <= FEW_ROWS) {
        size_t wide = attn_lanes(rows) == 4 ? dv - dv % (LANES * WIDE_VECS) : 0;
        mix_runs(o, s, factor, from, v_stride, rows, keys, wide, dv, FEW_KEYS, NEAR | FAR,
                 attn_lanes(rows));
    } else {
        size_t run = v_stride % SAME_SETS == 0 ? HALF_KEYS : ATTN_TILE_KEYS;
        mix_runs(o, s, factor, from, v_stride, rows, keys, 0, dv, run, 0, ROWS);
    }
}
