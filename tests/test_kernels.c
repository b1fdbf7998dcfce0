/* SPDX-License-Identifier: Apache-2.0 */
/* The bundled kernels against the reference in binary64, and against themselves bit for bit. */
#define _DEFAULT_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "forward.h"
#include "kernel_case.h"

typedef const attest_kernel *(*entry_fn)(uint32_t);

static const char *const names[] = {"naive", "tiled", "flash64", "flash"};
enum { CASES = 240 };
enum { KERNELS = sizeof names / sizeof names[0] };
static const attest_kernel *kernels[KERNELS];

static int load_kernels(void **state) {
    (void)state;
    const char *build = getenv("BUILD");
    for (int n = 0; n < KERNELS; n++) {
        char path[512];
        snprintf(path, sizeof path, "%s/impl/lib%s.so", build ? build : "build/default", names[n]);
        void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!object) {
            print_error("%s\n", dlerror());
            return -1;
        }
        entry_fn entry;
        *(void **)&entry = dlsym(object, "attest_kernel_v1");
        kernels[n] = entry(ATTEST_ABI_VERSION);
    }
    return 0;
}

static int takes_wide(const attest_kernel *k) { return (k->dtypes >> ATTEST_F64 & 1) != 0; }

/* Calls a kernel with a workspace of exactly what it asks for, full of NaN. */
static attest_status call(const attest_kernel *k, attest_problem *p, char *message) {
    p->workspace_bytes = k->workspace_bytes ? k->workspace_bytes(p) : 0;
    size_t padded = (p->workspace_bytes + 63) / 64 * 64;
    p->workspace = padded ? aligned_alloc(64, padded) : NULL;
    if (padded) {
        memset(p->workspace, 0xff, padded);
    }
    attest_status status = k->forward(p, message);
    free(p->workspace);
    p->workspace = NULL;
    return status;
}

static void run(const attest_kernel *k, attest_problem *p) {
    char message[ATTEST_MESSAGE_BYTES] = "";
    if (call(k, p, message) != ATTEST_OK) {
        fail_msg("%s: %s", k->name, message);
    }
}

typedef struct results {
    double *o, *lse;
    int64_t rows, size;
} results;

static results read_results(const attest_problem *p) {
    int64_t rows = p->q.shape[0] * p->q.shape[1] * p->q.shape[2], size = p->o.shape[3];
    results r = {.rows = rows, .size = size};
    r.o = calloc((size_t)(rows * size + 1), sizeof(double));
    r.lse = calloc((size_t)rows + 1, sizeof(double));
    for (int64_t n = 0; n < rows; n++) {
        int64_t at[4] = {n / p->q.shape[2] / p->q.shape[1], n / p->q.shape[2] % p->q.shape[1],
                         n % p->q.shape[2], 0};
        if (p->features & ATTEST_LSE) {
            r.lse[n] = attn_load(p->lse.dtype, attn_element(&p->lse, at));
        }
        for (at[3] = 0; at[3] < size; at[3]++) {
            r.o[n * size + at[3]] = attn_load(p->o.dtype, attn_element(&p->o, at));
        }
    }
    return r;
}

static void drop(results r) {
    free(r.o);
    free(r.lse);
}

