/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claim C16: each vector micro-kernel equals its portable twin bit for bit, over every tail of
 * rows, keys and columns, with special values among the data. Lanes and rows beyond the ends must
 * not be read from K and V nor written to the output: those buffers end where the data ends.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "impl/frame/drive.h"
#include "impl/micro/cpu.h"
#include "reference/problem/convert.h"

enum { ROWS = ATTN_TILE_ROWS, KEYS = ATTN_TILE_KEYS, WIDEST = 144, GAP = 3 };

extern const attn_micro_f32 attn_micro_twin_f32;
#if defined(__x86_64__)
extern const attn_engine_f32 attn_engine_avx2_f32, attn_engine_avx512_f32;
#elif defined(__aarch64__)
extern const attn_engine_f32 attn_engine_neon_f32;
#endif

static const attn_engine_f32 *engines[4];
static int engine_count;

static int find_engines(void **state) {
    (void)state;
#if defined(__x86_64__)
    if (attn_cpu_has_avx2()) {
        engines[engine_count++] = &attn_engine_avx2_f32;
    }
    if (attn_cpu_has_avx512()) {
        engines[engine_count++] = &attn_engine_avx512_f32;
    }
#elif defined(__aarch64__)
    engines[engine_count++] = &attn_engine_neon_f32;
#endif
    for (int n = 0; n < engine_count; n++) {
        print_message("# %s\n", engines[n]->micro->name);
    }
    return 0;
}

static void need_engine(void **state) {
    (void)state;
    if (engine_count == 0) {
        skip();
    }
}

static uint64_t seed = 1;

static uint64_t draw(void) { /* splitmix64 */
    uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static float value(int special) {
    const float odd[] = {NAN, INFINITY, -INFINITY, 1e38f, -1e38f, 1e-40f, -1e-40f, -0.0f};
    if (special && draw() % 32 == 0) {
        return odd[draw() % 8];
    }
    return (float)((int64_t)(draw() % 16385) - 8192) / 2048.0f;
}

/* n scalars in a block of exactly that size, so that a sanitizer sees one too many. */
static float *values(size_t n, int special) {
    float *x = malloc((n ? n : 1) * sizeof *x);
    for (size_t c = 0; c < n; c++) {
        x[c] = value(special);
    }
    return x;
}

/* The same with mantissas of full length, so that even a product with 16-bit storage is rounded. */
static float *thirds(size_t n) {
    float *x = values(n, 0);
    for (size_t c = 0; c < n; c++) {
        x[c] /= 3.0f;
    }
    return x;
}

static float *copy(const float *x, size_t n) {
    float *y = malloc((n ? n : 1) * sizeof *y);
    memcpy(y, x, n * sizeof *y);
    return y;
}

static int same(float a, float b) {
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

/* Lanes 0 .. rows-1 of `keys` keys, which lie `lanes` apart. */
static int same_lanes(const float *a, const float *b, size_t rows, size_t keys, size_t lanes) {
    int equal = 1;
    for (size_t j = 0; j < keys; j++) {
        for (size_t r = 0; r < rows; r++) {
            equal &= same(a[j * lanes + r], b[j * lanes + r]);
        }
    }
    return equal;
}

/* Of rows of d elements; 0 repeats one. */
static int64_t some_stride(size_t d) { return draw() % 8 == 0 ? 0 : (int64_t)(d + draw() % GAP); }

/* Rows of d queries as scores want them: see attn_micro. */
static float *placed(const float *rows_of_q, size_t rows, size_t d) {
    const size_t few = attn_few(rows), parts = (d + 7) / 8;
    float *q = calloc(few ? parts * few * 8 : d * ROWS, sizeof *q);
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < d; c++) {
            q[few ? (c / 8 * few + r) * 8 + c % 8 : c * ROWS + r] = rows_of_q[r * d + c];
        }
    }
    return q;
}

/* One score by its definition in frame.h. */
static float score(const float *q, const float *k, size_t d, float scale) {
    float part[8] = {0};
    for (size_t c = 0; c < d; c++) {
        part[c % 8] = fmaf(q[c], k[c], part[c % 8]);
    }
    float even = (part[0] + part[4]) + (part[2] + part[6]);
    float odd = (part[1] + part[5]) + (part[3] + part[7]);
    return scale * (even + odd);
}

static void fill(float *x, size_t n, float with) {
    for (size_t c = 0; c < n; c++) {
        x[c] = with;
    }
}

