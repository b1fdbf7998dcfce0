/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vector micro-kernels, one source over a thin layer for each instruction set
 * (simd_ATTN_SIMD.h). Each equals attn_micro_twin bit for bit: lanes are rows (scores, softmax),
 * parts of a sum (the same for few rows) or output columns (mix), and a lane does what the twin
 * does, in its order.
 *
 *   scores  two parts of SCORE_KEYS keys x SCORE_VECS vectors of rows in registers, along d;
 *           queries are loaded, key elements are broadcast from where K lies;
 *           few rows: up to OCT_SUMS vectors of parts (micro_few_scores.h)
 *   mix     MIX_ROWS rows x MIX_VECS vectors of columns in registers, along the keys;
 *           values are loaded from where V lies, weights are broadcast (micro_mix.h);
 *           values of 16 bits: octs of columns (micro_narrow_mix.h)
 *
 * One freedom: where the largest scores are zeros of both signs, the maximum may be either. The
 * weights, sums and factors it leads to are the same.
 */
#include "impl/frame/drive.h"

#include <string.h>

#include "reference/problem/convert.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define JOIN_(x, y) x##y
#define JOIN(x, y) JOIN_(x, y)
/* A path, which formatting would take for a quotient. */
/* clang-format off */
#include TEXT(impl/micro/ATTN_SIMD/JOIN(simd_, ATTN_SIMD).h)
/* clang-format on */

#define MICRO JOIN(JOIN(attn_micro_, ATTN_SIMD), _f32)
#define ENGINE JOIN(JOIN(attn_engine_, ATTN_SIMD), _f32)
#define ROWS ATTN_TILE_ROWS
enum { FEW_ROWS = 8, LINE = 64 };

/*
 * How far ahead few rows prefetch, in keys times the bytes of an element: from memory FAR_KEYS, to
 * the first cache NEAR_KEYS and NEAR_VALUES. Found by trying, with 128 columns. What is near must
 * be little: beside what streams through it, the first cache keeps about 4 KiB (measured on Zen 4).
 */
enum { FAR_KEYS = 4 * 48, NEAR_KEYS = 4 * 6, NEAR_VALUES = 4 * 10 };

_Static_assert(ROWS % (LANES * SCORE_VECS) == 0, "rows fill whole panels");
_Static_assert(ATTN_FEW_ROWS == 4 && FEW_ROWS == 8 && ROWS > 8, "few rows fill a quad or an oct");
_Static_assert(ATTN_PARTS == 8, "the parts of a score fill an oct");

/* How many of `left` things to take at once: the largest step, a middle one, or one. */
static SIMD size_t step_of(size_t left, size_t step) {
    return left == step || left >= step + 4 ? step : left >= 4 ? 4 : 1;
}

static SIMD size_t size_of(uint32_t storage) { return storage == ATTEST_F32 ? 4 : 2; }

/* `some`: the last vector of a row is cut to its first `some` columns; 0 for none. */
static SIMD vec load_column(const float *p, size_t some) {
    return some ? v_load_some(p, some) : v_load(p);
}

/* Eight elements of a storage type, widened. */
static SIMD oct load_oct(const char *p, uint32_t storage) {
    const void *from = p;
    return storage == ATTEST_F32   ? o_load(from)
           : storage == ATTEST_F16 ? o_from_half(from)
                                   : o_from_brain(from);
}

/* What lies `steps` strides from p, which need not exist: strides may be as large as they like. */
static SIMD void prefetch(const float *p, size_t steps, int64_t stride) {
    __builtin_prefetch((const void *)((uintptr_t)p + steps * (uintptr_t)stride * sizeof *p));
}

static SIMD void score_step(vec sum[SCORE_KEYS][SCORE_VECS], const float *q, const float *k,
                            int64_t k_stride, size_t keys, size_t vecs) {
    vec row[SCORE_VECS];
    UNROLLED for (size_t v = 0; v < vecs; v++) { row[v] = v_keep(v_load(q + v * LANES)); }
    UNROLLED for (size_t j = 0; j < keys; j++) {
        vec key = v_set(k[(int64_t)j * k_stride]);
        UNROLLED for (size_t v = 0; v < vecs; v++) { sum[j][v] = v_fma(row[v], key, sum[j][v]); }
    }
}

