/* SPDX-License-Identifier: Apache-2.0 */
/* impl/template.c, the kernel to copy, against the reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "impl/template.c"
#include "reference/kernel/forward.h"
#include "tests/support/splitmix.h"

enum { MAX_BATCH = 2, MAX_HEADS = 6, MAX_ROWS = 9, MAX_SIZE = 7, PROBLEMS = 2000, GAP = 3 };
enum { ELEMENTS = MAX_BATCH * MAX_HEADS * MAX_ROWS * (MAX_SIZE + GAP) };

typedef struct setup {
    float q[ELEMENTS], k[ELEMENTS], v[ELEMENTS], o[ELEMENTS], lse[ELEMENTS];
    int64_t lengths[MAX_BATCH];
    attest_problem p;
} setup;

static void fill(float *values, uint64_t *state) {
    for (int index = 0; index < ELEMENTS; index++) {
        values[index] = (float)between(state, -4096, 4096) / 2048.0f;
    }
}

static attest_tensor view(float *data, int64_t b, int64_t h, int64_t s, int64_t c, int64_t gap) {
    return (attest_tensor){.data = data,
                           .shape = {b, h, s, c},
                           .stride = {h * s * (c + gap), s * (c + gap), c + gap, 1},
                           .dtype = ATTEST_F32,
                           .rank = 4};
}

static void random_setup(setup *s, uint64_t *state) {
    memset(s, 0, sizeof *s);
    fill(s->q, state);
    fill(s->k, state);
    fill(s->v, state);
    int64_t batch = between(state, 1, MAX_BATCH), kv_heads = between(state, 1, 2);
    int64_t heads = kv_heads * between(state, 1, 3), queries = between(state, 0, MAX_ROWS);
    int64_t keys = between(state, 0, MAX_ROWS), size = between(state, 1, MAX_SIZE);
    int64_t value_size = between(state, 0, MAX_SIZE), gap = between(state, 0, GAP);
    s->p = (attest_problem){
        .struct_bytes = sizeof s->p,
        .features = draw(state) & FEATURES,
        .q = view(s->q, batch, heads, queries, size, gap),
        .k = view(s->k, batch, kv_heads, keys, size, 0),
        .v = view(s->v, batch, kv_heads, keys, value_size, gap),
        .o = view(s->o, batch, heads, queries, value_size, gap),
        .scale = (double)between(state, -8, 8) / 4,
        .threads = 1,
    };
    if (s->p.features & ATTEST_LSE) {
        s->p.lse = (attest_tensor){.data = s->lse,
                                   .shape = {batch, heads, queries},
                                   .stride = {heads * queries, queries, 1},
                                   .dtype = ATTEST_F32,
                                   .rank = 3};
    }
    if (s->p.features & ATTEST_KEY_LENGTHS) {
        for (int64_t b = 0; b < batch; b++) {
            s->lengths[b] = between(state, 0, keys);
        }
        s->p.key_lengths = (attest_tensor){
            .data = s->lengths, .shape = {batch}, .stride = {1}, .dtype = ATTEST_I64, .rank = 1};
    }
}

/* Scores are below 2 * 7 * 4 and values below 2: a hundred roundings of 2^-24 stay below this. */
static int close_to(float actual, float expected) {
    if (isinf(expected)) {
        return actual == expected;
    }
    return fabsf(actual - expected) <= 5e-5f * (1 + fabsf(expected));
}

static void matches_the_reference(void **unused) {
    (void)unused;
    static setup s, expected;
    char message[ATTEST_MESSAGE_BYTES];
    uint64_t state = 1;
    for (int round = 0; round < PROBLEMS; round++) {
        random_setup(&s, &state);
        fill(s.o, &state); /* gaps must keep what they hold */
        fill(s.lse, &state);
        memcpy(&expected, &s, sizeof s);
        expected.p.q.data = expected.q;
        expected.p.k.data = expected.k;
        expected.p.v.data = expected.v;
        expected.p.o.data = expected.o;
        expected.p.lse.data = expected.p.lse.data ? expected.lse : NULL;
        assert_int_equal(attn_forward(&expected.p, &attn_profile_attest, message), ATTEST_OK);
        assert_int_equal(attest_kernel_v1(ATTEST_ABI_VERSION)->forward(&s.p, message), ATTEST_OK);
        for (int index = 0; index < ELEMENTS; index++) {
            assert_true(close_to(s.o[index], expected.o[index]));
            assert_true(close_to(s.lse[index], expected.lse[index]));
        }
    }
}

