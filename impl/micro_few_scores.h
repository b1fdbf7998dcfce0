/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores of few rows, as when decoding: a part of micro_vector.c. Lanes are keys: some dimensions
 * of LANES keys are turned so that a vector holds one dimension of all of them, which all rows
 * share. Each sum still runs along d in order, and K may be narrower than binary32.
 */
static SIMD size_t turn_of(uint32_t storage) {
    return storage == ATTEST_F32 ? TURN : TURN_NARROW;
}

/*
 * Where to prefetch; nothing need exist there. `near` is what some keys of this group, or the next,
 * hold NEAR_LINES after the dimensions at hand. `row` and `at` go through the keys in the order of
 * memory, which is much faster than the order of their use.
 */
typedef struct lookahead {
    uintptr_t near, row;
    size_t at;
} lookahead;

static SIMD void prefetch_key(lookahead *next, size_t bytes, size_t width, int64_t stride) {
    __builtin_prefetch((const void *)next->near);
    __builtin_prefetch((const void *)(next->row + next->at), 0, 2);
    next->near += (uintptr_t)stride;
    next->at += bytes < LINE ? bytes : LINE;
    int over = next->at >= width;
    next->row += over ? (uintptr_t)stride : 0;
    next->at -= over ? width : 0;
}

/* The first n of turn_of(storage) dimensions; `next`, unless it is NULL, for rows of `width` bytes:
 * as many lines as were read, spread over the work. */
static SIMD void add_turned(vec *sum, const float *q, const char *k, int64_t stride, size_t n,
                            size_t rows, uint32_t storage, lookahead *next, size_t width) {
    const size_t turn = turn_of(storage), bytes = LANES * turn * size_of(storage);
    const size_t lines = (bytes + LINE - 1) / LINE;
    vec x[TURN_NARROW];
    v_load_turned(x, k, stride, storage);
    __asm__("" : "+r"(q)); /* load its elements again: they are too many to keep in registers */
    UNROLLED for (size_t e = 0; e < turn; e++) {
        if (e < n) {
            UNROLLED for (size_t r = 0; r < rows; r++) {
                sum[r] = v_fma(v_set(q[e * attn_lanes(rows) + r]), x[e], sum[r]);
            }
        }
        if (next && e * lines / turn != (e + 1) * lines / turn) {
            prefetch_key(next, bytes, width, stride);
        }
    }
}

/* The same for what is left of a row, or of a tile: elements are widened one by one, which is slow
 * where a narrow d is no multiple of TURN_NARROW. */
static SIMD void add_part(vec *sum, const float *q, const char *k, int64_t stride, size_t n,
                          size_t count, size_t rows, uint32_t storage) {
    float block[LANES * TURN] = {0};
    for (size_t l = 0; l < count; l++) {
        for (size_t e = 0; e < n; e++) {
            const char *from = k + (int64_t)l * stride + e * size_of(storage);
            block[l * TURN + e] = (float)attn_load(storage, from);
        }
    }
    add_turned(sum, q, (const char *)block, TURN * sizeof(float), n, rows, ATTEST_F32, NULL, 0);
}

/* The sums of `count` keys, scaled, to where their scores belong. */
static SIMD void store_group(float *s, const vec *sum, float scale, size_t count, size_t rows) {
    const size_t lanes = attn_lanes(rows);
    vec score[FEW_ROWS];
    float lane[FEW_ROWS * LANES];
    UNROLLED for (size_t r = 0; r < rows; r++) { score[r] = v_mul(v_set(scale), sum[r]); }
    if (count == LANES && rows == 4) {
        v_store_turned(s, score);
        return;
    }
    UNROLLED for (size_t r = 0; r < rows; r++) { v_store(lane + r * LANES, score[r]); }
    for (size_t l = 0; l < count; l++) {
        UNROLLED for (size_t r = 0; r < rows; r++) { s[l * lanes + r] = lane[r * LANES + l]; }
    }
}

/* LANES keys, or fewer at the end of a tile. */
static SIMD void score_group(float *s, const float *q, const char *k, int64_t stride, size_t d,
                             float scale, size_t count, size_t rows, uint32_t storage) {
    const size_t size = size_of(storage), turn = turn_of(storage), width = d * size;
    const size_t lanes = attn_lanes(rows);
    lookahead next = {0, (uintptr_t)k + FAR_KEYS * (uintptr_t)stride, 0};
    vec sum[FEW_ROWS];
    size_t c = 0;
    UNROLLED for (size_t r = 0; r < rows; r++) { sum[r] = v_set(0.0f); }
    for (; c + turn <= d && count == LANES; c += turn) {
        const size_t at = c * size;
        size_t key = at % LINE * LANES / LINE, line = (at / LINE + NEAR_LINES) * LINE;
        for (; line >= width; line -= width) {
            key += LANES;
        }
        next.near = (uintptr_t)k + key * (uintptr_t)stride + line;
        add_turned(sum, q + c * lanes, k + at, stride, turn, rows, storage, &next, width);
    }
    for (; c < d; c += TURN) {
        add_part(sum, q + c * lanes, k + c * size, stride, d - c < TURN ? d - c : TURN, count, rows,
                 storage);
    }
    store_group(s, sum, scale, count, rows);
}

static SIMD void score_few(float *s, const float *q, const char *k, int64_t stride_elems,
                           size_t rows, size_t keys, size_t d, float scale, uint32_t storage) {
    const size_t lanes = attn_lanes(rows);
    int64_t stride = stride_elems * (int64_t)size_of(storage);
    size_t j = 0;
    for (; j + LANES <= keys; j += LANES, k += LANES * stride) {
        float *to = s + j * lanes;
        if (rows == 1) {
            score_group(to, q, k, stride, d, scale, LANES, 1, storage);
        } else if (rows <= 4) {
            score_group(to, q, k, stride, d, scale, LANES, 4, storage);
        } else {
            score_group(to, q, k, stride, d, scale, LANES, FEW_ROWS, storage);
        }
    }
    if (j < keys && rows <= 4) {
        score_group(s + j * lanes, q, k, stride, d, scale, keys - j, 4, storage);
    } else if (j < keys) {
        score_group(s + j * lanes, q, k, stride, d, scale, keys - j, FEW_ROWS, storage);
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