/* `vanish`: all products round to -0. */
static void check_scores(const attn_micro_f32 *m, size_t rows, size_t keys, size_t d, int vanish) {
    int special = draw() % 4 == 0;
    int64_t stride = some_stride(d);
    const size_t lanes = attn_lanes(rows), n = keys * lanes;
    const size_t length = (keys - 1) * (size_t)stride + d;
    float *of_rows = values(rows * d, special), *k = values(length, special);
    if (vanish) {
        fill(of_rows, rows * d, 1e-30f);
        fill(k, length, -1e-30f);
    }
    float *q = placed(of_rows, rows, d);
    float *got = values(n, 0), *expected = copy(got, n), scale = value(0);
    m->scores(got, q, k, stride, rows, keys, d, scale);
    attn_micro_twin_f32.scores(expected, q, k, stride, rows, keys, d, scale);
    if (!same_lanes(got, expected, rows, keys, lanes)) {
        fail_msg("%s: scores differ at m = %zu, n = %zu, d = %zu", m->name, rows, keys, d);
    }
    for (size_t j = 0; j < keys; j++) {
        for (size_t r = 0; r < rows; r++) {
            float defined = score(of_rows + r * d, k + (int64_t)j * stride, d, scale);
            assert_true(same(expected[j * lanes + r], defined));
        }
    }
    free(of_rows);
    free(q);
    free(k);
    free(got);
    free(expected);
}

static void test_scores(void **state) {
    need_engine(state);
    for (int n = 0; n < engine_count; n++) {
        for (size_t rows = 1; rows <= ROWS; rows++) {
            for (size_t keys = 1; keys <= KEYS; keys++) {
                check_scores(engines[n]->micro, rows, keys, 1 + draw() % 20, 0);
            }
            for (size_t d = 1; d <= 20; d++) {
                check_scores(engines[n]->micro, rows, 1 + draw() % 9, d, 1);
            }
        }
        for (size_t d = 1; d <= WIDEST; d++) {
            check_scores(engines[n]->micro, 1 + draw() % ROWS, 1 + draw() % KEYS, d, 0);
        }
    }
}

static void test_turn(void **state) {
    need_engine(state);
    for (int n = 0; n < engine_count; n++) {
        for (size_t rows = 1; rows <= ROWS; rows++) {
            for (size_t d = 1; d <= WIDEST; d++) {
                int64_t at[ROWS];
                for (size_t r = 0; r < rows; r++) {
                    at[r] = (int64_t)((rows - 1 - r) * d); /* the last row first: exact ends */
                }
                float *from = values(rows * d, 1), *got = values(d * ROWS, 0);
                float *expected = values(d * ROWS, 0);
                engines[n]->micro->turn(got, from, at, rows, d);
                attn_micro_twin_f32.turn(expected, from, at, rows, d);
                assert_true(same_lanes(got, expected, ROWS, d, ROWS));
                free(from);
                free(got);
                free(expected);
            }
        }
    }
}

static void check_mix(const attn_micro_f32 *m, size_t rows, size_t keys, size_t dv,
                      int64_t stride) {
    int special = draw() % 4 == 0;
    float *s = values(keys * attn_lanes(rows), special), *factor = values(ROWS, 0);
    float *v = values((keys - 1) * (size_t)stride + dv, special);
    float *got = values(rows * dv, special), *expected = copy(got, rows * dv);
    unsigned char visible[KEYS * ROWS];
    for (size_t c = 0; c < KEYS * ROWS; c++) {
        visible[c] = draw() % 2 == 0;
    }
    m->mix(got, s, factor, v, stride, rows, keys, dv);
    attn_micro_twin_f32.mix(expected, s, factor, v, stride, rows, keys, dv);
    for (size_t c = 0; c < rows * dv; c++) {
        if (!same(got[c], expected[c])) {
            fail_msg("%s: mix differs at m = %zu, n = %zu, d = %zu", m->name, rows, keys, dv);
        }
    }
    m->mix_some(got, s, factor, v, stride, visible, rows, keys, dv);
    attn_micro_twin_f32.mix_some(expected, s, factor, v, stride, visible, rows, keys, dv);
    for (size_t c = 0; c < rows * dv; c++) {
        if (!same(got[c], expected[c])) {
            fail_msg("%s: mix_some differs at m = %zu, n = %zu, d = %zu", m->name, rows, keys, dv);
        }
    }
    free(s);
    free(factor);
    free(v);
    free(got);
    free(expected);
}

static void test_mix(void **state) {
    need_engine(state);
    for (int n = 0; n < engine_count; n++) {
        for (size_t rows = 1; rows <= ROWS; rows++) {
            for (size_t dv = 1; dv <= WIDEST; dv++) {
                check_mix(engines[n]->micro, rows, 1 + draw() % 9, dv, some_stride(dv));
            }
        }
        for (size_t dv = 1; dv <= WIDEST; dv++) { /* rows of V that follow each other in memory */
            check_mix(engines[n]->micro, 1, 2 + draw() % 9, dv, (int64_t)dv);
            check_mix(engines[n]->micro, 2, 2 + draw() % 9, dv, (int64_t)dv);
        }
        for (size_t keys = 1; keys <= KEYS; keys++) {
            size_t narrow = 1 + draw() % 40, wide = 100 + draw() % 200;
            check_mix(engines[n]->micro, 1 + draw() % ROWS, keys, narrow, some_stride(narrow));
            check_mix(engines[n]->micro, 1 + draw() % ROWS, keys, wide, some_stride(wide));
            check_mix(engines[n]->micro, 1 + draw() % 4, keys, wide, some_stride(wide));
        }
    }
}

