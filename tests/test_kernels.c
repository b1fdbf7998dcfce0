/* SPDX-License-Identifier: Apache-2.0 */
/* The bundled kernels against the reference in binary64; what they touch; what they refuse. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "reference/kernel/forward.h"
#include "tests/support/kernel_calls.h"

static int near(double got, double expected, attest_dtype dtype, double slack) {
    double unit = dtype == ATTEST_F16 ? 0x1p-10 : dtype == ATTEST_BF16 ? 0x1p-7 : 0;
    if (isnan(expected) || isinf(expected)) {
        return same(got, expected);
    }
    return fabs(got - expected) <= slack + unit * fabs(expected);
}

/* Expected values: the same inputs, output in binary64, which makes the reference compute in it. */
static results expected_of(const attest_problem *p) {
    attest_problem wide = *p;
    char message[ATTEST_MESSAGE_BYTES] = "";
    int64_t rows = p->q.shape[0] * p->q.shape[1] * p->q.shape[2], size = p->o.shape[3];
    void *buffer = malloc((size_t)(rows * size + 1) * sizeof(double));
    void *lse = malloc((size_t)(rows + 1) * sizeof(double));
    wide.o = (attest_tensor){
        .data = buffer,
        .dtype = ATTEST_F64,
        .rank = 4,
        .shape = {p->o.shape[0], p->o.shape[1], p->o.shape[2], size},
        .stride = {p->o.shape[1] * p->o.shape[2] * size, p->o.shape[2] * size, size, 1}};
    if (p->features & ATTEST_LSE) {
        wide.lse.data = lse;
        wide.lse.stride[0] = p->lse.shape[1] * p->lse.shape[2];
        wide.lse.stride[1] = p->lse.shape[2];
        wide.lse.stride[2] = 1;
    }
    if (attn_forward(&wide, &attn_profile_attest, message) != ATTEST_OK) {
        fail_msg("reference: %s", message);
    }
    results r = read_results(&wide);
    free(buffer);
    free(lse);
    return r;
}

static void compare(const attest_kernel *k, const kernel_case *c, uint64_t seed) {
    results got = read_results(&c->p), expected = expected_of(&c->p);
    double slack = c->p.q.dtype == ATTEST_F64 && c->p.o.dtype == ATTEST_F64 ? 1e-11 : 3e-5;
    for (int64_t n = 0; n < got.rows; n++) {
        if (!near(got.lse[n], expected.lse[n], ATTEST_F32, slack)) {
            fail_msg("%s, case %llu: lse[%lld] is %a, not %a", k->name, (unsigned long long)seed,
                     (long long)n, got.lse[n], expected.lse[n]);
        }
        for (int64_t e = n * got.size; e < (n + 1) * got.size; e++) {
            if (!near(got.o[e], expected.o[e], c->p.o.dtype, slack)) {
                fail_msg("%s, case %llu: o[%lld] is %a, not %a", k->name, (unsigned long long)seed,
                         (long long)e, got.o[e], expected.o[e]);
            }
        }
    }
    drop(got);
    drop(expected);
}

/* NUM-01, MEM-02, MEM-03, MEM-06: close to binary64; gaps and inputs keep their bytes. */
static void test_against_reference(void **state) {
    (void)state;
    for (int n = 0; n < KERNELS; n++) {
        for (uint64_t seed = 0; seed < CASES; seed++) {
            kernel_case c, again;
            int size = seed % 40 == 0 ? 2 : seed % 8 == 5 ? 3 : seed % 2 == 0;
            case_make(&c, seed, takes_wide(kernels[n]), size);
            case_make(&again, seed, takes_wide(kernels[n]), size);
            c.p.threads = (int32_t)(seed % 3) + 1;
            run(kernels[n], &c.p);
            compare(kernels[n], &c, seed);
            results got = read_results(&c.p);
            for (int64_t row = 0; row < got.rows; row++) { /* write the results over the twin's */
                int64_t at[4] = {row / c.p.q.shape[2] / c.p.q.shape[1],
                                 row / c.p.q.shape[2] % c.p.q.shape[1], row % c.p.q.shape[2], 0};
                if (c.p.features & ATTEST_LSE) {
                    memcpy((void *)(uintptr_t)attn_element(&again.p.lse, at),
                           attn_element(&c.p.lse, at), (size_t)attn_dtype_bytes(c.p.lse.dtype));
                }
                for (at[3] = 0; at[3] < got.size; at[3]++) {
                    memcpy((void *)(uintptr_t)attn_element(&again.p.o, at),
                           attn_element(&c.p.o, at), (size_t)attn_dtype_bytes(c.p.o.dtype));
                }
            }
            for (int b = 0; b < c.buffers; b++) {
                assert_memory_equal(c.buffer[b], again.buffer[b], c.bytes[b]);
            }
            drop(got);
            case_release(&c);
            case_release(&again);
        }
    }
}

/* The queries of few rows take whole octs of room, however few their dimensions; a copy of K lies
 * behind them. */
