/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores of few rows, as when decoding: a part of micro_vector.c. Lanes are the parts of a score,
 * so K is read as it lies, may be narrower than binary32, and each vector of it serves all rows;
 * at the end the parts of eight scores are added at once. Keys of 16 bits take longer to compute
 * than to read: their prefetches need not wait.
 */

/* Where to prefetch, in the order of memory, in rows of `width` bytes; nothing need exist there. */
typedef struct lookahead {
    uintptr_t near, far; /* rows of keys to come */
    size_t at, width;
    int64_t stride;
} lookahead;

/* The line `at`, of what is near, or of what is far; then on by `bytes`, to the next row at the end
 * of one. A row shorter than that is prefetched from its start. */
static SIMD void prefetch_keys(lookahead *next, size_t at, size_t bytes, int far) {
    if (!far) {
        __builtin_prefetch((const void *)(next->near + at));
        return;
    }
    __builtin_prefetch((const void *)(next->far + at), 0, 2);
    next->at = at + bytes;
    if (next->at >= next->width) {
        next->at = next->at - next->width < next->width ? next->at - next->width : 0;
        next->near += (uintptr_t)next->stride;
        next->far += (uintptr_t)next->stride;
    }
}

/* The first n of eight elements. Zeros of q meet a zero of the other sign beyond them: adding the
 * product leaves every sum as it is, be it a zero. */
static SIMD oct load_part(const char *p, size_t n, uint32_t storage) {
    float lane[8] = {-0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f};
    for (size_t l = 0; l < n; l++) {
        lane[l] = (float)attn_load(storage, p + l * size_of(storage));
    }
    return o_load(lane);
}

/* Eight dimensions of `keys` keys for `rows` rows; as many `bytes` as they have are prefetched,
 * near and far in turn, spread over the work (both at once are slower), and `wait` for it as in
 * micro_mix.h. */
static SIMD void add_parts(oct *sum, const float *q, const oct *key, size_t keys, size_t rows,
                           size_t bytes, lookahead *next, int wait) {
    const size_t lines = (bytes + LINE - 1) / LINE;
    UNROLLED for (size_t r = 0; r < rows; r++) {
        oct query = o_load(q + r * 8);
        UNROLLED for (size_t j = 0; j < keys; j++) {
            sum[j * rows + r] = o_fma(query, key[j], sum[j * rows + r]);
        }
        UNROLLED for (size_t n = 0; n < 2 * lines; n++) {
            if (n * rows / (2 * lines) == r) {
                size_t at = wait ? o_after(sum[(keys - 1) * rows + r], next->at) : next->at;
                prefetch_keys(next, at, bytes / lines, n % 2 == 1);
            }
        }
    }
}

/* Eight scores, those of `rows` rows side by side, to where they belong; `count` keys exist. */
static SIMD void store_scores(float *s, oct score, size_t count, size_t rows) {
    float lane[8];
    if (rows == 8 || (rows == 4 && count >= 2)) {
        o_store(s, score);
        return;
    }
    o_store(lane, score);
    for (size_t j = 0; j < count; j++) {
        UNROLLED for (size_t r = 0; r < rows; r++) {
            s[j * attn_lanes(rows) + r] = lane[j * rows + r];
        }
    }
}

/*
 * `rows` is 1, 4 or 8, and `keys` such that their product is a multiple of 8; of the keys `count`
 * exist, the last of which stands in for the others.
 */
