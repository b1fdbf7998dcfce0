/* SPDX-License-Identifier: Apache-2.0 */
/* What the reference must show by running: SEM-14, SEM-15, SEM-16, ISO-01, NUM-03, NUM-04,
 * SEM-12. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "reference/kernel/forward.h"
#include "tests/support/splitmix.h"

enum { MAX_HEADS = 4, MAX_S = 12, MAX_D = 8, PROBLEMS = 1000 };

typedef struct setup {
    float q[MAX_HEADS * MAX_S * MAX_D], k[MAX_HEADS * MAX_S * MAX_D], v[MAX_HEADS * MAX_S * MAX_D];
    float mask[MAX_S * MAX_S], sinks[MAX_HEADS], slopes[MAX_HEADS];
    int64_t offset;
    float o[MAX_HEADS * MAX_S * MAX_D], lse[MAX_HEADS * MAX_S];
    int64_t heads, keys, size, value_size;
    attest_problem p;
} setup;

static void fill(float *values, size_t count, uint64_t *state) {
    for (size_t index = 0; index < count; index++) {
        values[index] = (float)between(state, -4096, 4096) / 1024.0f;
    }
}

static attest_tensor view(void *data, attest_dtype dtype, uint32_t rank, const int64_t *shape) {
    attest_tensor tensor = {.data = data, .dtype = dtype, .rank = rank};
    int64_t step = 1;
    for (uint32_t axis = rank; axis-- > 0;) {
        tensor.shape[axis] = shape[axis];
        tensor.stride[axis] = step;
        step *= shape[axis];
    }
    return tensor;
}

/* A causal self-attention problem with one query a key, and options drawn at random. */
static void random_setup(setup *s, uint64_t *state) {
    const uint64_t options[] = {ATTEST_SOFTCAP, ATTEST_SINKS, ATTEST_ALIBI, ATTEST_MASK_ADD,
                                ATTEST_WINDOW};
    memset(s, 0, sizeof *s);
    s->heads = between(state, 1, MAX_HEADS);
    s->keys = between(state, 1, MAX_S);
    s->size = between(state, 1, MAX_D);
    s->value_size = between(state, 1, MAX_D);
    fill(s->q, sizeof s->q / sizeof *s->q, state);
    fill(s->k, sizeof s->k / sizeof *s->k, state);
    fill(s->v, sizeof s->v / sizeof *s->v, state);
    fill(s->sinks, MAX_HEADS, state);
    fill(s->slopes, MAX_HEADS, state);
    fill(s->mask, MAX_S * MAX_S, state);
    for (int64_t cell = 0; cell < MAX_S * MAX_S; cell++) {
        if (draw(state) % 4 == 0) {
            s->mask[cell] = -INFINITY;
        }
    }
    const int64_t q_shape[] = {1, s->heads, s->keys, s->size};
    const int64_t v_shape[] = {1, s->heads, s->keys, s->value_size};
    s->p = (attest_problem){
        .struct_bytes = sizeof s->p,
        .features = ATTEST_CAUSAL | ATTEST_OFFSETS | ATTEST_LSE,
        .q = view(s->q, ATTEST_F32, 4, q_shape),
        .k = view(s->k, ATTEST_F32, 4, q_shape),
        .v = view(s->v, ATTEST_F32, 4, v_shape),
        .o = view(s->o, ATTEST_F32, 4, v_shape),
        .lse = view(s->lse, ATTEST_F32, 3, q_shape),
        .offsets = view(&s->offset, ATTEST_I64, 1, (int64_t[]){1}),
        .softcap = 2.5,
        .window_left = between(state, 0, 4),
        .window_right = ATTEST_UNBOUNDED,
        .threads = 1,
    };
    for (size_t index = 0; index < sizeof options / sizeof *options; index++) {
        s->p.features |= draw(state) % 3 == 0 ? options[index] : 0;
    }
    if (s->p.features & ATTEST_MASK_ADD) {
        s->p.mask = view(s->mask, ATTEST_F32, 2, (int64_t[]){s->keys, s->keys});
    }
    if (s->p.features & ATTEST_SINKS) {
        s->p.sinks = view(s->sinks, ATTEST_F32, 1, &s->heads);
    }
    if (s->p.features & ATTEST_ALIBI) {
        s->p.slopes = view(s->slopes, ATTEST_F32, 1, &s->heads);
    }
}

/* Fresh outputs of the same layout as the setup's, filled with what no kernel writes. */
typedef struct outputs {
    float o[MAX_HEADS * MAX_S * MAX_D], lse[MAX_HEADS * MAX_S];
} outputs;

static void run(const attest_problem *problem, outputs *out) {
    char why[ATTEST_MESSAGE_BYTES] = "";
    attest_problem p = *problem;
    memset(out, 0xa5, sizeof *out);
    p.o.data = out->o;
    p.lse.data = out->lse;
    if (attn_forward(&p, &attn_profile_attest, why) != ATTEST_OK) {
        fail_msg("%s", why);
    }
}