static void test_one_dimension(void **state) {
    (void)state;
    enum { HEADS = 8, KEYS = 40 };
    float q[HEADS], k[2 * KEYS], v[KEYS], o[HEADS];
    kernel_case c = {.p = {.struct_bytes = sizeof c.p, .threads = 1}};
    c.p.q = (attest_tensor){.data = q,
                            .dtype = ATTEST_F32,
                            .rank = 4,
                            .shape = {1, HEADS, 1, 1},
                            .stride = {HEADS, 1, 1, 1}};
    c.p.o = c.p.q;
    c.p.o.data = o;
    c.p.v = (attest_tensor){.data = v,
                            .dtype = ATTEST_F32,
                            .rank = 4,
                            .shape = {1, 1, KEYS, 1},
                            .stride = {KEYS, KEYS, 1, 1}};
    c.p.k = c.p.v;
    c.p.k.data = k;
    c.p.k.stride[2] = c.p.k.stride[3] = 2; /* not where it lies */
    for (int j = 0; j < KEYS; j++) {
        k[2 * j] = k[2 * j + 1] = (float)(j % 7) - 3.0f;
        v[j] = (float)j;
    }
    for (int h = 0; h < HEADS; h++) {
        q[h] = (float)(h + 1);
    }
    for (int n = 0; n < KERNELS; n++) {
        run(kernels[n], &c.p);
        compare(kernels[n], &c, 0);
    }
}

/* MEM-04: each key on a page of its own; the pages of keys that no row sees cannot be read. */
static void test_unseen_keys(void **state) {
    (void)state;
    enum { PAGE = 4096, KEYS_MAX = 250, D = 24, ROWS_MAX = 70 };
    static float q[2][ROWS_MAX * D], o[2][ROWS_MAX * D];
    unsigned char mask[KEYS_MAX];
    char *pages =
        mmap(NULL, 2 * KEYS_MAX * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    for (int n = 0; n < KERNELS; n++) {
        for (uint64_t seed = 1; seed < 60; seed++) {
            uint64_t s = seed;
            int64_t keys = between(&s, 1, KEYS_MAX), rows = between(&s, 1, ROWS_MAX);
            int64_t length = between(&s, 0, keys);
            attest_problem p = {
                .struct_bytes = sizeof p,
                .threads = 1,
                .window_right = -1,
                .window_left = between(&s, -1, 100),
                .features = (draw(&s) & (ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_MASK_BOOL)) |
                            ATTEST_KEY_LENGTHS};
            p.q = p.o = (attest_tensor){.data = q,
                                        .dtype = ATTEST_F32,
                                        .rank = 4,
                                        .shape = {1, 2, rows, D},
                                        .stride = {0, rows * D, D, 1}};
            p.o.data = o;
            p.o.stride[0] = 2 * rows * D;
            p.k = p.v = (attest_tensor){.data = pages,
                                        .dtype = ATTEST_F32,
                                        .rank = 4,
                                        .shape = {1, 1, keys, D},
                                        .stride = {0, 0, PAGE / sizeof(float), 1}};
            p.v.data = pages + keys * PAGE;
            p.key_lengths = (attest_tensor){
                .data = &length, .dtype = ATTEST_I64, .rank = 1, .shape = {1}, .stride = {1}};
            for (int64_t j = 0; j < keys; j++) {
                mask[j] = (unsigned char)one_in(&s, 3);
            }
            if (p.features & ATTEST_MASK_BOOL) {
                p.mask = (attest_tensor){
                    .data = mask, .dtype = ATTEST_BOOL, .rank = 1, .shape = {keys}, .stride = {1}};
            }
            attn_normal normal;
            char message[ATTEST_MESSAGE_BYTES];
            unsigned char visible[KEYS_MAX], seen[KEYS_MAX] = {0};
            assert_int_equal(attn_normalise(&normal, &p, &attn_profile_attest, 0, message), 0);
            for (int64_t i = 0; i < rows; i++) {
                attn_visible_keys(&normal, 0, 0, i, visible);
                for (int64_t j = 0; j < keys; j++) {
                    seen[j] |= visible[j];
                }
            }
            for (int64_t j = 0; j < 2 * keys; j++) {
                assert_int_equal(mprotect(pages + j * PAGE, PAGE,
                                          seen[j % keys] ? PROT_READ | PROT_WRITE : PROT_NONE),
                                 0);
            }
            run(kernels[n], &p);
            assert_int_equal(mprotect(pages, 2 * KEYS_MAX * PAGE, PROT_READ | PROT_WRITE), 0);
        }
    }
    munmap(pages, 2 * KEYS_MAX * PAGE);
}

/* ERR-01, ERR-02, CAP-01, MEM-05: wrong calls are refused with a message and write nothing. */
static void test_refusals(void **state) {
    (void)state;
    for (int n = 0; n < KERNELS; n++) {
        assert_string_equal(kernels[n]->name, names[n]);
        kernel_case c;
        case_make(&c, 5, 0, 1);
        results before = read_results(&c.p);
        char message[ATTEST_MESSAGE_BYTES] = "";
        attest_problem p = c.p;
        p.features |= UINT64_C(1) << 40;
        assert_int_equal(call(kernels[n], &p, message), ATTEST_UNSUPPORTED);
        p = c.p;
        p.reserved[3] = 1;
        assert_int_equal(call(kernels[n], &p, message), ATTEST_UNSUPPORTED);
        p = c.p;
        p.k.shape[3]++;
        assert_int_equal(call(kernels[n], &p, message), ATTEST_INVALID);
        p = c.p;
        p.workspace = NULL;
        p.workspace_bytes = 0;
        assert_int_equal(kernels[n]->forward(&p, message), ATTEST_NO_MEMORY);
        assert_true(strlen(message) > 0);
        results after = read_results(&c.p);
        for (int64_t row = 0; row < before.rows; row++) {
            assert_true(same_rows(&before, row, &after, row));
        }
        drop(before);
        drop(after);
        case_release(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_one_dimension),
        cmocka_unit_test(test_unseen_keys),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, load_kernels, NULL);
}
