/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output in runs of keys: a part of micro_vector.c. A factor of 1 between runs changes nothing.
 *
 * Few rows leave time for little but reading V once, in order: short runs, the next of which is
 * prefetched, be it that of the next tile; V may be narrower than binary32. Many rows read V again
 * and again from the first cache: where its rows fall on the same few sets (a stride of a multiple
 * of 512 bytes) a run is half a tile, so that it stays there.
 */
enum { FEW_KEYS = 16, HALF_KEYS = ATTN_TILE_KEYS / 2 };

static SIMD void mix_runs(float *o, const float *s, const float *factor, const char *v,
                          int64_t v_stride, size_t rows, size_t keys, size_t dv, size_t run,
                          int prefetch, uint32_t storage) {
    float ones[ROWS];
    for (size_t r = 0; r < ROWS; r++) {
        ones[r] = 1.0f;
    }
    for (size_t j = 0; j < keys; j += run) {
        size_t n = keys - j < run ? keys - j : run;
        int64_t ahead = prefetch ? (int64_t)run * v_stride : 0;
        mix_block(o, s + j * ROWS, j == 0 ? factor : ones, v + (int64_t)j * v_stride, v_stride,
                  rows, n, dv, ahead, storage);
    }
}

static void mix(float *o, const float *s, const float *factor, const float *v, int64_t stride_elems,
                size_t rows, size_t keys, size_t dv) {
    const char *from = (const char *)v;
    int64_t v_stride = stride_elems * (int64_t)sizeof(float);
    if (rows <= FEW_ROWS) {
        mix_runs(o, s, factor, from, v_stride, rows, keys, dv, FEW_KEYS, 1, ATTEST_F32);
    } else {
        size_t run = v_stride % 512 == 0 ? HALF_KEYS : ATTN_TILE_KEYS;
        mix_runs(o, s, factor, from, v_stride, rows, keys, dv, run, 0, ATTEST_F32);
    }
}

static void mix_narrow(float *o, const float *s, const float *factor, const void *v,
                       uint32_t storage, int64_t first, int64_t stride_elems, size_t rows,
                       size_t keys, size_t dv) {
    int64_t v_stride = stride_elems * 2;
    const char *from = (const char *)v + first * v_stride;
    if (storage == ATTEST_F16) {
        mix_runs(o, s, factor, from, v_stride, rows, keys, dv, FEW_KEYS, 1, ATTEST_F16);
    } else {
        mix_runs(o, s, factor, from, v_stride, rows, keys, dv, FEW_KEYS, 1, ATTEST_BF16);
    }
}
