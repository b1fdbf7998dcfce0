/* SPDX-License-Identifier: Apache-2.0 */
/* The vector layer of micro_vector.c for AVX2 with FMA and F16C. */
#ifndef ATTN_SIMD_AVX2_H
#define ATTN_SIMD_AVX2_H

#include <immintrin.h>

#include "impl/micro/fastexp.h"
#include "impl/micro/simd.h"
#include "spec/attest.h"

typedef __m256 vec;
enum { LANES = 8 };
enum { SCORE_KEYS = 3, SCORE_VECS = 2 }; /* 12 of 16 registers hold sums of two parts */
enum { MIX_ROWS = 6, MIX_VECS = 2, WIDE_VECS = 4 };

static SIMD vec v_load(const float *p) { return _mm256_loadu_ps(p); }
static SIMD void v_store(float *p, vec x) { _mm256_storeu_ps(p, x); }
/* x, loaded once and not with every use. */
static SIMD vec v_keep(vec x) {
    __asm__("" : "+x"(x));
    return x;
}
static SIMD vec v_set(float x) { return _mm256_set1_ps(x); }
static SIMD vec v_add(vec x, vec y) { return _mm256_add_ps(x, y); }
static SIMD vec v_sub(vec x, vec y) { return _mm256_sub_ps(x, y); }
static SIMD vec v_mul(vec x, vec y) { return _mm256_mul_ps(x, y); }
static SIMD vec v_fma(vec x, vec y, vec z) { return _mm256_fmadd_ps(x, y, z); }
/* x > y ? x : y, lane by lane: a NaN in x is passed over, one in y is kept. */
static SIMD vec v_max(vec x, vec y) { return _mm256_max_ps(x, y); }

static SIMD __m256i v_first(size_t n) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane);
}
static SIMD vec v_load_some(const float *p, size_t n) { return _mm256_maskload_ps(p, v_first(n)); }
static SIMD vec v_load_else(const float *p, size_t n, float x) {
    return _mm256_blendv_ps(v_set(x), v_load_some(p, n), _mm256_castsi256_ps(v_first(n)));
}
static SIMD void v_store_some(float *p, vec x, size_t n) { _mm256_maskstore_ps(p, v_first(n), x); }

/* 0 where x is -inf, else x. */
static SIMD vec v_shift_of(vec x) {
    return _mm256_and_ps(_mm256_cmp_ps(x, v_set(-INFINITY), _CMP_NEQ_UQ), x);
}

/* x where the byte is not 0, else -inf. */
static SIMD vec v_hide(vec x, const unsigned char *visible) {
    __m256i words = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)visible));
    __m256i hidden = _mm256_cmpeq_epi32(words, _mm256_setzero_si256());
    return _mm256_blendv_ps(x, v_set(-INFINITY), _mm256_castsi256_ps(hidden));
}

/* p * 2^n with one rounding, 0 where x < FASTEXP_LOW; `shifted` is n + FASTEXP_MAGIC. */
static SIMD vec v_scale(vec p, vec n, vec shifted, vec x) {
    (void)n;
    __m256i bits = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
    bits = _mm256_add_epi32(bits, _mm256_set1_epi32((int)FASTEXP_BIAS));
    vec lifted = _mm256_mul_ps(p, _mm256_castsi256_ps(bits));
    lifted = _mm256_and_ps(_mm256_cmp_ps(x, v_set(FASTEXP_LOW), _CMP_NLT_UQ), lifted);
    return _mm256_mul_ps(lifted, v_set(FASTEXP_DROP));
}

/* Rows become columns in each 128-bit half: 4 x 4. */
static SIMD void v_turn_quads(vec x[4]) {
    vec y[4] = {_mm256_unpacklo_ps(x[0], x[1]), _mm256_unpackhi_ps(x[0], x[1]),
                _mm256_unpacklo_ps(x[2], x[3]), _mm256_unpackhi_ps(x[2], x[3])};
    UNROLLED for (int h = 0; h < 2; h++) {
        x[2 * h] = _mm256_shuffle_ps(y[h], y[h + 2], 0x44);
        x[2 * h + 1] = _mm256_shuffle_ps(y[h], y[h + 2], 0xee);
    }
}

/* Rows become columns: 8 x 8, by pairs, by fours, then across the halves. */
static SIMD void v_transpose(vec x[LANES]) {
    vec y[LANES];
    UNROLLED for (int n = 0; n < LANES; n += 4) { v_turn_quads(x + n); }
    UNROLLED for (int n = 0; n < 4; n++) {
        y[n] = _mm256_permute2f128_ps(x[n], x[n + 4], 0x20);
        y[n + 4] = _mm256_permute2f128_ps(x[n], x[n + 4], 0x31);
    }
    UNROLLED for (int n = 0; n < LANES; n++) { x[n] = y[n]; }
}

/* Quads: as in simd_avx512.h, with two in a vector. */
static SIMD vec v_add_quads(vec x) { return v_add(x, _mm256_permute2f128_ps(x, x, 1)); }
static SIMD vec v_repeat_quad(vec x) { return _mm256_permute2f128_ps(x, x, 0); }

static SIMD vec v_max_quads(vec x) { return v_max(x, _mm256_permute2f128_ps(x, x, 1)); }

typedef vec oct;
enum { OCT_SUMS = 8, OCT_COLUMNS = 2 };
#include "impl/micro/simd_oct.h"

static SIMD uintptr_t v_after(vec x, uintptr_t address) { return o_after(x, address); }
static SIMD vec v_from_half(const uint16_t *p) { return o_from_half(p); }
static SIMD vec v_from_brain(const uint16_t *p) { return o_from_brain(p); }

#endif
