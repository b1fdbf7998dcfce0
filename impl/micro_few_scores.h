/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores of few rows, as when decoding: a part of micro_vector.c. Lanes are keys: LANES x LANES
 * elements of K are turned so that a vector holds one dimension of LANES keys, which all rows
 * share. Each sum still runs along d in order, and K may be narrower than binary32.
 */

/* One block: `n` dimensions of `count` keys; strides in bytes. */
static SIMD void turn_block(vec *sum, const float *q, const char *k, int64_t k_stride, size_t n,
                            size_t count, size_t rows, int64_t ahead, uint32_t storage) {
    vec x[LANES];
    UNROLLED for (size_t l = 0; l < LANES; l++) {
        x[l] = v_set(0.0f);
        if (l < count) {
            x[l] = v_load_as(k, n, storage);
            __builtin_prefetch(k + ahead);
            k += k_stride;
            __asm__("" : "+r"(k)); /* one running pointer, not an induction variable for each l */
        }
    }
    v_transpose(x);
    UNROLLED for (size_t e = 0; e < LANES; e++) {
        if (e < n) {
            UNROLLED for (size_t r = 0; r < rows; r++) {
                sum[r] = v_fma(v_set(q[e * ROWS + r]), x[e], sum[r]);
            }
        }
    }
}

static SIMD void score_turned(float *s, const float *q, const char *k, int64_t k_stride, size_t d,
                              float scale, size_t count, size_t rows, int64_t ahead,
                              uint32_t storage) {
    const size_t size = size_of(storage);
    vec sum[FEW_ROWS];
    float lane[FEW_ROWS * LANES];
    size_t c = 0;
    UNROLLED for (size_t r = 0; r < rows; r++) { sum[r] = v_set(0.0f); }
    for (; c + LANES <= d; c += LANES) {
        turn_block(sum, q + c * ROWS, k + c * size, k_stride, LANES, count, rows, ahead, storage);
    }
    if (c < d) {
        turn_block(sum, q + c * ROWS, k + c * size, k_stride, d - c, count, rows, 0, storage);
    }
    UNROLLED for (size_t r = 0; r < rows; r++) {
        v_store(lane + r * LANES, v_mul(v_set(scale), sum[r]));
    }
    for (size_t l = 0; l < count; l++) {
        UNROLLED for (size_t r = 0; r < rows; r++) { s[l * ROWS + r] = lane[r * LANES + l]; }
    }
}

static SIMD void score_few(float *s, const float *q, const char *k, int64_t stride_elems,
                           size_t rows, size_t keys, size_t d, float scale, uint32_t storage) {
    int64_t k_stride = stride_elems * (int64_t)size_of(storage);
    size_t j = 0;
    for (; j + LANES <= keys; j += LANES, k += LANES * k_stride) {
        int64_t ahead = j + 2 * LANES <= keys ? LANES * k_stride : 0; /* to prefetch */
        float *to = s + j * ROWS;
        if (rows == 1) {
            score_turned(to, q, k, k_stride, d, scale, LANES, 1, ahead, storage);
        } else if (rows <= 4) {
            score_turned(to, q, k, k_stride, d, scale, LANES, 4, ahead, storage);
        } else {
            score_turned(to, q, k, k_stride, d, scale, LANES, FEW_ROWS, ahead, storage);
        }
    }
    if (j < keys) {
        score_turned(s + j * ROWS, q, k, k_stride, d, scale, keys - j, FEW_ROWS, 0, storage);
    }
}

static void scores_narrow(float *s, const float *q, const void *k, uint32_t storage, int64_t first,
                          int64_t k_stride, size_t rows, size_t keys, size_t d, float scale) {
    const char *from = (const char *)k + first * k_stride * 2;
    if (storage == ATTEST_F16) {
        score_few(s, q, from, k_stride, rows, keys, d, scale, ATTEST_F16);
    } else {
        score_few(s, q, from, k_stride, rows, keys, d, scale, ATTEST_BF16);
    }
}