static const float *row_of(const setup *s, const outputs *out, int64_t head, int64_t row) {
    return out->o + (head * s->keys + row) * s->value_size;
}

static void assert_same_row(const setup *s, const outputs *a, int64_t row_a, const outputs *b,
                            int64_t row_b) {
    for (int64_t head = 0; head < s->heads; head++) {
        assert_memory_equal(row_of(s, a, head, row_a), row_of(s, b, head, row_b),
                            sizeof(float) * (size_t)s->value_size);
        assert_memory_equal(a->lse + head * s->keys + row_a, b->lse + head * s->keys + row_b,
                            sizeof(float));
    }
}

/* SEM-14: row i of a causal run is the last row of a run on the prefix 0..i. */
static void test_prefix_theorem(void **state) {
    (void)state;
    uint64_t seed = 14;
    for (int problem = 0; problem < PROBLEMS; problem++) {
        setup s;
        outputs whole, part;
        random_setup(&s, &seed);
        int64_t last = between(&seed, 0, s.keys - 1);
        attest_problem prefix = s.p; /* the same memory, shorter axes */
        prefix.q.shape[2] = prefix.k.shape[2] = prefix.v.shape[2] = last + 1;
        prefix.o.shape[2] = prefix.lse.shape[2] = last + 1;
        if (prefix.mask.dtype) {
            prefix.mask.shape[0] = prefix.mask.shape[1] = last + 1;
        }
        run(&s.p, &whole);
        run(&prefix, &part);
        assert_same_row(&s, &whole, last, &part, last);
    }
}

/* SEM-15: one query at a time with a growing cache equals one pass. */
static void test_cache_equals_one_pass(void **state) {
    (void)state;
    uint64_t seed = 15;
    for (int problem = 0; problem < PROBLEMS / 4; problem++) {
        setup s;
        outputs whole, step;
        random_setup(&s, &seed);
        run(&s.p, &whole);
        for (int64_t token = 0; token < s.keys; token++) {
            attest_problem one = s.p;
            s.offset = token; /* the query stands behind the cache */
            one.q.data = s.q + token * s.size;
            one.q.shape[2] = one.o.shape[2] = one.lse.shape[2] = 1;
            one.k.shape[2] = one.v.shape[2] = token + 1;
            if (one.mask.dtype) {
                one.mask.data = s.mask + token * s.keys;
                one.mask.shape[0] = 1;
                one.mask.shape[1] = token + 1;
            }
            run(&one, &step);
            assert_same_row(&s, &whole, token, &step, 0);
        }
        s.offset = 0;
    }
}

/* SEM-16: two causal layers; a change at token t reaches no row before t, and reaches row t in
 * most. */
static void test_stack_stays_causal(void **state) {
    (void)state;
    uint64_t seed = 16;
    int reached = 0;
    for (int problem = 0; problem < PROBLEMS / 4; problem++) {
        setup s;
        outputs first[2], second[2];
        random_setup(&s, &seed);
        s.p.features &= ~(ATTEST_MASK_ADD | ATTEST_WINDOW);
        s.p.mask = (attest_tensor){0};
        int64_t token = between(&seed, 0, s.keys - 1);
        for (int pass = 0; pass < 2; pass++) {
            run(&s.p, &first[pass]);
            attest_problem upper = s.p; /* the first layer's output is q, k and v of the second */
            upper.q = upper.k = upper.v = s.p.o;
            upper.q.data = upper.k.data = upper.v.data = first[pass].o;
            run(&upper, &second[pass]);
            for (int64_t head = 0; head < s.heads; head++) {
                for (int64_t c = 0; c < s.value_size; c++) {
                    s.v[(head * s.keys + token) * s.value_size + c] += 1.0f;
                }
            }
        }
        for (int64_t row = 0; row < token; row++) {
            assert_same_row(&s, &second[0], row, &second[1], row);
        }
        reached += memcmp(row_of(&s, &second[0], 0, token), row_of(&s, &second[1], 0, token),
                          sizeof(float) * (size_t)s.value_size) != 0;
    }
    assert_true(reached > PROBLEMS / 5); /* a weight may round a change away, not most of them */
}