/* The weights that a tile of hidden, ordinary and special scores leads to. */
static void check_softmax(const attn_micro_f32 *m, size_t rows, size_t keys) {
    int special = draw() % 4 == 0;
    const size_t lanes = attn_lanes(rows);
    float *s = values(keys * lanes, special), *twin_s;
    float *state[3], *twin[3]; /* max, sum, factor */
    unsigned char visible[KEYS * ROWS];
    for (size_t c = 0; c < KEYS * ROWS; c++) {
        visible[c] = (unsigned char)(draw() % 4);
    }
    for (size_t c = 0; c < keys * lanes; c++) {
        s[c] *= (float)(draw() % 8 == 0 ? 30 : 1);
    }
    twin_s = copy(s, keys * lanes);
    for (int n = 0; n < 3; n++) {
        state[n] = values(ROWS, 0);
        for (size_t r = 0; r < ROWS && n == 0; r++) {
            state[n][r] = draw() % 3 == 0 ? -INFINITY : state[n][r];
        }
        twin[n] = copy(state[n], ROWS);
    }
    m->hide(s, visible, rows, keys);
    attn_micro_twin_f32.hide(twin_s, visible, rows, keys);
    assert_true(same_lanes(s, twin_s, rows, keys, lanes));
    m->softmax(s, state[0], state[1], state[2], rows, keys);
    attn_micro_twin_f32.softmax(twin_s, twin[0], twin[1], twin[2], rows, keys);
    int equal = same_lanes(s, twin_s, rows, keys, lanes);
    for (size_t r = 0; r < rows; r++) { /* the maximum: a zero of either sign */
        equal &= same(state[0][r], twin[0][r]) || (state[0][r] == 0 && twin[0][r] == 0);
        equal &= same(state[1][r], twin[1][r]) && same(state[2][r], twin[2][r]);
    }
    if (!equal) {
        fail_msg("%s: softmax differs at m = %zu, n = %zu", m->name, rows, keys);
    }
    for (int n = 0; n < 3; n++) {
        free(state[n]);
        free(twin[n]);
    }
    free(s);
    free(twin_s);
}

static void test_softmax(void **state) {
    need_engine(state);
    for (int n = 0; n < engine_count; n++) {
        for (size_t rows = 1; rows <= ROWS; rows++) {
            for (size_t keys = 1; keys <= KEYS; keys++) {
                check_softmax(engines[n]->micro, rows, keys);
            }
        }
    }
}

static void check_show(const attn_micro_f32 *m, size_t rows, size_t keys) {
    const int64_t first = (int64_t)(draw() % 3), stride = draw() % 4 == 0 ? 2 : 1;
    const size_t length = ((size_t)first + keys - 1) * (size_t)stride + 1;
    unsigned char *mask = malloc(rows * length), got[KEYS * ROWS], expected[KEYS * ROWS];
    int64_t at[ROWS];
    for (size_t c = 0; c < rows * length; c++) {
        mask[c] = (unsigned char)(draw() % 2 ? draw() : 0);
    }
    for (size_t r = 0; r < rows; r++) {
        at[r] = (int64_t)((rows - 1 - r) * length); /* the last row first: exact ends */
    }
    for (size_t c = 0; c < KEYS * ROWS; c++) {
        got[c] = expected[c] = c % ROWS < rows && draw() % 4;
    }
    m->show(got, mask, at, first, stride, rows, keys);
    attn_micro_twin_f32.show(expected, mask, at, first, stride, rows, keys);
    if (memcmp(got, expected, sizeof got) != 0) {
        fail_msg("%s: show differs at m = %zu, n = %zu", m->name, rows, keys);
    }
    free(mask);
}

static void test_show(void **state) {
    need_engine(state);
    for (int n = 0; n < engine_count; n++) {
        for (size_t rows = 1; rows <= ROWS; rows++) {
            for (size_t keys = 1; keys <= KEYS; keys++) {
                check_show(engines[n]->micro, rows, keys);
            }
        }
    }
}