static SIMD void score_add(vec total[SCORE_KEYS][SCORE_VECS], vec others[SCORE_KEYS][SCORE_VECS],
                           size_t keys, size_t vecs) {
    UNROLLED for (size_t j = 0; j < keys; j++) {
        UNROLLED for (size_t v = 0; v < vecs; v++) {
            total[j][v] = v_add(total[j][v], others[j][v]);
        }
    }
}

/*
 * Parts `first` and first + 4, added up. Constant `keys` and `vecs` after inlining: the sums live
 * in registers. Two steps are a line of binary32; with part 0, a line of each key that follows is
 * prefetched in them, be it a key of the next tile.
 */
static SIMD void score_pair(vec total[SCORE_KEYS][SCORE_VECS], const float *q, const float *k,
                            int64_t k_stride, size_t d, size_t first, size_t keys, size_t vecs) {
    vec others[SCORE_KEYS][SCORE_VECS];
    UNROLLED for (size_t j = 0; j < keys; j++) {
        UNROLLED for (size_t v = 0; v < vecs; v++) { total[j][v] = others[j][v] = v_set(0.0f); }
    }
    size_t c = first;
    for (; c + 4 < d; c += 8) {
        UNROLLED for (size_t j = 0; first == 0 && j < keys; j += 2) {
            prefetch(k + c, SCORE_KEYS + j + c / 8 % 2, k_stride);
        }
        score_step(total, q + c * ROWS, k + c, k_stride, keys, vecs);
        score_step(others, q + (c + 4) * ROWS, k + c + 4, k_stride, keys, vecs);
    }
    if (c < d) {
        score_step(total, q + c * ROWS, k + c, k_stride, keys, vecs);
    }
    score_add(total, others, keys, vecs);
}

/* The even parts, or the odd ones. The first pair waits for the second in memory. */
static SIMD void score_half(vec total[SCORE_KEYS][SCORE_VECS], const float *q, const float *k,
                            int64_t k_stride, size_t d, size_t first, size_t keys, size_t vecs) {
    vec others[SCORE_KEYS][SCORE_VECS];
    score_pair(total, q, k, k_stride, d, first, keys, vecs);
    score_pair(others, q, k, k_stride, d, first + 2, keys, vecs);
    score_add(total, others, keys, vecs);
}

static SIMD void score_panel(float *s, const float *q, const float *k, int64_t k_stride, size_t d,
                             const float *scale, size_t keys, size_t vecs) {
    vec total[SCORE_KEYS][SCORE_VECS], others[SCORE_KEYS][SCORE_VECS];
    score_half(total, q, k, k_stride, d, 0, keys, vecs);
    score_half(others, q, k, k_stride, d, 1, keys, vecs);
    score_add(total, others, keys, vecs);
    UNROLLED for (size_t j = 0; j < keys; j++) {
        UNROLLED for (size_t v = 0; v < vecs; v++) {
            v_store(s + j * ROWS + v * LANES, v_mul(v_set(*scale), total[j][v]));
        }
    }
}

static __attribute__((noinline)) void score_full(float *s, const float *q, const float *k,
                                                 int64_t k_stride, size_t d, const float *scale) {
    score_panel(s, q, k, k_stride, d, scale, SCORE_KEYS, SCORE_VECS);
}

static SIMD void score_columns(float *s, const float *q, const float *k, int64_t k_stride,
                               size_t keys, size_t d, const float *scale, size_t vecs) {
    for (; keys >= SCORE_KEYS; keys -= SCORE_KEYS, s += SCORE_KEYS * ROWS) {
        if (vecs == SCORE_VECS) {
            score_full(s, q, k, k_stride, d, scale);
        } else {
            score_panel(s, q, k, k_stride, d, scale, SCORE_KEYS, vecs);
        }
        k += SCORE_KEYS * k_stride;
    }
    for (; keys > 0; keys--, s += ROWS, k += k_stride) {
        score_panel(s, q, k, k_stride, d, scale, 1, vecs);
    }
}

/* LANES rows, of which the first n exist. */
static SIMD void turn_rows(float *q, const float *from, const int64_t *at, size_t n, size_t d) {
    for (size_t c = 0; c < d; c += LANES) {
        size_t columns = d - c < LANES ? d - c : LANES;
        vec x[LANES];
        UNROLLED for (size_t l = 0; l < LANES; l++) {
            x[l] = l < n ? load_column(from + at[l] + c, columns % LANES) : v_set(0.0f);
        }
        v_transpose(x);
        UNROLLED for (size_t e = 0; e < LANES; e++) {
            if (e < columns) {
                v_store(q + (c + e) * ROWS, x[e]);
            }
        }
    }
}

