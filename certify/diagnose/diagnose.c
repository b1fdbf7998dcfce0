/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/diagnose/diagnose.h"

#include <math.h>
#include <stdlib.h>

#include "certify/diagnose/explanation.h"
#include "certify/diagnose/variants.h"
#include "certify/plan/data.h"

#define MOST_WORK (INT64_C(1) << 18) /* multiplications of one evaluation */

static int alike(double a, double b, double tolerance) {
    if (!isfinite(a) || !isfinite(b)) {
        return (isnan(a) && isnan(b)) || a == b;
    }
    return fabs(a - b) <= tolerance;
}

/* The store's own rounding, and a little for the arithmetic: far below what a defect does. */
static double tolerance_of(const attest_workbench *bench, double value,
                           const attest_result *result) {
    const attest_dtype type = bench->stage.problem.o.dtype;
    const double part = type == ATTEST_BF16 ? 0x1p-7 : type == ATTEST_F16 ? 0x1p-9 : 0x1p-14;
    return part * (fabs(value) + 0x1p-6) + 2 * result->radius;
}

static int reproduces(const attest_workbench *bench, const double *o, const double *lse,
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

int attest_reproduces(const attest_workbench *bench, int defect) {
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

static void diagnose_outputs(attest_workbench *bench, attest_result *result) {
    const attn_normal *n = &bench->normal;
    const int64_t rows = n->batch * n->q_heads * n->queries;
    const int far =
        !isfinite(result->actual) || !isfinite(result->expected) ||
        fabs(result->actual - result->expected) > 4 * tolerance_of(bench, result->expected, result);
    if (!result->has_value || !far || rows * n->keys * (n->head_size + n->value_size) > MOST_WORK) {
        return;
    }
    double *o = malloc(((size_t)(rows * n->value_size) + 1) * sizeof *o);
    double *lse = malloc(((size_t)rows + 1) * sizeof *lse);
    result->examined = 1;
    for (int k = 0; o != NULL && lse != NULL && k < attest_known_count(); k++) {
        attest_variant_problem space;
        attest_defect defect;
        size_t count;
        const attn_normal *other = attest_known_problem(k, n, &space, &defect, &count);
        if (other != NULL && attest_defective(other, &defect, count, o, lse) == 0 &&
            reproduces(bench, o, lse, result)) {
            result->defects[k / 64] |= UINT64_C(1) << k % 64;
        }
    }
    free(o);
    free(lse);
}

static void diagnose_mask(attest_workbench *bench, const unsigned char *used,
                          attest_result *result) {
    const attn_normal *n = &bench->normal;
    const int64_t cells = n->batch * n->q_heads * n->queries * n->keys;
    if (cells * n->head_size > MOST_WORK) {
        return;
    }
    double *score = malloc(((size_t)cells + 1) * sizeof *score);
    result->examined = 1;
    for (int k = 0; score != NULL && k < attest_known_count(); k++) {
        attest_variant_problem space;
        attest_defect defect;
        size_t count;
        const attn_normal *other = attest_known_problem(k, n, &space, &defect, &count);
        int same = other != NULL &&
                   attest_defective_scores(other, &defect, count, ATTEST_STAGE_BIASED, score) == 0;
        for (int64_t at = 0; same && at < cells; at++) { /* exp(-1e3) is 0 in every type */
            same = used[at] == (score[at] > -1e3);
        }
        result->defects[k / 64] |= same ? UINT64_C(1) << k % 64 : 0;
    }
    free(score);
}

void attest_diagnose(attest_workbench *bench, const unsigned char *used, attest_result *result) {
    if (used != NULL) {
        diagnose_mask(bench, used, result);
        attest_explain_mask(bench, used, result);
    } else {
        diagnose_outputs(bench, result);
        attest_explain_outputs(bench, result);
    }
}
