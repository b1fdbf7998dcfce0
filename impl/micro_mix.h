/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output: a part of micro_vector.c. Panels of MIX_ROWS rows x MIX_VECS vectors of columns (or
 * LONE_ROWS rows of the columns left over) go along the keys in runs.
 *
 * Many rows read V again and again from the first cache, so there is time to fetch the keys that
 * follow, be they those of the next tile: all panels of a strip of columns together prefetch about
 * as many keys as they work on. Where the rows of V fall on the same few sets of that cache, a run
 * is half a tile, so that it stays there. Few rows leave time for little but reading V once, about
 * in order: runs of FEW_KEYS, so that the strips of a key follow each other closely. Their panels
 * prefetch each line twice, FAR_KEYS ahead from memory and NEAR_KEYS ahead to the first cache.
 * There V may be narrower than binary32.
 */
enum { LONE_ROWS = 8, MIX_STEPS = ROUND(8), FEW_KEYS = 32 };
enum { HALF_KEYS = ATTN_TILE_KEYS / 2, SAME_SETS = 512 /* bytes between rows, or a multiple */ };
_Static_assert((int)MIX_ROWS <= (int)LONE_ROWS, "a panel has room for both");

/* `some`: the last vector of a row is cut to its first `some` columns; 0 for none. */
static SIMD vec load_column(const float *p, size_t some) {
    return some ? v_load_some(p, some) : v_load(p);
}

/* One key. `ahead`: bytes of FAR_KEYS, whose values need not exist; 0 to prefetch none. */
static SIMD void mix_step(vec sum[LONE_ROWS][MIX_VECS], const float *s, const char *v, size_t rows,
                          size_t vecs, size_t some, uintptr_t ahead, uint32_t storage) {
    vec value[MIX_VECS];
    UNROLLED for (size_t c = 0; c < vecs; c++) {
        const char *from = v + c * LANES * size_of(storage);
        value[c] = v_load_as(from, some ? some : LANES, storage);
        if (ahead && c * LANES * size_of(storage) % LINE == 0) {
            __builtin_prefetch((const void *)((uintptr_t)from + ahead), 0, 2);
            __builtin_prefetch((const void *)((uintptr_t)from + ahead / (FAR_KEYS / NEAR_KEYS)));
        }
    }
    UNROLLED for (size_t r = 0; r < rows; r++) {
        vec weight = v_set(s[r]);
        UNROLLED for (size_t c = 0; c < vecs; c++) {
            sum[r][c] = v_fma(weight, value[c], sum[r][c]);
        }
    }
}