static SIMD void score_octs(float *s, const float *q, const char *k, int64_t stride, size_t d,
                            float scale, size_t count, size_t keys, size_t rows, uint32_t storage) {
    const size_t size = size_of(storage), few = attn_few(rows);
    lookahead next = {(uintptr_t)k + NEAR_KEYS / size * (uintptr_t)stride,
                      (uintptr_t)k + FAR_KEYS / size * (uintptr_t)stride, 0, d * size, stride};
    oct sum[OCT_SUMS], x[OCT_SUMS];
    const char *key[OCT_SUMS];
    UNROLLED for (size_t n = 0; n < keys * rows; n++) { sum[n] = o_set(0.0f); }
    UNROLLED for (size_t j = 0; j < keys; j++) {
        key[j] = k + (int64_t)(j < count ? j : count - 1) * stride;
    }
    size_t c = 0;
    for (; c + 8 <= d; c += 8, q += few * 8) {
        UNROLLED for (size_t j = 0; j < keys; j++) { x[j] = load_oct(key[j] + c * size, storage); }
        add_parts(sum, q, x, keys, rows, keys * 8 * size, &next, storage == ATTEST_F32);
    }
    if (c < d) {
        UNROLLED for (size_t j = 0; j < keys; j++) {
            x[j] = load_part(key[j] + c * size, d - c, storage);
        }
        add_parts(sum, q, x, keys, rows, 0, NULL, 0);
    }
    UNROLLED for (size_t j = 0; j < keys; j += 8 / rows) {
        if (j < count) {
            oct score = o_mul(o_set(scale), o_sum_parts(sum + j * rows));
            store_scores(s + j * attn_lanes(rows), score, count - j, rows);
        }
    }
}

static SIMD void score_rows(float *s, const float *q, const char *k, int64_t stride, size_t count,
                            size_t d, float scale, size_t keys, size_t rows, uint32_t storage) {
    const size_t lanes = attn_lanes(rows);
    for (; count >= keys; count -= keys, s += keys * lanes, k += (int64_t)keys * stride) {
        score_octs(s, q, k, stride, d, scale, keys, keys, rows, storage);
    }
    if (count > 0) {
        score_octs(s, q, k, stride, d, scale, count, keys, rows, storage);
    }
}

/* A function each: in a larger one, compilers keep sums in memory. Four rows take two keys of
 * binary32 at a time whatever the registers: with four, Zen 4 is faster in its caches, but slower
 * from memory, where K is then read less in order. */
#define SCORE_FEW(name, keys, rows, storage)                                                       \
    static __attribute__((noinline)) void name(float *s, const float *q, const char *k,            \
                                               int64_t stride, size_t count, size_t d,             \
                                               float scale) {                                      \
        score_rows(s, q, k, stride, count, d, scale, keys, rows, storage);                         \
    }
SCORE_FEW(score_one_f32, 8, 1, ATTEST_F32)
SCORE_FEW(score_one_f16, 8, 1, ATTEST_F16)
SCORE_FEW(score_one_bf16, 8, 1, ATTEST_BF16)
SCORE_FEW(score_four_f32, 2, 4, ATTEST_F32)
SCORE_FEW(score_four_f16, OCT_SUMS / 4, 4, ATTEST_F16)
SCORE_FEW(score_four_bf16, OCT_SUMS / 4, 4, ATTEST_BF16)
SCORE_FEW(score_eight_f32, OCT_SUMS / 8, 8, ATTEST_F32)
SCORE_FEW(score_eight_f16, OCT_SUMS / 8, 8, ATTEST_F16)
SCORE_FEW(score_eight_bf16, OCT_SUMS / 8, 8, ATTEST_BF16)

static void score_few(float *s, const float *q, const char *k, int64_t stride_elems, size_t rows,
                      size_t keys, size_t d, float scale, uint32_t storage) {
    typedef void (*score_fn)(float *, const float *, const char *, int64_t, size_t, size_t, float);
    static const score_fn functions[3][3] = {
        {score_one_f32, score_one_f16, score_one_bf16},
        {score_four_f32, score_four_f16, score_four_bf16},
        {score_eight_f32, score_eight_f16, score_eight_bf16},
    };
    size_t type = storage == ATTEST_F32 ? 0 : storage == ATTEST_F16 ? 1 : 2;
    score_fn function = functions[rows == 1 ? 0 : rows <= 4 ? 1 : 2][type];
    function(s, q, k, stride_elems * (int64_t)size_of(storage), keys, d, scale);
}

static void scores_narrow(float *s, const float *q, const void *k, uint32_t storage, int64_t first,
                          int64_t k_stride, size_t rows, size_t keys, size_t d, float scale) {
    const char *from = (const char *)k + first * k_stride * 2;
    score_few(s, q, from, k_stride, rows, keys, d, scale, storage);
}