/* ISO-01..05: what a row does not see may be NaN or Inf and never reaches it. */
static void test_invisible_never_reaches(void **state) {
    (void)state;
    const float poisons[] = {NAN, INFINITY, -INFINITY, 3e38f, 1e-45f};
    uint64_t seed = 1;
    for (int problem = 0; problem < PROBLEMS; problem++) {
        setup s;
        outputs clean, dirty;
        random_setup(&s, &seed);
        unsigned char sees[MAX_S * MAX_S];
        for (int64_t cell = 0; cell < s.keys * s.keys; cell++) {
            sees[cell] = draw(&seed) % 2;
        }
        s.p.features = (s.p.features & ~ATTEST_MASK_ADD) | ATTEST_MASK_BOOL;
        s.p.mask = view(sees, ATTEST_BOOL, 2, (int64_t[]){s.keys, s.keys});
        run(&s.p, &clean);
        int64_t row = between(&seed, 0, s.keys - 1);
        float poison = poisons[problem % 5];
        for (int64_t key = 0; key < s.keys; key++) {
            int window = (s.p.features & ATTEST_WINDOW) && row - s.p.window_left > key;
            if (sees[row * s.keys + key] && key <= row && !window) {
                continue;
            }
            for (int64_t head = 0; head < s.heads; head++) {
                for (int64_t c = 0; c < s.size; c++) {
                    s.k[(head * s.keys + key) * s.size + c] = poison;
                }
                for (int64_t c = 0; c < s.value_size; c++) {
                    s.v[(head * s.keys + key) * s.value_size + c] = poison;
                }
            }
        }
        run(&s.p, &dirty);
        assert_same_row(&s, &clean, row, &dirty, row);
    }
}

/* Three tokens: W12 = W13 = W23 = 0, read off with V = identity; each row sums to 1 (NUM-03/04). */
static void test_three_tokens(void **state) {
    (void)state;
    float x[6] = {1, 2, -1, 0.5f, 3, 1}, identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, w[9];
    char why[ATTEST_MESSAGE_BYTES];
    attest_problem p = {.struct_bytes = sizeof p, .features = ATTEST_CAUSAL, .threads = 1};
    p.q = p.k = view(x, ATTEST_F32, 4, (int64_t[]){1, 1, 3, 2});
    p.v = view(identity, ATTEST_F32, 4, (int64_t[]){1, 1, 3, 3});
    p.o = view(w, ATTEST_F32, 4, (int64_t[]){1, 1, 3, 3});
    assert_int_equal(attn_forward(&p, &attn_profile_attest, why), ATTEST_OK);
    for (int i = 0; i < 3; i++) {
        float sum = 0;
        for (int j = 0; j < 3; j++) {
            sum += w[3 * i + j];
            if (j > i) {
                assert_true(w[3 * i + j] == 0.0f && !signbit(w[3 * i + j]));
            } else {
                assert_true(w[3 * i + j] > 0.0f && w[3 * i + j] <= 1.0f);
            }
        }
        assert_true(fabsf(sum - 1.0f) <= 2.3f * 3 * 0x1p-24f + 2 * 0x1p-24f);
    }
    assert_true(w[0] == 1.0f);
}

/* SEM-12: a row without a visible key, in each profile; a sink takes precedence. */
static void test_empty_rows(void **state) {
    (void)state;
    float q[2] = {1, 1}, k[2] = {1, 2}, v[2] = {3, 5}, o[2], lse[2], sink = 0.25f;
    unsigned char sees[4] = {0, 0, 1, 1};
    char why[ATTEST_MESSAGE_BYTES];
    attest_problem p = {
        .struct_bytes = sizeof p, .features = ATTEST_MASK_BOOL | ATTEST_LSE, .threads = 1};
    const int64_t shape[] = {1, 1, 2, 1};
    p.q = view(q, ATTEST_F32, 4, shape);
    p.k = view(k, ATTEST_F32, 4, shape);
    p.v = view(v, ATTEST_F32, 4, shape);
    p.o = view(o, ATTEST_F32, 4, shape);
    p.lse = view(lse, ATTEST_F32, 3, shape);
    p.mask = view(sees, ATTEST_BOOL, 2, (int64_t[]){2, 2});
    attn_profile profile = attn_profile_attest;

    assert_int_equal(attn_forward(&p, &profile, why), ATTEST_OK);
    assert_true(o[0] == 0.0f && lse[0] == -INFINITY && o[1] > 3.0f && o[1] < 5.0f);
    profile.empty_row = ATTN_EMPTY_NAN;
    profile.lse_empty = ATTN_LSE_EMPTY_POS_INF;
    assert_int_equal(attn_forward(&p, &profile, why), ATTEST_OK);
    assert_true(isnan(o[0]) && lse[0] == INFINITY && !isnan(o[1]));
    profile.empty_row = ATTN_EMPTY_MEAN_OF_ALL;
    assert_int_equal(attn_forward(&p, &profile, why), ATTEST_OK);
    assert_true(o[0] == 4.0f);
    p.features |= ATTEST_SINKS;
    p.sinks = view(&sink, ATTEST_F32, 1, (int64_t[]){1});
    assert_int_equal(attn_forward(&p, &profile, why), ATTEST_OK);
    assert_true(o[0] == 0.0f && lse[0] == sink);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefix_theorem),     cmocka_unit_test(test_cache_equals_one_pass),
        cmocka_unit_test(test_stack_stays_causal), cmocka_unit_test(test_invisible_never_reaches),
        cmocka_unit_test(test_three_tokens),       cmocka_unit_test(test_empty_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