/* `soon`: where to prefetch one key for every MIX_STEPS, if nothing is `ahead`. */
static SIMD void mix_panel(float *o, size_t o_stride, const float *s, const float *factor,
                           const char *v, int64_t v_stride, size_t keys, size_t rows, size_t vecs,
                           size_t some, uintptr_t ahead, uintptr_t soon, uint32_t storage) {
    vec sum[LONE_ROWS][MIX_VECS];
    UNROLLED for (size_t r = 0; r < rows; r++) {
        UNROLLED for (size_t c = 0; c < vecs; c++) {
            sum[r][c] = v_mul(v_set(factor[r]), load_column(o + r * o_stride + c * LANES, some));
        }
    }
    size_t j = 0;
    for (; !ahead && j + MIX_STEPS <= keys; j += MIX_STEPS) {
        UNROLLED for (size_t c = 0; c < vecs; c++) {
            __builtin_prefetch((const void *)(soon + c * LANES * size_of(storage)), 0, 2);
        }
        soon += (uintptr_t)v_stride;
        UNROLLED for (size_t e = 0; e < MIX_STEPS; e++, v += v_stride) {
            mix_step(sum, s + (j + e) * ROWS, v, rows, vecs, some, ahead, storage);
        }
    }
    for (; j < keys; j++, v += v_stride) {
        mix_step(sum, s + j * ROWS, v, rows, vecs, some, ahead, storage);
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
                           size_t some, uintptr_t ahead, uint32_t storage) {
    uintptr_t soon = (uintptr_t)v + keys * (uintptr_t)v_stride;
    for (size_t r = 0, step; r < rows; r += step, o += step * dv, s += step, factor += step) {
        step = step_of(rows - r, most);
        if (step == most) {
            mix_panel(o, dv, s, factor, v, v_stride, keys, most, vecs, some, ahead, soon, storage);
        } else if (step == 4) {
            mix_panel(o, dv, s, factor, v, v_stride, keys, 4, vecs, some, ahead, soon, storage);
        } else {
            mix_panel(o, dv, s, factor, v, v_stride, keys, 1, vecs, some, ahead, soon, storage);
        }
        soon += keys / MIX_STEPS * (uintptr_t)v_stride;
    }
}

/* Strides and `ahead` in bytes. */
static SIMD void mix_block(float *o, const float *s, const float *factor, const char *v,
                           int64_t v_stride, size_t rows, size_t keys, size_t dv, uintptr_t ahead,
                           uint32_t storage) {
    const size_t size = size_of(storage);
    size_t c = 0;
    for (; c + LANES * MIX_VECS <= dv; c += LANES * MIX_VECS) {
        mix_strip(o + c, dv, s, factor, v + c * size, v_stride, rows, keys, MIX_ROWS, MIX_VECS, 0,
                  ahead, storage);
    }
    for (; c + LANES <= dv; c += LANES) {
        mix_strip(o + c, dv, s, factor, v + c * size, v_stride, rows, keys, LONE_ROWS, 1, 0, ahead,
                  storage);
    }
    if (c < dv) {
        mix_strip(o + c, dv, s, factor, v + c * size, v_stride, rows, keys, LONE_ROWS, 1, dv - c,
                  ahead, storage);
    }
}

/* A factor of 1 between runs changes nothing. */
static SIMD void mix_runs(float *o, const float *s, const float *factor, const char *v,
                          int64_t v_stride, size_t rows, size_t keys, size_t dv, size_t run,
                          uintptr_t ahead, uint32_t storage) {
    float ones[ROWS];
    for (size_t r = 0; r < ROWS; r++) {
        ones[r] = 1.0f;
    }
    for (size_t j = 0; j < keys; j += run) {
        size_t n = keys - j < run ? keys - j : run;
        mix_block(o, s + j * ROWS, j == 0 ? factor : ones, v + (int64_t)j * v_stride, v_stride,
                  rows, n, dv, ahead, storage);
    }
}

static SIMD void mix_few(float *o, const float *s, const float *factor, const char *v,
                         int64_t v_stride, size_t rows, size_t keys, size_t dv, uint32_t storage) {
    mix_runs(o, s, factor, v, v_stride, rows, keys, dv, FEW_KEYS,
             FAR_KEYS * (uintptr_t)v_stride, storage);
}

static void mix(float *o, const float *s, const float *factor, const float *v, int64_t stride_elems,
                size_t rows, size_t keys, size_t dv) {
    const char *from = (const char *)v;
    int64_t v_stride = stride_elems * (int64_t)sizeof(float);
    if (rows <= FEW_ROWS) {
        mix_few(o, s, factor, from, v_stride, rows, keys, dv, ATTEST_F32);
    } else {
        size_t run = v_stride % SAME_SETS == 0 ? HALF_KEYS : ATTN_TILE_KEYS;
        mix_runs(o, s, factor, from, v_stride, rows, keys, dv, run, 0, ATTEST_F32);
    }
}

static void mix_narrow(float *o, const float *s, const float *factor, const void *v,
                       uint32_t storage, int64_t first, int64_t stride_elems, size_t rows,
                       size_t keys, size_t dv) {
    int64_t v_stride = stride_elems * 2;
    const char *from = (const char *)v + first * v_stride;
    if (storage == ATTEST_F16) {
        mix_few(o, s, factor, from, v_stride, rows, keys, dv, ATTEST_F16);
    } else {
        mix_few(o, s, factor, from, v_stride, rows, keys, dv, ATTEST_BF16);
    }
}
