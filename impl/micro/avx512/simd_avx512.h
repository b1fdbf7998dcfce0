/* SPDX-License-Identifier: Apache-2.0 */
/* The vector layer of micro_vector.c for AVX-512 (F, BW, DQ, VL). */
#ifndef ATTN_SIMD_AVX512_H
#define ATTN_SIMD_AVX512_H

#include <immintrin.h>

#include "impl/micro/fastexp.h"
#include "impl/micro/simd.h"
#include "spec/attest.h"

typedef __m512 vec;
enum { LANES = 16 };
enum { SCORE_KEYS = 6, SCORE_VECS = 2 }; /* 24 of 32 registers hold sums of two parts */
enum { MIX_ROWS = 4, MIX_VECS = 4, WIDE_VECS = 8 };

static SIMD vec v_load(const float *p) { return _mm512_loadu_ps(p); }
static SIMD void v_store(float *p, vec x) { _mm512_storeu_ps(p, x); }
/* x, loaded once and not with every use. */
static SIMD vec v_keep(vec x) {
    __asm__("" : "+v"(x));
    return x;
}
static SIMD vec v_set(float x) { return _mm512_set1_ps(x); }
static SIMD vec v_add(vec x, vec y) { return _mm512_add_ps(x, y); }
static SIMD vec v_sub(vec x, vec y) { return _mm512_sub_ps(x, y); }
static SIMD vec v_mul(vec x, vec y) { return _mm512_mul_ps(x, y); }
static SIMD vec v_fma(vec x, vec y, vec z) { return _mm512_fmadd_ps(x, y, z); }
/* x > y ? x : y, lane by lane: a NaN in x is passed over, one in y is kept. */
static SIMD vec v_max(vec x, vec y) { return _mm512_max_ps(x, y); }

static SIMD __mmask16 v_first(size_t n) { return (__mmask16)((1u << n) - 1u); }
static SIMD vec v_load_some(const float *p, size_t n) {
    return _mm512_maskz_loadu_ps(v_first(n), p);
}
/* x in the other lanes. */
static SIMD vec v_load_else(const float *p, size_t n, float x) {
    return _mm512_mask_loadu_ps(v_set(x), v_first(n), p);
}
static SIMD void v_store_some(float *p, vec x, size_t n) {
    _mm512_mask_storeu_ps(p, v_first(n), x);
}

/* 0 where x is -inf, else x. */
static SIMD vec v_shift_of(vec x) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, v_set(-INFINITY), _CMP_NEQ_UQ), x);
}

/* x where the byte is not 0, else -inf. */
static SIMD vec v_hide(vec x, const unsigned char *visible) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)visible);
    return _mm512_mask_mov_ps(v_set(-INFINITY), _mm_test_epi8_mask(bytes, bytes), x);
}

/* p * 2^n with one rounding, 0 where x < FASTEXP_LOW; `shifted` is n + FASTEXP_MAGIC. */
static SIMD vec v_scale(vec p, vec n, vec shifted, vec x) {
    (void)shifted;
    return _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(x, v_set(FASTEXP_LOW), _CMP_NLT_UQ), p, n);
}

/* Rows become columns in each 128-bit quarter: 4 x 4, by pairs, then by fours. */
static SIMD void v_turn_quads(vec x[4]) {
    vec y[4] = {_mm512_unpacklo_ps(x[0], x[1]), _mm512_unpackhi_ps(x[0], x[1]),
                _mm512_unpacklo_ps(x[2], x[3]), _mm512_unpackhi_ps(x[2], x[3])};
    UNROLLED for (int h = 0; h < 2; h++) {
        __m512d low = _mm512_castps_pd(y[h]), high = _mm512_castps_pd(y[h + 2]);
        x[2 * h] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
        x[2 * h + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
    }
}

/* Rows become columns: 16 x 16, by pairs, by fours, then across the 128-bit quarters twice. */
static SIMD void v_transpose(vec x[LANES]) {
    vec y[LANES];
    UNROLLED for (int n = 0; n < LANES; n += 4) { v_turn_quads(x + n); }
    UNROLLED for (int n = 0; n < 4; n++) {
        y[n] = _mm512_shuffle_f32x4(x[n], x[n + 4], 0x88);
        y[n + 4] = _mm512_shuffle_f32x4(x[n], x[n + 4], 0xdd);
        y[n + 8] = _mm512_shuffle_f32x4(x[n + 8], x[n + 12], 0x88);
        y[n + 12] = _mm512_shuffle_f32x4(x[n + 8], x[n + 12], 0xdd);
    }
    UNROLLED for (int n = 0; n < 4; n++) {
        x[n] = _mm512_shuffle_f32x4(y[n], y[n + 8], 0x88);
        x[n + 4] = _mm512_shuffle_f32x4(y[n + 4], y[n + 12], 0x88);
        x[n + 8] = _mm512_shuffle_f32x4(y[n], y[n + 8], 0xdd);
        x[n + 12] = _mm512_shuffle_f32x4(y[n + 4], y[n + 12], 0xdd);
    }
}

/* Quads: the lanes of few rows. A vector holds those of LANES / 4 keys, one after the other. */

/* In every quad the sum of all, (0 + 2) + (1 + 3). */
static SIMD vec v_add_quads(vec x) {
    x = v_add(x, _mm512_shuffle_f32x4(x, x, 0x4e));
    return v_add(x, _mm512_shuffle_f32x4(x, x, 0xb1));
}
static SIMD vec v_repeat_quad(vec x) { return _mm512_shuffle_f32x4(x, x, 0); }
/* In every quad the largest of all. */
static SIMD vec v_max_quads(vec x) {
    x = v_max(x, _mm512_shuffle_f32x4(x, x, 0x4e));
    return v_max(x, _mm512_shuffle_f32x4(x, x, 0xb1));
}
static SIMD __m256i v_load_words(const uint16_t *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
static SIMD vec v_from_half(const uint16_t *p) { return _mm512_cvtph_ps(v_load_words(p)); }
static SIMD vec v_from_brain(const uint16_t *p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v_load_words(p)), 16));
}

/* Octs: eight lanes, of 256 bits here too: on Zen 4, widening 16 bits to 512 takes a third longer
 * than twice to 256, on ports that multiplications need. */
typedef __m256 oct;
enum { OCT_SUMS = 16, OCT_COLUMNS = 4 };
#include "impl/micro/simd_oct.h"

static SIMD uintptr_t v_after(vec x, uintptr_t address) {
    return o_after(_mm512_castps512_ps256(x), address);
}

#endif