static int same(double a, double b) {
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static int same_rows(const results *a, int64_t a_row, const results *b, int64_t b_row) {
    int equal = same(a->lse[a_row], b->lse[b_row]);
    for (int64_t c = 0; c < a->size; c++) {
        equal &= same(a->o[a_row * a->size + c], b->o[b_row * a->size + c]);
    }
    return equal;
}

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
    wide.o = (attest_tensor){.data = buffer, .dtype = ATTEST_F64, .rank = 4,
                             .shape = {p->o.shape[0], p->o.shape[1], p->o.shape[2], size},
                             .stride = {p->o.shape[1] * p->o.shape[2] * size,
                                        p->o.shape[2] * size, size, 1}};
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

/* NUM-01, MEM-02, MEM-03, MEM-06: close to binary64; gaps in outputs and inputs keep their bytes. */
static void test_against_reference(void **state) {
    (void)state;
    for (int n = 0; n < KERNELS; n++) {
        for (uint64_t seed = 0; seed < CASES; seed++) {
            kernel_case c, again;
            int size = seed % 40 == 0 ? 2 : seed % 2 == 0;
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

/* The part of a problem from batch entry b on, or from query i on, as views. */
static attest_tensor from_axis(attest_tensor t, uint32_t axis, int64_t start, int64_t count) {
    if (t.rank > axis && t.dtype != 0 && t.shape[axis] > 0) {
        t.data = (char *)t.data + start * t.stride[axis] * attn_dtype_bytes(t.dtype);
        t.shape[axis] = count;
    }
    return t;
}

static attest_tensor mask_part(attest_tensor t, uint32_t full_axis, int64_t start, int64_t count) {
    uint32_t missing = ATTEST_MAX_RANK - t.rank;
    if (t.dtype == 0 || full_axis < missing || t.shape[full_axis - missing] == 1) {
        return t;
    }
    return from_axis(t, full_axis - missing, start, count);
}

static attest_problem one_entry(const attest_problem *p, int64_t b) {
    attest_problem part = *p;
    part.q = from_axis(p->q, 0, b, 1);
    part.k = from_axis(p->k, 0, b, 1);
    part.v = from_axis(p->v, 0, b, 1);
    part.o = from_axis(p->o, 0, b, 1);
    part.lse = from_axis(p->lse, 0, b, 1);
    part.key_lengths = from_axis(p->key_lengths, 0, b, 1);
    part.offsets = from_axis(p->offsets, 0, b, 1);
    part.slopes = p->slopes.rank == 2 ? from_axis(p->slopes, 0, b, 1) : p->slopes;
    part.mask = mask_part(p->mask, 0, b, 1);
    return part;
}

/* DET-01..05: bits do not depend on threads, repetition, or the other entries of the batch. */
static void test_threads_and_batch(void **state) {
    (void)state;
    for (int n = 0; n < KERNELS; n++) {
        for (uint64_t seed = 0; seed < CASES / 4; seed++) {
            kernel_case c;
            case_make(&c, seed ^ 0xabcd, takes_wide(kernels[n]), seed % 20 == 0 ? 2 : 1);
            run(kernels[n], &c.p);
            results once = read_results(&c.p);
            for (int32_t threads = 1; threads <= 5; threads += 2) {
                c.p.threads = threads;
                run(kernels[n], &c.p);
                results again = read_results(&c.p);
                for (int64_t row = 0; row < once.rows; row++) {
                    assert_true(same_rows(&once, row, &again, row));
                }
                drop(again);
            }
            for (int64_t b = 0; b < c.p.q.shape[0]; b++) {
                attest_problem part = one_entry(&c.p, b);
                run(kernels[n], &part);
                results alone = read_results(&part);
                for (int64_t row = 0; row < alone.rows; row++) {
                    assert_true(same_rows(&once, b * alone.rows + row, &alone, row));
                }
                drop(alone);
            }
            drop(once);
            case_release(&c);
        }
    }
}

/* DET-06, DET-07: one query at a time, with the offset moved along, gives the same bits. */
static void test_chunks(void **state) {
    (void)state;
    for (int n = 0; n < KERNELS; n++) {
        for (uint64_t seed = 0; seed < CASES / 8; seed++) {
            kernel_case c;
            case_make(&c, seed ^ 0x77aa, takes_wide(kernels[n]), 1);
            if (c.p.q.shape[0] == 0 || c.p.q.shape[2] == 0) {
                case_release(&c);
                continue;
            }
            attn_normal normal;
            char message[ATTEST_MESSAGE_BYTES];
            run(kernels[n], &c.p);
            results whole = read_results(&c.p);
            assert_int_equal(attn_normalise(&normal, &c.p, &attn_profile_attest, 0, message), 0);
            int64_t rows = c.p.q.shape[2], step = between(&c.seed, 1, 40), offset;
            for (int64_t i = 0; i < rows; i += step) {
                int64_t count = i + step < rows ? step : rows - i;
                attest_problem part = one_entry(&c.p, 0);
                part.q = from_axis(part.q, 2, i, count);
                part.o = from_axis(part.o, 2, i, count);
                part.lse = from_axis(part.lse, 2, i, count);
                part.mask = mask_part(part.mask, 2, i, count);
                offset = attn_offset(&normal, 0) + i;
                if (offset > ATTN_MAX_OFFSET) {
                    break;
                }
                part.features |= ATTEST_OFFSETS;
                part.offsets = (attest_tensor){.data = &offset, .dtype = ATTEST_I64, .rank = 1,
                                               .shape = {1}, .stride = {1}};
                run(kernels[n], &part);
                results piece = read_results(&part);
                for (int64_t row = 0; row < piece.rows; row++) {
                    assert_true(same_rows(&whole, row / count * rows + i + row % count, &piece,
                                          row));
                }
                drop(piece);
            }
            drop(whole);
            case_release(&c);
        }
    }
}

/* flash: whichever micro-kernels run, the bits are those of the portable twins. */
static void test_instruction_sets(void **state) {
    (void)state;
    const char *const sets[] = {"none", "avx2", "avx512", "neon"};
    for (uint64_t seed = 0; seed < CASES / 4; seed++) {
        results first = {0};
        for (int n = 0; n < 4; n++) {
            kernel_case c;
            case_make(&c, seed ^ 0x5e75, 1, seed % 20 == 0 ? 2 : 1);
            setenv("ATTEST_SIMD", sets[n], 1);
            run(kernels[KERNELS - 1], &c.p);
            results now = read_results(&c.p);
            for (int64_t row = 0; n > 0 && row < now.rows; row++) {
                assert_true(same_rows(&first, row, &now, row));
            }
            if (n == 0) {
                first = now;
            } else {
                drop(now);
            }
            case_release(&c);
        }
        drop(first);
    }
    unsetenv("ATTEST_SIMD");
}

static void poison(const attest_tensor *t, int64_t b, int64_t h, int64_t s, uint64_t *seed) {
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e30, 0.0, -0.0};
    for (int64_t c = 0; c < t->shape[3]; c++) {
        const int64_t at[4] = {b, h, s, c};
        attn_store(t->dtype, (void *)(uintptr_t)attn_element(t, at), bad[between(seed, 0, 5)]);
    }
}

static int has_zero_stride(const attest_tensor *t) {
    return t->stride[0] == 0 || t->stride[1] == 0 || t->stride[2] == 0;
}

/* ISO-01..07: whatever stands in what a row does not see, its bits stay. */
static void test_isolation(void **state) {
    (void)state;
    for (int n = 0; n < KERNELS; n++) {
        for (uint64_t seed = 0; seed < CASES / 2; seed++) {
            kernel_case c;
            case_make(&c, seed ^ 0x1350, takes_wide(kernels[n]), seed % 4 != 0);
            const int64_t *shape = c.p.q.shape;
            if (shape[0] * shape[1] * shape[2] == 0 || has_zero_stride(&c.p.q) ||
                has_zero_stride(&c.p.k) || has_zero_stride(&c.p.v)) {
                case_release(&c);
                continue;
            }
            attn_normal normal;
            char message[ATTEST_MESSAGE_BYTES];
            run(kernels[n], &c.p);
            results clean = read_results(&c.p);
            assert_int_equal(attn_normalise(&normal, &c.p, &attn_profile_attest, 0, message), 0);
            int64_t row = between(&c.seed, 0, clean.rows - 1), keys = c.p.k.shape[2];
            int64_t b = row / shape[2] / shape[1], h = row / shape[2] % shape[1];
            unsigned char *visible = malloc((size_t)keys + 1);
            attn_visible_keys(&normal, b, h, row % shape[2], visible);
            for (int64_t r = 0; r < clean.rows; r++) {
                if (r != row) {
                    poison(&c.p.q, r / shape[2] / shape[1], r / shape[2] % shape[1], r % shape[2],
                           &c.seed);
                }
            }
            for (int64_t r = 0; r < shape[0] * c.p.k.shape[1] * keys; r++) {
                int64_t kb = r / keys / c.p.k.shape[1], kh = r / keys % c.p.k.shape[1];
                if (kb != b || kh != attn_kv_head(&normal, h) || !visible[r % keys]) {
                    poison(&c.p.k, kb, kh, r % keys, &c.seed);
                    poison(&c.p.v, kb, kh, r % keys, &c.seed);
                }
            }
            run(kernels[n], &c.p);
            results dirty = read_results(&c.p);
            if (!same_rows(&clean, row, &dirty, row)) {
                fail_msg("%s, case %llu: row %lld changed", kernels[n]->name,
                         (unsigned long long)seed, (long long)row);
            }
            drop(clean);
            drop(dirty);
            free(visible);
            case_release(&c);
        }
    }
}

/* MEM-04: each key on a page of its own; the pages of keys that no row sees cannot be read. */
static void test_unseen_keys(void **state) {
    (void)state;
    enum { PAGE = 4096, KEYS_MAX = 250, D = 24, ROWS_MAX = 70 };
    static float q[2][ROWS_MAX * D], o[2][ROWS_MAX * D];
    unsigned char mask[KEYS_MAX];
    char *pages = mmap(NULL, 2 * KEYS_MAX * PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    for (int n = 0; n < KERNELS; n++) {
        for (uint64_t seed = 1; seed < 60; seed++) {
            uint64_t s = seed;
            int64_t keys = between(&s, 1, KEYS_MAX), rows = between(&s, 1, ROWS_MAX);
            int64_t length = between(&s, 0, keys);
            attest_problem p = {
                .struct_bytes = sizeof p, .threads = 1, .window_right = -1,
                .window_left = between(&s, -1, 100),
                .features = (draw(&s) & (ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_MASK_BOOL)) |
                            ATTEST_KEY_LENGTHS};
            p.q = p.o = (attest_tensor){.data = q, .dtype = ATTEST_F32, .rank = 4,
                                        .shape = {1, 2, rows, D}, .stride = {0, rows * D, D, 1}};
            p.o.data = o;
            p.o.stride[0] = 2 * rows * D;
            p.k = p.v = (attest_tensor){.data = pages, .dtype = ATTEST_F32, .rank = 4,
                                        .shape = {1, 1, keys, D},
                                        .stride = {0, 0, PAGE / sizeof(float), 1}};
            p.v.data = pages + keys * PAGE;
            p.key_lengths = (attest_tensor){.data = &length, .dtype = ATTEST_I64, .rank = 1,
                                            .shape = {1}, .stride = {1}};
            for (int64_t j = 0; j < keys; j++) {
                mask[j] = (unsigned char)one_in(&s, 3);
            }
            if (p.features & ATTEST_MASK_BOOL) {
                p.mask = (attest_tensor){.data = mask, .dtype = ATTEST_BOOL, .rank = 1,
                                         .shape = {keys}, .stride = {1}};
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
                                          seen[j % keys] ? PROT_READ | PROT_WRITE : PROT_NONE), 0);
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
        cmocka_unit_test(test_against_reference), cmocka_unit_test(test_threads_and_batch),
        cmocka_unit_test(test_chunks),            cmocka_unit_test(test_isolation),
        cmocka_unit_test(test_unseen_keys),       cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_instruction_sets),
    };
    return cmocka_run_group_tests(tests, load_kernels, NULL);
}
