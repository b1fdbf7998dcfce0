/* SPDX-License-Identifier: Apache-2.0 */
/* Octs on x86: a part of the layers for AVX2 and AVX-512. */
static SIMD oct o_load(const float *p) { return _mm256_loadu_ps(p); }
static SIMD void o_store(float *p, oct x) { _mm256_storeu_ps(p, x); }
static SIMD oct o_set(float x) { return _mm256_set1_ps(x); }
static SIMD oct o_mul(oct x, oct y) { return _mm256_mul_ps(x, y); }
static SIMD oct o_fma(oct x, oct y, oct z) { return _mm256_fmadd_ps(x, y, z); }
/* The number, but not before x is known. */
static SIMD uintptr_t o_after(oct x, uintptr_t number) {
    int64_t zero = _mm_cvtsi128_si64(_mm_castps_si128(_mm256_castps256_ps128(x)));
    __asm__("and $0, %0" : "+r"(zero) : : "cc");
    return number + (uintptr_t)zero;
}
static SIMD oct o_from_half(const uint16_t *p) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
}
/* In one step: a bfloat16 is the upper half of its binary32. */
static SIMD oct o_from_brain(const uint16_t *p) {
    const __m256i place =
        _mm256_setr_epi8(-1, -1, 0, 1, -1, -1, 2, 3, -1, -1, 4, 5, -1, -1, 6, 7, -1, -1, 8, 9, -1,
                         -1, 10, 11, -1, -1, 12, 13, -1, -1, 14, 15);
    __m128i words = _mm_loadu_si128((const __m128i *)(const void *)p);
    return _mm256_castsi256_ps(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(words), place));
}

/* Lane i is the sum of the parts of x[i]: 4 and 4, 2 and 2, 1 and 1. Where a blend does, it is
 * better than a shuffle: that needs one of two ports on Zen 4, and multiplications one of these. */
static SIMD oct o_sum_parts(const oct x[8]) {
    oct y[4], z[2];
    UNROLLED for (int n = 0; n < 4; n++) {
        y[n] = _mm256_add_ps(_mm256_blend_ps(x[n], x[n + 4], 0xf0),
                             _mm256_permute2f128_ps(x[n], x[n + 4], 0x21));
    }
    UNROLLED for (int n = 0; n < 2; n++) {
        z[n] = _mm256_add_ps(_mm256_blend_ps(y[2 * n], y[2 * n + 1], 0xcc),
                             _mm256_shuffle_ps(y[2 * n], y[2 * n + 1], 0x4e));
    }
    return _mm256_add_ps(_mm256_shuffle_ps(z[0], z[1], 0x88), _mm256_shuffle_ps(z[0], z[1], 0xdd));
}
