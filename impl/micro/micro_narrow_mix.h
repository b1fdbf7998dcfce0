/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of few rows from values of 16 bits: a part of micro_vector.c. Panels of four rows, or
 * one, and OCT_COLUMNS octs of columns, on AVX-512 a line of V, go along the keys in runs. With the
 * first rows each line is prefetched twice, as in micro_mix.h, but waits for nothing: these values
 * take longer to compute with than to read.
 */
enum { NARROW_ROWS = 4, NARROW_KEYS = 48, NARROW_STEPS = ROUND(2) };

/* One key. `some`, if not 0: how many columns of the only oct there are. */
static SIMD void narrow_step(oct sum[NARROW_ROWS][OCT_COLUMNS], const float *s, const char *v,
                             int64_t v_stride, size_t rows, size_t octs, size_t some, int ahead,
                             uint32_t storage) {
    upcoming row = upcoming_of(v, v_stride, storage);
    oct value[OCT_COLUMNS];
    UNROLLED for (size_t c = 0; c < octs; c++) {
        value[c] = some ? load_part(v, some, storage) : load_oct(v + c * 16, storage);
    }
    if (ahead) {
        __builtin_prefetch((const void *)row.near);
        __builtin_prefetch((const void *)row.far, 0, 2);
    }
    UNROLLED for (size_t r = 0; r < rows; r++) {
        oct weight = o_set(s[r]);
        UNROLLED for (size_t c = 0; c < octs; c++) {
            sum[r][c] = o_fma(weight, value[c], sum[r][c]);
        }
    }
}

/* Without `factor`, the factors are 1. */
static SIMD void narrow_panel(float *o, size_t dv, const float *s, const float *factor,
                              const char *v, int64_t v_stride, size_t keys, size_t rows,
                              size_t octs, size_t some, int ahead, size_t lanes, uint32_t storage) {
    oct sum[NARROW_ROWS][OCT_COLUMNS];
    UNROLLED for (size_t r = 0; r < rows; r++) {
        UNROLLED for (size_t c = 0; c < octs; c++) {
            const float *from = o + r * dv + c * 8;
            oct old = some ? load_part((const char *)from, some, ATTEST_F32) : o_load(from);
            sum[r][c] = factor ? o_mul(o_set(factor[r]), old) : old;
        }
    }
    size_t j = 0;
    for (; j + NARROW_STEPS <= keys; j += NARROW_STEPS) {
        UNROLLED for (size_t e = 0; e < NARROW_STEPS; e++, v += v_stride) {
            narrow_step(sum, s + (j + e) * lanes, v, v_stride, rows, octs, some, ahead, storage);
        }
    }
    for (; j < keys; j++, v += v_stride) {
        narrow_step(sum, s + j * lanes, v, v_stride, rows, octs, some, ahead, storage);
    }
    UNROLLED for (size_t r = 0; r < rows; r++) {
        UNROLLED for (size_t c = 0; c < octs; c++) {
            float lane[8], *to = o + r * dv + c * 8;
            o_store(some ? lane : to, sum[r][c]);
            for (size_t l = 0; l < some; l++) {
                to[l] = lane[l];
            }
        }
    }
}

/* `octs` octs of columns: panels of four rows, then of one. */
static SIMD void narrow_strip(float *o, size_t dv, const float *s, const float *factor,
                              const char *v, int64_t v_stride, size_t rows, size_t keys,
                              size_t octs, size_t some, int ahead, size_t lanes, uint32_t storage) {
    size_t r = 0;
    for (; r + NARROW_ROWS <= rows; r += NARROW_ROWS) {
        narrow_panel(o + r * dv, dv, s + r, factor ? factor + r : NULL, v, v_stride, keys,
                     NARROW_ROWS, octs, some, ahead && r == 0, lanes, storage);
    }
    for (; r < rows; r++) {
        narrow_panel(o + r * dv, dv, s + r, factor ? factor + r : NULL, v, v_stride, keys, 1, octs,
                     some, ahead && r == 0, lanes, storage);
    }
}

static SIMD void narrow_run(float *o, const float *s, const float *factor, const char *v,
                            int64_t v_stride, size_t rows, size_t keys, size_t dv, size_t lanes,
                            uint32_t storage) {
    size_t c = 0;
    for (; c + 8 * OCT_COLUMNS <= dv; c += 8 * OCT_COLUMNS) {
        narrow_strip(o + c, dv, s, factor, v + c * 2, v_stride, rows, keys, OCT_COLUMNS, 0,
                     c * 2 % LINE == 0, lanes, storage);
    }
    for (; c + 8 <= dv; c += 8) {
        narrow_strip(o + c, dv, s, factor, v + c * 2, v_stride, rows, keys, 1, 0, c * 2 % LINE == 0,
                     lanes, storage);
    }
    if (c < dv) {
        narrow_strip(o + c, dv, s, factor, v + c * 2, v_stride, rows, keys, 1, dv - c,
                     c * 2 % LINE == 0, lanes, storage);
    }
}

static SIMD void narrow_runs(float *o, const float *s, const float *factor, const char *v,
                             int64_t v_stride, size_t rows, size_t keys, size_t dv, size_t lanes,
                             uint32_t storage) {
    for (size_t j = 0; j < keys; j += NARROW_KEYS) {
        size_t n = keys - j < NARROW_KEYS ? keys - j : NARROW_KEYS;
        narrow_run(o, s + j * lanes, j == 0 ? factor : NULL, v + (int64_t)j * v_stride, v_stride,
                   rows, n, dv, lanes, storage);
    }
}

static void mix_narrow(float *o, const float *s, const float *factor, const void *v,
                       uint32_t storage, int64_t first, int64_t stride_elems, size_t rows,
                       size_t keys, size_t dv) {
    int64_t v_stride = stride_elems * 2;
    const char *from = (const char *)v + first * v_stride;
    if (storage == ATTEST_F16) {
        narrow_runs(o, s, factor, from, v_stride, rows, keys, dv, attn_lanes(rows), ATTEST_F16);
    } else {
        narrow_runs(o, s, factor, from, v_stride, rows, keys, dv, attn_lanes(rows), ATTEST_BF16);
    }
}
