/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose.h"

#include <math.h>
#include <stdlib.h>

#include "../vectors/defects.h"
#include "data.h"

enum { MOST_DIAGNOSED = 24 };
#define MOST_WORK (INT64_C(1) << 20) /* multiplications of one evaluation */

static const unsigned char classes[ATTEST_DEFECTS] = {
    [ATTEST_CAUSAL_IGNORED] = 2,
    [ATTEST_CAUSAL_STRICT] = 1,
    [ATTEST_CAUSAL_ONE_MORE] = 1,
    [ATTEST_CORNER_SWAPPED] = 1,
    [ATTEST_OFFSET_IGNORED] = 1,
    [ATTEST_WINDOW_IGNORED] = 2,
    [ATTEST_WINDOW_LEFT_SHORT] = 4,
    [ATTEST_WINDOW_LEFT_LONG] = 4,
    [ATTEST_WINDOW_RIGHT_IGNORED] = 2,
    [ATTEST_WINDOW_NOT_SHIFTED] = 5,
    [ATTEST_LENGTHS_IGNORED] = 2,
    [ATTEST_LENGTH_IS_INDEX] = 4,
    [ATTEST_LENGTH_OF_ENTRY_0] = 7,
    [ATTEST_MASK_DROPPED] = 2,
    [ATTEST_MASK_INVERTED] = 8,
    [ATTEST_MASK_OF_HEAD_0] = 10,
    [ATTEST_MASK_OF_ROW_0] = 10,
    [ATTEST_MASK_OF_ENTRY_0] = 10,
    [ATTEST_MASK_HEADS_ARE_BATCH] = 10,
    [ATTEST_MASK_REPLACES_CAUSAL] = 2,
    [ATTEST_CAUSAL_REPLACES_MASK] = 2,
    [ATTEST_FINITE_FOR_INFINITY] = 14,
    [ATTEST_LARGE_NEGATIVE_HIDES] = 14,
    [ATTEST_MASK_IS_SCALED] = 9,
    [ATTEST_SOFTCAP_IGNORED] = 22,
    [ATTEST_SOFTCAP_AFTER_MASK] = 22,
    [ATTEST_SOFTCAP_CLAMPS] = 22,
    [ATTEST_NO_SCALE] = 24,
    [ATTEST_SCALE_OF_VALUE_SIZE] = 24,
    [ATTEST_SCALE_ZERO_IS_DEFAULT] = 24,
    [ATTEST_SCALE_VALUE_IGNORED] = 24,
    [ATTEST_SCALE_SIGN_LOST] = 24,
    [ATTEST_ALIBI_IGNORED] = 36,
    [ATTEST_ALIBI_NOT_SHIFTED] = 36,
    [ATTEST_ALIBI_BY_KEY] = 36,
    [ATTEST_ALIBI_SIGNED] = 36,
    [ATTEST_LAST_ELEMENT_DROPPED] = 24,
    [ATTEST_FIRST_64_ELEMENTS] = 24,
    [ATTEST_HEADS_TILED] = 26,
    [ATTEST_KV_HEAD_0] = 26,
    [ATTEST_KV_ENTRY_0] = 33,
    [ATTEST_CACHE_AFTER_NEW] = 6,
    [ATTEST_LAYOUT_SWAPPED] = 25,
    [ATTEST_VALUES_ONE_LATE] = 23,
    [ATTEST_LAST_KEY_DROPPED] = 23,
    [ATTEST_TAIL_OF_8_DROPPED] = 23,
    [ATTEST_FIRST_16_KEYS] = 23,
    [ATTEST_FIRST_64_KEYS] = 23,
    [ATTEST_FIRST_128_KEYS] = 23,
    [ATTEST_SINK_IGNORED] = 35,
    [ATTEST_SINK_IS_SCALED] = 35,
    [ATTEST_LSE_WITHOUT_SINK] = 34,
    [ATTEST_LSE_IN_BASE_2] = 34,
    [ATTEST_LSE_WITHOUT_MAXIMUM] = 34,
    [ATTEST_NO_MAXIMUM] = 15,
    [ATTEST_SCORES_CLAMPED] = 15,
    [ATTEST_EXP_COARSE] = 19,
    [ATTEST_WEIGHTS_BF16] = 17,
    [ATTEST_WEIGHTS_F16] = 17,
    [ATTEST_SCORES_F16] = 16,
    [ATTEST_EMPTY_ROW_MEAN] = 12,
    [ATTEST_EMPTY_ROW_NAN] = 12,
    [ATTEST_HIDDEN_TIMES_ZERO] = 20,
    [ATTEST_NAN_SWALLOWED] = 21,
    [ATTEST_SAFE_SOFTMAX] = 21,
    [ATTEST_DENORMALS_FLUSHED] = 18,
};

