/* SPDX-License-Identifier: Apache-2.0 */
/* The vector layer of micro_vector.c for AVX-512 (F, BW, DQ, VL). */
#ifndef ATTN_SIMD_AVX512_H
#define ATTN_SIMD_AVX512_H

#include <immintrin.h>

#include "attest.h"
#include "fastexp.h"
#include "simd.h"

typedef __m512 vec;
enum { LANES = 16 };
enum { SCORE_KEYS = 12, SCORE_VECS = 2 }; /* 24 of 32 registers hold sums */
enum { MIX_ROWS = 4, MIX_VECS = 4, WIDE_VECS = 8 };

static SIMD vec v_load(const float *p) { return _mm512_loadu_ps(p); }
static SIMD void v_store(float *p, vec x) { _mm512_storeu_ps(p, x); }
/* x, loaded once and not with every use. */
static SIMD vec v_keep(vec x) {
    __asm__("" : "+v"(x));
    return x;
}
/* The address, but not before x is known. */
static SIMD uintptr_t v_after(vec x, uintptr_t address) {
    int64_t zero = _mm_cvtsi128_si64(_mm_castps_si128(_mm512_castps512_ps128(x)));
    __asm__("and $0, %0" : "+r"(zero) : : "cc");
    return address + (uintptr_t)zero;
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

/* The first quad of `total` plus each quad of x, one after the other. */
static SIMD vec v_add_quads(vec total, vec x) {
    __m128 sum = _mm_add_ps(_mm512_castps512_ps128(total), _mm512_castps512_ps128(x));
    sum = _mm_add_ps(sum, _mm512_extractf32x4_ps(x, 1));
    sum = _mm_add_ps(sum, _mm512_extractf32x4_ps(x, 2));
    return _mm512_castps128_ps512(_mm_add_ps(sum, _mm512_extractf32x4_ps(x, 3)));
}
static SIMD vec v_repeat_quad(vec x) { return _mm512_shuffle_f32x4(x, x, 0); }
/* In every quad the largest of all. */
static SIMD vec v_max_quads(vec x) {
    x = v_max(x, _mm512_shuffle_f32x4(x, x, 0x4e));
    return v_max(x, _mm512_shuffle_f32x4(x, x, 0xb1));
}
/* Four vectors of rows, one key a lane, to the quads of LANES keys. */
static SIMD void v_store_turned(float *p, const vec x[4]) {
    vec y[4] = {x[0], x[1], x[2], x[3]}, z[4];
    v_turn_quads(y);
    UNROLLED for (int n = 0; n < 2; n++) {
        z[n] = _mm512_shuffle_f32x4(y[2 * n], y[2 * n + 1], 0x44);
        z[n + 2] = _mm512_shuffle_f32x4(y[2 * n], y[2 * n + 1], 0xee);
    }
    UNROLLED for (int n = 0; n < 4; n += 2) {
        v_store(p + n * LANES, _mm512_shuffle_f32x4(z[n], z[n + 1], 0x88));
        v_store(p + (n + 1) * LANES, _mm512_shuffle_f32x4(z[n], z[n + 1], 0xdd));
    }
}

/* 32 bytes each of two rows. */
static SIMD vec v_load_pair(const char *p, const char *q) {
    __m256 low = _mm256_loadu_ps((const float *)(const void *)p);
    return _mm512_insertf32x8(_mm512_castps256_ps512(low),
                              _mm256_loadu_ps((const float *)(const void *)q), 1);
}
static SIMD __m256i v_load_words(const uint16_t *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
static SIMD vec v_from_half(const uint16_t *p) { return _mm512_cvtph_ps(v_load_words(p)); }
static SIMD vec v_from_brain(const uint16_t *p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v_load_words(p)), 16));
}

/* x[e] holds element e of LANES rows that lie `stride` bytes apart: TURN elements of binary32, or
 * TURN_NARROW of 16 bits, which are turned before they are widened. */
