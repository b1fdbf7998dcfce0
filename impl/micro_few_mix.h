/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of few rows: a part of micro_vector.c. Few rows leave time for little but reading V
 * once, in order: short runs of keys, the next of which is prefetched. A factor of 1 between runs
 * changes nothing. V may be narrower than binary32.
 */
static SIMD void mix_few(float *o, const float *s, const float *factor, const char *v,
                         int64_t stride_elems, size_t rows, size_t keys, size_t dv,
                         uint32_t storage) {
    int64_t v_stride = stride_elems * (int64_t)size_of(storage);
    float ones[FEW_ROWS];
    UNROLLED for (size_t r = 0; r < FEW_ROWS; r++) { ones[r] = 1.0f; }
    for (size_t j = 0; j < keys; j += FEW_KEYS) {
        size_t n = keys - j < FEW_KEYS ? keys - j : FEW_KEYS;
        int64_t ahead = j + 2 * FEW_KEYS <= keys ? FEW_KEYS * v_stride : 0;
        mix_block(o, s + j * ROWS, j == 0 ? factor : ones, v + (int64_t)j * v_stride, v_stride,
                  rows, n, dv, ahead, storage);
    }
}

static void mix_narrow(float *o, const float *s, const float *factor, const void *v,
                       uint32_t storage, int64_t first, int64_t v_stride, size_t rows, size_t keys,
                       size_t dv) {
    const char *from = (const char *)v + first * v_stride * 2;
    if (storage == ATTEST_F16) {
        mix_few(o, s, factor, from, v_stride, rows, keys, dv, ATTEST_F16);
    } else {
        mix_few(o, s, factor, from, v_stride, rows, keys, dv, ATTEST_BF16);
    }
}