int attest_defect_class(int defect) {
    return defect >= 0 && defect < ATTEST_DEFECTS ? classes[defect] : 0;
}

static int alike(double a, double b, double tolerance) {
    if (!isfinite(a) || !isfinite(b)) {
        return (isnan(a) && isnan(b)) || a == b;
    }
    return fabs(a - b) <= tolerance;
}

/* The store's own rounding, and a little for the arithmetic: far below what a defect does. */
static double tolerance_of(const attest_bench *bench, double value, const attest_result *result) {
    const attest_dtype type = bench->stage.problem.o.dtype;
    const double part = type == ATTEST_BF16 ? 0x1p-7 : type == ATTEST_F16 ? 0x1p-9 : 0x1p-14;
    return part * (fabs(value) + 0x1p-6) + 2 * result->radius;
}

static int reproduces(const attest_bench *bench, const double *o, const double *lse,
                      const attest_result *result) {
    const attn_normal *n = &bench->normal;
    const attest_problem *p = &bench->stage.problem;
    int64_t row = 0;
    for (int64_t b = 0; b < n->batch; b++) {
        for (int64_t h = 0; h < n->q_heads; h++) {
            for (int64_t i = 0; i < n->queries; i++, row++) {
                for (int64_t c = 0; c < n->value_size; c++) {
                    const double wrong = o[row * n->value_size + c];
                    if (!alike(wrong, attest_get(&p->o, b, h, i, c),
                               tolerance_of(bench, wrong, result))) {
                        return 0;
                    }
                }
                if (p->lse.dtype && !alike(lse[row], attest_get(&p->lse, b, h, i, 0),
                                           0x1p-14 * (fabs(lse[row]) + 1) + 2 * result->radius)) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

int attest_reproduces(const attest_bench *bench, int defect) {
    const attn_normal *n = &bench->normal;
    const int64_t rows = n->batch * n->q_heads * n->queries;
    const attest_defect switched_on = (attest_defect)defect;
    const attest_result exact = {.radius = 0};
    double *o = malloc(((size_t)(rows * n->value_size) + 1) * sizeof *o);
    double *lse = malloc(((size_t)rows + 1) * sizeof *lse);
    const int found = o != NULL && lse != NULL &&
                      attest_defective(n, &switched_on, defect < ATTEST_DEFECTS, o, lse) == 0 &&
                      reproduces(bench, o, lse, &exact);
    free(o);
    free(lse);
    return found;
}

void attest_diagnose(attest_bench *bench, attest_result *result) {
    const attn_normal *n = &bench->normal;
    const int64_t rows = n->batch * n->q_heads * n->queries;
    const int far = !isfinite(result->actual) || !isfinite(result->expected) ||
                    fabs(result->actual - result->expected) >
                        4 * tolerance_of(bench, result->expected, result);
    if (result->verdict != ATTEST_FAIL || !result->has_value || !far ||
        rows * n->keys * (n->head_size + n->value_size) > MOST_WORK ||
        bench->diagnosed++ >= MOST_DIAGNOSED) {
        return;
    }
    double *o = malloc(((size_t)(rows * n->value_size) + 1) * sizeof *o);
    double *lse = malloc(((size_t)rows + 1) * sizeof *lse);
    for (int d = 0; o != NULL && lse != NULL && d < ATTEST_DEFECTS; d++) {
        const attest_defect defect = (attest_defect)d;
        if (attest_defective(n, &defect, 1, o, lse) == 0 && reproduces(bench, o, lse, result)) {
            result->defects[d / 64] |= UINT64_C(1) << d % 64;
        }
    }
    free(o);
    free(lse);
}
