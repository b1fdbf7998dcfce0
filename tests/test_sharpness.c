/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A radius that is too large sees nothing. For each model two constructions drive the emulator with
 * the worst signs as close to the radius as they can: "peak" (one key carries the row and is first
 * in every sum) and "scores" (values of both signs, every error in the products q.k). At 64 keys
 * the better of the two must come within a factor of four, and the same emulator with one kind of
 * operation at four times its error must be outside.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "reference/oracle/oracle.h"
#include "reference/problem/convert.h"
#include "tests/support/emulator.h"

typedef enum construction { PEAK, SCORES, CONSTRUCTIONS } construction;
static const char *const construction_name[] = {"peak", "scores"};

/* One row of n keys of size d, one value a key. */
typedef struct single_row {
    attest_problem problem;
    attn_normal normal;
    void *block[5];
} single_row;

static attest_dtype storage_of(const attn_model *model) {
    if (model->operand.u == attn_format_bf16.u) {
        return ATTEST_BF16;
    }
    if (model->operand.eta == attn_format_f16.eta) {
        return ATTEST_F16;
    }
    return model->operand.u == attn_format_f64.u ? ATTEST_F64 : ATTEST_F32;
}

static attest_tensor dense(single_row *row, int slot, attest_dtype dtype, uint32_t rank,
                           int64_t rows, int64_t columns) {
    attest_tensor tensor = {.dtype = dtype, .rank = rank};
    for (uint32_t axis = 0; axis < rank; axis++) {
        tensor.shape[axis] = axis + 1 == rank ? columns : axis + 2 == rank ? rows : 1;
        tensor.stride[axis] = axis + 1 == rank ? 1 : columns * (axis + 2 == rank ? 1 : rows);
    }
    row->block[slot] = tensor.data = calloc((size_t)(rows * columns), 8);
    assert_non_null(tensor.data);
    return tensor;
}

static void put(attest_tensor *tensor, int64_t n, double value) {
    attn_store(tensor->dtype, (char *)tensor->data + n * attn_dtype_bytes(tensor->dtype), value);
}

static void build(single_row *row, const attn_model *model, construction kind, int64_t n,
                  int64_t d) {
    char message[ATTEST_MESSAGE_BYTES];
    attest_dtype type = storage_of(model), wide = type == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    attest_problem *p = &row->problem;
    *p = (attest_problem){.struct_bytes = sizeof *p, .threads = 1, .scale = 1};
    p->features = ATTEST_SCALE | (kind == PEAK ? ATTEST_MASK_ADD : 0);
    p->q = dense(row, 0, type, 4, 1, d);
    p->k = dense(row, 1, type, 4, n, d);
    p->v = dense(row, 2, type, 4, n, 1);
    p->o = dense(row, 3, wide, 4, 1, 1);
    row->block[4] = NULL;
    if (kind == PEAK) {
        p->mask = dense(row, 4, wide, 1, 1, n);
    }
    for (int64_t j = 0; j < n; j++) {
        if (kind == PEAK) { /* exp(-16) is above the f16 denormals and adds up to little */
            put(&p->mask, j, j == 0 ? 0 : -16);
        }
        put(&p->v, j, kind == SCORES && j >= n / 2 && n > 1 ? -1 : 1);
        for (int64_t c = 0; kind == SCORES && c < d; c++) { /* the first product is all of it */
            put(&p->k, j * d + c, c == 0 ? 4 : 0x1p-10);
        }
    }
    for (int64_t c = 0; kind == SCORES && c < d; c++) {
        put(&p->q, c, c == 0 ? 1 : 0x1p-10);
    }
    assert_int_equal(attn_normalise(&row->normal, p, &attn_profile_attest, 0, message), ATTEST_OK);
}

static void discard(single_row *row) {
    for (int slot = 0; slot < 5; slot++) {
        free(row->block[slot]);
    }
}

/* The largest distance from the centre in a few attempts, in parts of the radius. */
static double reach(const single_row *row, const attn_model *model, const attn_enclosure *exact,
                    emulator_operation faulty) {
    random_source source = {7};
    emulator attacker = {.model = model,
                         .source = &source,
                         .mode = EMULATE_WORST,
                         .faulty = faulty,
                         .fault = 4,
                         .plain_order = 1};
    double best = 0;
    for (int attempt = 0; attempt < 12; attempt++) {
        emulator_target target = {0, attempt % 2 ? 1 : -1, exact->high};
        long double o, lse;
        emulate_row(&attacker, &row->normal, 0, 0, 0, &target, &o, &lse);
        long double distance = fabsl((o - (long double)exact->high) - (long double)exact->low);
        double ratio = (double)distance / exact->radius;
        best = ratio > best ? ratio : best;
    }
    return best;
}

typedef struct finding {
    double ratio; /* of the better construction */
    construction kind;
    double faulty_ratio; /* with the most harmful operation at 4u */
    emulator_operation faulty;
} finding;

static finding measure(const attn_model *model, int64_t n, int64_t d) {
    char message[ATTEST_MESSAGE_BYTES];
    finding best = {0};
    for (int kind = 0; kind < CONSTRUCTIONS; kind++) {
        single_row row;
        attn_enclosure exact;
        build(&row, model, (construction)kind, n, d);
        assert_int_equal(attn_oracle(&row.normal, model, 1, &exact, NULL, message), ATTEST_OK);
        double ratio = exact.kind == ATTN_FINITE ? reach(&row, model, &exact, NO_OPERATION) : 0;
        if (ratio > best.ratio) {
            best = (finding){.ratio = ratio, .kind = (construction)kind};
            for (int faulty = 1; faulty < EMULATOR_OPERATIONS; faulty++) {
                double worse = reach(&row, model, &exact, (emulator_operation)faulty);
                if (worse > best.faulty_ratio) {
                    best.faulty_ratio = worse;
                    best.faulty = (emulator_operation)faulty;
                }
            }
        }
        discard(&row);
    }
    return best;
}

static void comes_close(void **state) {
    static const int64_t keys[] = {1, 8, 64, 256}, sizes[] = {1, 16, 64};
    const attn_model *model = *state;
    for (size_t a = 0; a < sizeof keys / sizeof keys[0]; a++) {
        for (size_t b = 0; b < sizeof sizes / sizeof sizes[0]; b++) {
            finding f = measure(model, keys[a], sizes[b]);
            print_message("%-12s n %4lld  D %3lld  %.3f of the radius (%s), %.3f with %s at 4u\n",
                          model->name, (long long)keys[a], (long long)sizes[b], f.ratio,
                          construction_name[f.kind], f.faulty_ratio,
                          emulator_operation_name[f.faulty]);
            assert_true(f.ratio <= 1 + 0x1p-9);
            if (keys[a] == 64) {
                assert_true(f.ratio >= 0.25);
                assert_true(f.faulty_ratio > 1);
            }
        }
    }
}

int main(void) {
    struct CMUnitTest tests[16];
    static char names[16][64];
    size_t count = 0;
    for (; attn_model_name((int)count); count++) {
        const char *name = attn_model_name((int)count);
        snprintf(names[count], sizeof names[count], "NUM-01 sharp: %s", name);
        tests[count] = (struct CMUnitTest){names[count], comes_close, NULL, NULL,
                                           (void *)(uintptr_t)attn_model_find(name)};
    }
    return _cmocka_run_group_tests("sharpness", tests, count, NULL, NULL);
}