static void hidden_nan_does_not_matter(void **unused) {
    (void)unused;
    static setup clean, poisoned;
    char message[ATTEST_MESSAGE_BYTES];
    uint64_t state = 2;
    for (int round = 0; round < PROBLEMS; round++) {
        random_setup(&clean, &state);
        int64_t keys = clean.p.k.shape[2], length = between(&state, 0, keys);
        clean.p.features |= ATTEST_KEY_LENGTHS;
        clean.lengths[0] = clean.lengths[1] = length;
        clean.p.key_lengths =
            (attest_tensor){.data = clean.lengths, .stride = {1}, .dtype = ATTEST_I64, .rank = 1};
        clean.p.key_lengths.shape[0] = clean.p.q.shape[0];
        memcpy(&poisoned, &clean, sizeof clean);
        poisoned.p.k.data = poisoned.k;
        poisoned.p.v.data = poisoned.v;
        poisoned.p.o.data = poisoned.o;
        poisoned.p.lse.data = poisoned.p.lse.data ? poisoned.lse : NULL;
        for (int64_t b = 0; b < clean.p.k.shape[0]; b++) {
            for (int64_t g = 0; g < clean.p.k.shape[1]; g++) {
                for (int64_t j = length; j < keys; j++) {
                    for (int64_t c = 0; c < clean.p.k.shape[3]; c++) {
                        *at(&poisoned.p.k, b, g, j, c) = NAN;
                    }
                    for (int64_t c = 0; c < clean.p.v.shape[3]; c++) {
                        *at(&poisoned.p.v, b, g, j, c) = NAN;
                    }
                }
            }
        }
        assert_int_equal(forward(&clean.p, message), ATTEST_OK);
        assert_int_equal(forward(&poisoned.p, message), ATTEST_OK);
        assert_memory_equal(clean.o, poisoned.o, sizeof clean.o);
        assert_memory_equal(clean.lse, poisoned.lse, sizeof clean.lse);
    }
}

static void refuses_what_it_does_not_know(void **unused) {
    (void)unused;
    static setup s;
    static struct {
        attest_problem p;
        unsigned char later[8];
    } longer;
    char message[ATTEST_MESSAGE_BYTES];
    uint64_t state = 3;
    random_setup(&s, &state);
    fill(s.o, &state);
    longer.p = s.p;
    longer.p.struct_bytes = sizeof longer;
    assert_int_equal(forward(&longer.p, message), ATTEST_OK);
    longer.later[5] = 1;
    attest_problem changed[4] = {s.p, s.p, s.p, s.p};
    changed[0].features |= ATTEST_SOFTCAP;
    changed[1].features |= UINT64_C(1) << 40;
    changed[2].reserved32 = 1;
    changed[3].reserved[14] = 1;
    static float before[ELEMENTS];
    memcpy(before, s.o, sizeof before);
    for (int index = 0; index < 5; index++) {
        const attest_problem *p = index < 4 ? &changed[index] : &longer.p;
        memset(message, 0, sizeof message);
        assert_int_equal(forward(p, message), ATTEST_UNSUPPORTED);
        assert_true(strlen(message) > 0);
        assert_memory_equal(s.o, before, sizeof before);
    }
    assert_null(attest_kernel_v1(ATTEST_ABI_VERSION + 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_the_reference),
        cmocka_unit_test(hidden_nan_does_not_matter),
        cmocka_unit_test(refuses_what_it_does_not_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
