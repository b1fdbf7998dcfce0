/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * K22: strides that put elements past 2^31 and 2^32, in elements and in bytes, over memory of which
 * only a few pages exist. One axis of one tensor a case: attest_huge says which parameters those
 * are.
 */
#include <math.h>

#include "certify/host/workbench.h"
#include "certify/judge/judge.h"
#include "certify/plan/data.h"
#include "certify/plan/plan.h"
#include "certify/worker/slots.h"

/* Three indices along an axis: offsets 2^31 + 64 and 2^32 + 128 elements; and the same in bytes of
 * binary32, where element numbers still fit 32 bits. */
enum { MANY = 100 }; /* parameter 0 where no stride is huge: no slot */

static const int64_t strides[] = {(INT64_C(1) << 31) + 64, (INT64_C(1) << 29) + 16};

static void plan_strides(attest_plan *plan) {
    static const int slots[] = {ATTEST_SLOT_Q, ATTEST_SLOT_K,    ATTEST_SLOT_V,
                                ATTEST_SLOT_O, ATTEST_SLOT_MASK, ATTEST_SLOT_LSE};
    const int axes = attest_plan_by_level(plan, 1, 3, 3, 3);
    for (int s = 0; s < 6; s++) {
        for (int axis = 0; axis < axes; axis++) {
            for (int stride = 0; stride < 2; stride++) {
                attest_case c = attest_plan_case(plan);
                c.batch = c.q_heads = c.kv_heads = c.queries = c.keys = 3;
                c.head_size = c.value_size = 4;
                c.layout = ATTEST_LAYOUT_HUGE;
                attest_plan_scale(plan, &c, 0.25);
                if (slots[s] == ATTEST_SLOT_LSE) {
                    c.features |= ATTEST_LSE;
                } else if (slots[s] == ATTEST_SLOT_MASK) {
                    c.features |= plan->kernel->features & ATTEST_MASK_BOOL ? ATTEST_MASK_BOOL
                                                                            : ATTEST_MASK_ADD;
                    c.mask_type = c.features & ATTEST_MASK_BOOL ? ATTEST_BOOL : c.q_type;
                    c.mask = ATTEST_MASK_RANDOM;
                    c.mask_rank = 4;
                    c.mask_full = 15;
                }
                c.parameter[ATTEST_HUGE_SLOT] = slots[s];
                c.parameter[ATTEST_HUGE_AXIS] = slots[s] == ATTEST_SLOT_MASK ? axis + 1 : axis;
                c.parameter[ATTEST_HUGE_STRIDE] = strides[stride];
                attest_plan_add(plan, &c);
            }
        }
    }
}

/* Counts past 2^16: rows in all, and queries alone. With one key a row is the value itself. */
static void plan_many(attest_plan *plan) {
    static const int64_t shapes[][3] = {{2, 33, 1001}, {1, 1, 65543}};
    for (int s = 0; s < 2; s++) {
        attest_case c = attest_plan_case(plan);
        c.batch = shapes[s][0];
        c.q_heads = c.kv_heads = shapes[s][1];
        c.queries = shapes[s][2];
        c.keys = c.head_size = c.value_size = 1;
        attest_plan_scale(plan, &c, 0.25);
        c.parameter[0] = MANY;
        attest_plan_add(plan, &c);
    }
}

static void plan(attest_plan *plan) {
    plan_strides(plan);
    plan_many(plan);
}

static void judge_many(attest_workbench *bench, attest_result *result) {
    const attest_problem *p = &bench->stage.problem;
    const int64_t *n = p->o.shape;
    for (int64_t row = 0; row < n[0] * n[1] * n[2]; row++) {
        const int64_t b = row / (n[1] * n[2]), h = row / n[2] % n[1], i = row % n[2];
        const double right = attest_get(&p->v, b, h, 0, 0), got = attest_get(&p->o, b, h, i, 0);
        if (!(fabs(got - right) <= 0x1p-6)) { /* the data are multiples of 1/8 */
            attest_result_bad(result, ATTEST_FAIL, "MEM-06", CLASS_INDEX_OVERFLOW,
                              "row %lld of %lld is not the value of its only key", (long long)row,
                              (long long)(n[0] * n[1] * n[2]));
            return;
        }
    }
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    if (c->parameter[0] == MANY) {
        attest_ids_add(&result->ids, "MEM-06");
        if (attest_workbench_build(bench, c, result) &&
            attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
            judge_many(bench, result);
        }
        return;
    }
    attest_ids_add(&result->ids, "MEM-07");
    if (attest_workbench_build(bench, c, result) &&
        attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
        attest_judge(bench, 0, result);
    }
    if (attest_verdict_is_bad(result->verdict) && result->verdict != ATTEST_ERROR) {
        result->bug_class = CLASS_INDEX_OVERFLOW;
        result->broken = attest_requirement_index("MEM-07");
    }
}

const attest_check attest_check_huge = {
    .name = "huge",
    .sentence = "Offsets past 2^31 and 2^32, in elements and in bytes, reach the right element; so "
                "do more than 2^16 rows.",
    .requirements = "MEM-06 MEM-07",
    .classes = {CLASS_INDEX_OVERFLOW},
    .catalogue = "K22",
    .structural = 0,
    .plan = plan,
    .run = run,
};