enum { TURN = 8, TURN_NARROW = 16 };
static SIMD void v_load_turned_f32(vec x[TURN], const char *p, int64_t stride) {
    vec y[TURN];
    const char *q = p + 8 * stride;
    __asm__("" : "+r"(p), "+r"(q)); /* running pointers, not an induction variable for each row */
    UNROLLED for (int n = 0; n < 4; n++, p += stride, q += stride) {
        x[n] = v_load_pair(p, p + 4 * stride);
        x[n + 4] = v_load_pair(q, q + 4 * stride);
    }
    UNROLLED for (int n = 0; n < TURN; n += 4) { v_turn_quads(x + n); }
    UNROLLED for (int n = 0; n < 4; n++) {
        y[n] = _mm512_shuffle_f32x4(x[n], x[n + 4], 0x88);
        y[n + 4] = _mm512_shuffle_f32x4(x[n], x[n + 4], 0xdd);
    }
    UNROLLED for (int n = 0; n < TURN; n++) { x[n] = y[n]; }
}
/* 8 x 8 within each 128-bit quarter, by words, pairs and fours; the last step also brings the
 * quarters of an element together. */
static SIMD void v_load_turned_half(vec x[TURN_NARROW], const char *p, int64_t stride) {
    const __m512i even = _mm512_setr_epi64(0, 8, 4, 12, 2, 10, 6, 14);
    const __m512i odd = _mm512_setr_epi64(1, 9, 5, 13, 3, 11, 7, 15);
    __m512i y[8], z[8];
    const char *q = p + 8 * stride;
    __asm__("" : "+r"(p), "+r"(q));
    UNROLLED for (int n = 0; n < 8; n++, p += stride, q += stride) {
        y[n] = _mm512_castps_si512(v_load_pair(p, q));
    }
    UNROLLED for (int n = 0; n < 8; n += 2) {
        z[n] = _mm512_unpacklo_epi16(y[n], y[n + 1]);
        z[n + 1] = _mm512_unpackhi_epi16(y[n], y[n + 1]);
    }
    UNROLLED for (int n = 0; n < 8; n += 4) {
        y[n] = _mm512_unpacklo_epi32(z[n], z[n + 2]);
        y[n + 1] = _mm512_unpackhi_epi32(z[n], z[n + 2]);
        y[n + 2] = _mm512_unpacklo_epi32(z[n + 1], z[n + 3]);
        y[n + 3] = _mm512_unpackhi_epi32(z[n + 1], z[n + 3]);
    }
    UNROLLED for (int n = 0; n < 8; n++) {
        __m512i both = _mm512_permutex2var_epi64(y[n / 2], n % 2 ? odd : even, y[n / 2 + 4]);
        x[n] = _mm512_cvtph_ps(_mm512_castsi512_si256(both));
        x[n + 8] = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(both, 1));
    }
}
/* Pairs of elements are turned like binary32; a bfloat16 is the upper half of its binary32. */
static SIMD void v_load_turned_brain(vec x[TURN_NARROW], const char *p, int64_t stride) {
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000);
    vec pair[TURN];
    v_load_turned_f32(pair, p, stride);
    UNROLLED for (int n = 0; n < TURN; n++) {
        __m512i both = _mm512_castps_si512(pair[n]);
        x[2 * n] = _mm512_castsi512_ps(_mm512_slli_epi32(both, 16));
        x[2 * n + 1] = _mm512_castsi512_ps(_mm512_and_si512(both, upper));
    }
}
static SIMD void v_load_turned(vec x[TURN_NARROW], const char *p, int64_t stride,
                               uint32_t storage) {
    if (storage == ATTEST_F32) {
        v_load_turned_f32(x, p, stride);
    } else if (storage == ATTEST_F16) {
        v_load_turned_half(x, p, stride);
    } else {
        v_load_turned_brain(x, p, stride);
    }
}

#endif