static void turn(float *q, const float *from, const int64_t *at, size_t rows, size_t d) {
    size_t r = 0;
    for (; r < rows; r += LANES) {
        turn_rows(q + r, from, at + r, rows - r, d);
    }
    for (; r < ROWS; r += LANES) {
        for (size_t c = 0; c < d; c++) {
            v_store(q + c * ROWS + r, v_set(0.0f));
        }
    }
}

#include "impl/micro/micro_few_scores.h"

static void scores(float *s, const float *q, const float *k, int64_t k_stride, size_t rows,
                   size_t keys, size_t d, float scale) {
    size_t r = 0;
    if (rows <= FEW_ROWS) {
        score_few(s, q, (const char *)k, k_stride, rows, keys, d, scale, ATTEST_F32);
        return;
    }
    for (; r + LANES < rows; r += LANES * SCORE_VECS) {
        score_columns(s + r, q + r, k, k_stride, keys, d, &scale, SCORE_VECS);
    }
    if (r < rows) {
        score_columns(s + r, q + r, k, k_stride, keys, d, &scale, 1);
    }
}

typedef unsigned char bytes __attribute__((vector_size(16)));
enum { BYTES = sizeof(bytes) };
_Static_assert(ROWS % BYTES == 0, "rows fill whole vectors of bytes");

#ifdef __clang__
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (bytes){__VA_ARGS__})
#endif