static void test_finite(void **state) {
    need_engine(state);
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int n = 0; n < engine_count; n++) {
        const attn_micro_f32 *m = engines[n]->micro;
        for (size_t dv = 1; dv <= WIDEST; dv++) {
            size_t keys = 1 + draw() % 4, stride = dv + draw() % GAP;
            size_t length = (keys - 1) * stride + dv;
            float *v = values(length, 0);
            assert_true(m->finite(v, (int64_t)stride, keys, dv));
            for (size_t at = 0; at < length; at++) {
                float kept = v[at];
                v[at] = bad[at % 3];
                assert_int_equal(m->finite(v, (int64_t)stride, keys, dv), at % stride >= dv);
                v[at] = 3.4e38f;
                assert_true(m->finite(v, (int64_t)stride, keys, dv));
                v[at] = kept;
            }
            free(v);
        }
    }
}

/* Over 16-bit storage: what the twin makes of the widened values. */
static void check_narrow(const attn_engine_f32 *e, uint32_t storage, size_t rows, size_t keys,
                         size_t d) {
    size_t stride = (size_t)some_stride(d), length = (keys - 1) * stride + d;
    uint16_t *stored = malloc((length + stride) * sizeof *stored);
    float *wide = malloc(length * sizeof *wide), scale = value(0);
    for (size_t c = 0; c < length + stride; c++) {
        attn_store(storage, stored + c, (double)value(draw() % 64 == 0));
    }
    for (size_t c = 0; c < length; c++) { /* `first` is 1: one row further on */
        wide[c] = (float)attn_load(storage, stored + stride + c);
    }
    const size_t lanes = attn_lanes(rows);
    float *of_rows = thirds(rows * d), *q = placed(of_rows, rows, d);
    float *s = thirds(keys * lanes), *twin_s = copy(s, keys * lanes);
    float *o = values(rows * d, 0), *twin_o = copy(o, rows * d), *factor = values(ROWS, 0);
    e->micro->mix_narrow(o, s, factor, stored, storage, 1, (int64_t)stride, rows, keys, d);
    attn_micro_twin_f32.mix(twin_o, s, factor, wide, (int64_t)stride, rows, keys, d);
    e->micro->scores_narrow(s, q, stored, storage, 1, (int64_t)stride, rows, keys, d, scale);
    attn_micro_twin_f32.scores(twin_s, q, wide, (int64_t)stride, rows, keys, d, scale);
    int equal = same_lanes(s, twin_s, rows, keys, lanes);
    for (size_t c = 0; c < rows * d; c++) {
        equal &= same(o[c], twin_o[c]);
    }
    if (!equal) {
        fail_msg("%s: storage %u differs at m = %zu, n = %zu, d = %zu", e->micro->name, storage,
                 rows, keys, d);
    }
    free(stored);
    free(wide);
    free(of_rows);
    free(q);
    free(s);
    free(twin_s);
    free(o);
    free(twin_o);
    free(factor);
}

static void test_narrow(void **state) {
    need_engine(state);
    for (int n = 0; n < engine_count; n++) {
        for (size_t rows = 1; rows <= engines[n]->micro->narrow_rows; rows++) {
            for (size_t keys = 1; keys <= KEYS; keys++) {
                check_narrow(engines[n], ATTEST_F16, rows, keys, 1 + draw() % 40);
                check_narrow(engines[n], ATTEST_BF16, rows, keys, 1 + draw() % 40);
            }
        }
        for (size_t d = 1; d <= WIDEST; d++) {
            check_narrow(engines[n], ATTEST_F16, 1 + draw() % 8, 1 + draw() % KEYS, d);
            check_narrow(engines[n], ATTEST_BF16, 1 + draw() % 8, 1 + draw() % KEYS, d);
        }
    }
}

/* Every 16-bit word, at every offset from a vector's start. */
static void test_loaders(void **state) {
    need_engine(state);
    static uint16_t words[65536 + 64];
    static float to[65536 + 64];
    for (size_t n = 0; n < sizeof words / sizeof words[0]; n++) {
        words[n] = (uint16_t)n;
    }
    for (int n = 0; n < engine_count; n++) {
        for (int64_t start = 0; start < 17; start++) {
            for (int half = 0; half < 2; half++) {
                attn_load_fn_f32 load = half ? engines[n]->load_f16 : engines[n]->load_bf16;
                load(to, words, start, 1, 65536 + 5);
                for (int64_t c = 0; c < 65536 + 5; c++) {
                    float expected =
                        (float)attn_load(half ? ATTEST_F16 : ATTEST_BF16, words + start + c);
                    assert_true(same(to[c], expected));
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turn),   cmocka_unit_test(test_scores),
        cmocka_unit_test(test_mix),    cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_finite), cmocka_unit_test(test_loaders),
        cmocka_unit_test(test_narrow), cmocka_unit_test(test_show),
    };
    return cmocka_run_group_tests(tests, find_engines, NULL);
}
