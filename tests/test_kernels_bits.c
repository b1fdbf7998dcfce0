/* SPDX-License-Identifier: Apache-2.0 */
/* The bundled kernels against themselves, bit for bit: determinism and isolation. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/kernel_calls.h"

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
            case_make(&c, seed ^ 0xabcd, takes_wide(kernels[n]),
                      seed % 20 == 0  ? 2
                      : seed % 4 == 1 ? 3
                                      : 1);
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
                part.offsets = (attest_tensor){
                    .data = &offset, .dtype = ATTEST_I64, .rank = 1, .shape = {1}, .stride = {1}};
                run(kernels[n], &part);
                results piece = read_results(&part);
                for (int64_t row = 0; row < piece.rows; row++) {
                    assert_true(
                        same_rows(&whole, row / count * rows + i + row % count, &piece, row));
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
            case_make(&c, seed ^ 0x5e75, 1, seed % 20 == 0 ? 2 : seed % 4 == 1 ? 3 : 1);
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

/* ISO-02: row 0 sums to a zero that underflow made negative; the sign of a value that only row 1
 * sees must not reach it, though its weight of 0 times it is a zero of that sign. Only fused sums
 * can underflow so. */
static void test_sign_of_zero(void **state) {
    (void)state;
    float q[2] = {1, 1}, k[3] = {0, -2, 0}, v[3] = {0, -0x1p-149f, 1}, o[2][2];
    unsigned char mask[6] = {1, 1, 0, 1, 1, 1};
    for (int n = 0; n < KERNELS; n++) {
        for (int sign = 0; sign < 2; sign++) {
            attest_problem p = {.struct_bytes = sizeof p,
                                .threads = 1,
                                .features = ATTEST_MASK_BOOL,
                                .q = {q, {1, 1, 2, 1}, {2, 2, 1, 1}, ATTEST_F32, 4},
                                .k = {k, {1, 1, 3, 1}, {3, 3, 1, 1}, ATTEST_F32, 4},
                                .mask = {mask, {2, 3}, {3, 1}, ATTEST_BOOL, 2}};
            v[2] = sign ? -1.0f : 1.0f;
            p.v = p.k;
            p.v.data = v;
            p.o = p.q;
            p.o.data = o[sign];
            run(kernels[n], &p);
        }
        assert_true(same((double)o[0][0], (double)o[1][0]));
        assert_true(o[0][1] > 0 && o[1][1] < 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_and_batch), cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_instruction_sets),  cmocka_unit_test(test_isolation),
        cmocka_unit_test(test_sign_of_zero),
    };
    return cmocka_run_group_tests(tests, load_kernels, NULL);
}