/* Rows become columns: the halves of all rows are interleaved, four times. */
static SIMD void turn_bytes(bytes x[BYTES]) {
    UNROLLED for (int round = 0; round < 4; round++) {
        bytes y[BYTES];
        UNROLLED for (size_t n = 0; n < BYTES / 2; n++) {
            y[2 * n] =
                SHUFFLE(x[n], x[n + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            y[2 * n + 1] = SHUFFLE(x[n], x[n + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14,
                                   30, 15, 31);
        }
        UNROLLED for (size_t n = 0; n < BYTES; n++) { x[n] = y[n]; }
    }
}

/* Lanes beyond the last row may take any row's mask: they are hidden already. */
static void show(unsigned char *visible, const unsigned char *mask, const int64_t *at,
                 int64_t first, int64_t stride, size_t rows, size_t keys) {
    size_t j = 0;
    for (; stride == 1 && j + BYTES <= keys; j += BYTES) {
        for (size_t r = 0; r < rows; r += BYTES) {
            bytes x[BYTES];
            UNROLLED for (size_t l = 0; l < BYTES; l++) {
                size_t row = r + l < rows ? r + l : r;
                memcpy(&x[l], mask + (at[row] + first + (int64_t)j), BYTES);
            }
            turn_bytes(x);
            UNROLLED for (size_t l = 0; l < BYTES; l++) {
                unsigned char *to = visible + (j + l) * ROWS + r;
                bytes shown;
                memcpy(&shown, to, BYTES);
                shown &= (bytes)(x[l] != 0);
                memcpy(to, &shown, BYTES);
            }
        }
    }
    for (; j < keys; j++) {
        for (size_t r = 0; r < rows; r++) {
            unsigned char shown = mask[at[r] + (first + (int64_t)j) * stride] != 0;
            visible[j * ROWS + r] &= shown;
        }
    }
}

static void hide(float *s, const unsigned char *visible, size_t rows, size_t keys) {
    const size_t lanes = attn_lanes(rows);
    for (size_t j = 0; j < keys; j++, s += lanes, visible += ROWS) {
        for (size_t r = 0; lanes == ROWS && r < rows; r += LANES) {
            v_store(s + r, v_hide(v_load(s + r), visible + r));
        }
        for (size_t r = 0; lanes < ROWS && r < rows; r++) {
            s[r] = visible[r] ? s[r] : -INFINITY;
        }
    }
}

/* attn_fast_expf, lane by lane. */
static SIMD vec v_exp(vec x) {
    vec shifted = v_fma(x, v_set(FASTEXP_LOG2E), v_set(FASTEXP_MAGIC));
    vec n = v_sub(shifted, v_set(FASTEXP_MAGIC));
    vec r = v_fma(n, v_set(-FASTEXP_LN2_HIGH), x);
    r = v_fma(n, v_set(-FASTEXP_LN2_LOW), r);
    vec p = v_fma(v_set(FASTEXP_C6), r, v_set(FASTEXP_C5));
    p = v_fma(p, r, v_set(FASTEXP_C4));
    p = v_fma(p, r, v_set(FASTEXP_C3));
    p = v_fma(p, r, v_set(FASTEXP_C2));
    p = v_fma(p, r, v_set(1.0f));
    p = v_fma(p, r, v_set(1.0f));
    return v_scale(p, n, shifted, x);
}

static SIMD vec column_max(const float *s, vec max, size_t keys) {
    vec top[4] = {max, max, max, max};
    size_t j = 0;
    for (; j + 4 <= keys; j += 4) {
        UNROLLED for (size_t v = 0; v < 4; v++) {
            top[v] = v_max(v_load(s + (j + v) * ROWS), top[v]);
        }
    }
    for (; j < keys; j++) {
        top[0] = v_max(v_load(s + j * ROWS), top[0]);
    }
    return v_max(v_max(top[3], top[2]), v_max(top[1], top[0]));
}

/* Few rows: a vector holds several keys, and so several parts of the sum; QUAD_VECS hold them all.
 * Of the lanes at s, n exist; the others are scores of -inf. */
enum { QUAD_VECS = 4 * 8 / LANES };
static SIMD vec load_scores(const float *s, size_t n) {
    return n < LANES ? v_load_else(s, n, -INFINITY) : v_load(s);
}

static SIMD void max_few(vec top[QUAD_VECS], const float *s, size_t n) {
    UNROLLED for (size_t v = 0; v < QUAD_VECS; v++) {
        if (v * LANES < n) {
            top[v] = v_max(load_scores(s + v * LANES, n - v * LANES), top[v]);
        }
    }
}

static SIMD void weigh_few(vec part[QUAD_VECS], float *s, vec shift, size_t n) {
    UNROLLED for (size_t v = 0; v < QUAD_VECS; v++) {
        float *at = s + v * LANES;
        if (v * LANES < n) {
            vec weight = v_exp(v_sub(load_scores(at, n - v * LANES), shift));
            part[v] = v_add(part[v], weight);
            if (n - v * LANES < LANES) {
                v_store_some(at, weight, n - v * LANES);
            } else {
                v_store(at, weight);
            }
        }
    }
}

static SIMD void softmax_few(float *s, float *max, float *sum, float *factor, size_t keys) {
    const size_t all = 4 * 8, end = keys * 4, whole = end - end % all;
    const vec old = v_repeat_quad(v_load_some(max, 4));
    vec top[QUAD_VECS], part[QUAD_VECS];
    UNROLLED for (size_t v = 0; v < QUAD_VECS; v++) {
        top[v] = old;
        part[v] = v_set(0.0f);
    }
    for (size_t n = 0; n < whole; n += all) {
        max_few(top, s + n, all);
    }
    max_few(top, s + whole, end - whole);
    UNROLLED for (size_t v = 1; v < QUAD_VECS; v++) { top[0] = v_max(top[v], top[0]); }
    vec most = v_max_quads(top[0]);
    vec shift = v_shift_of(most);
    vec shrink = v_exp(v_sub(old, shift));
    for (size_t n = 0; n < whole; n += all) {
        weigh_few(part, s + n, shift, all);
    }
    weigh_few(part, s + whole, shift, end - whole);
    UNROLLED for (size_t half = QUAD_VECS / 2; half > 0; half /= 2) {
        UNROLLED for (size_t v = 0; v < half; v++) { part[v] = v_add(part[v], part[v + half]); }
    }
    v_store_some(max, most, 4);
    v_store_some(sum, v_add(v_mul(v_load_some(sum, 4), shrink), v_add_quads(part[0])), 4);
    v_store_some(factor, shrink, 4);
}

static void softmax(float *s, float *max, float *sum, float *factor, size_t rows, size_t keys) {
    if (attn_lanes(rows) == 4) {
        softmax_few(s, max, sum, factor, keys);
        return;
    }
    for (size_t r = 0; r < rows; r += LANES) {
        vec old = v_load(max + r), part[8];
        vec top = column_max(s + r, old, keys);
        vec shift = v_shift_of(top);
        vec shrink = v_exp(v_sub(old, shift));
        UNROLLED for (size_t p = 0; p < 8; p++) { part[p] = v_set(0.0f); }
        for (size_t j = 0; j < keys; j += 8) {
            UNROLLED for (size_t p = 0; p < 8; p++) {
                if (j + p < keys) {
                    float *at = s + (j + p) * ROWS + r;
                    vec weight = v_exp(v_sub(v_load(at), shift));
                    v_store(at, weight);
                    part[p] = v_add(part[p], weight);
                }
            }
        }
        UNROLLED for (size_t half = 4; half > 0; half /= 2) {
            UNROLLED for (size_t p = 0; p < half; p++) { part[p] = v_add(part[p], part[p + half]); }
        }
        v_store(max + r, top);
        v_store(sum + r, v_add(v_mul(v_load(sum + r), shrink), part[0]));
        v_store(factor + r, shrink);
    }
}

#include "impl/micro/micro_mix.h"
#include "impl/micro/micro_narrow_mix.h"

/* Rare (a value of a partial tile is not finite), so one vector at a time. */
static void mix_some(float *o, const float *s, const float *factor, const float *v,
                     int64_t v_stride, const unsigned char *visible, size_t rows, size_t keys,
                     size_t dv) {
    const size_t lanes = attn_lanes(rows);
    for (size_t c = 0; c < dv; c += LANES) {
        size_t n = dv - c < LANES ? dv - c : LANES;
        for (size_t r = 0; r < rows; r++) {
            float *to = o + r * dv + c;
            vec sum = v_mul(v_set(factor[r]), v_load_some(to, n));
            for (size_t j = 0; j < keys; j++) {
                if (visible[j * ROWS + r]) {
                    vec value = v_load_some(v + (int64_t)j * v_stride + (int64_t)c, n);
                    sum = v_fma(v_set(s[j * lanes + r]), value, sum);
                }
            }
            v_store_some(to, sum, n);
        }
    }
}

/* 0 * x is 0 for a finite x and NaN for any other. */
static int finite(const float *v, int64_t v_stride, size_t keys, size_t dv) {
    float lane[LANES];
    vec sum[4] = {v_set(0.0f), v_set(0.0f), v_set(0.0f), v_set(0.0f)};
    for (size_t j = 0; j < keys; j++, v += v_stride) {
        size_t c = 0;
        for (; c + 4 * LANES <= dv; c += 4 * LANES) {
            UNROLLED for (size_t n = 0; n < 4; n++) {
                sum[n] = v_fma(v_load(v + c + n * LANES), v_set(0.0f), sum[n]);
            }
        }
        for (; c < dv; c += LANES) {
            size_t n = dv - c < LANES ? dv - c : LANES;
            sum[0] = v_fma(v_load_some(v + c, n), v_set(0.0f), sum[0]);
        }
    }
    v_store(lane, v_add(v_add(sum[0], sum[1]), v_add(sum[2], sum[3])));
    int all = 1;
    for (size_t l = 0; l < LANES; l++) {
        all &= lane[l] == 0.0f;
    }
    return all;
}

#define LOADER(name, widen, dtype)                                                                 \
    static void name(float *to, const void *from, int64_t position, int64_t stride, size_t n) {    \
        const uint16_t *array = (const uint16_t *)from + position;                                 \
        size_t c = 0;                                                                              \
        for (; stride == 1 && c + LANES <= n; c += LANES) {                                        \
            v_store(to + c, widen(array + c));                                                     \
        }                                                                                          \
        for (; c < n; c++) {                                                                       \
            to[c] = (float)attn_load(dtype, array + (int64_t)c * stride);                          \
        }                                                                                          \
    }

LOADER(load_f16, v_from_half, ATTEST_F16)
LOADER(load_bf16, v_from_brain, ATTEST_BF16)

extern const attn_micro_f32 MICRO;
extern const attn_engine_f32 ENGINE;
const attn_micro_f32 MICRO = {
    .name = TEXT(ATTN_SIMD),
    .turn = turn,
    .scores = scores,
    .show = show,
    .hide = hide,
    .softmax = softmax,
    .mix = mix,
    .mix_some = mix_some,
    .finite = finite,
    .narrow_rows = FEW_ROWS,
    .scores_narrow = scores_narrow,
    .mix_narrow = mix_narrow,
};
const attn_engine_f32 ENGINE = {&MICRO, load_f16, load_bf16};
