/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * K14: every small length of every axis, and landmarks beyond. A bug that needs a length of 5 mod
 * 48 or head 11 of 13 has nowhere to hide below the limits; above them, unit vectors on the last
 * keys show a lost tail where a radius over thousands of keys would not. Parameter 0 is the axis
 * swept.
 */
#include "certify/host/workbench.h"
#include "certify/judge/judge.h"
#include "certify/plan/space.h"

/* The first six as in boundary.h. */
typedef enum axis { KEYS, QUERIES, HEAD_SIZE, VALUE_SIZE, HEADS, BATCH, FAR_KEYS, AXES } axis;

static const int bug_classes[AXES] = {
    [KEYS] = CLASS_TAIL,           [QUERIES] = CLASS_TAIL,
    [HEAD_SIZE] = CLASS_HEAD_SIZE, [VALUE_SIZE] = CLASS_HEAD_SIZE,
    [HEADS] = CLASS_KV_HEAD,       [BATCH] = CLASS_NEIGHBOURS,
    [FAR_KEYS] = CLASS_TAIL,
};

static attest_case base_case(const attest_plan *plan, axis swept, int64_t length) {
    attest_case c = attest_plan_case(plan);
    const int64_t limit = plan->kernel->max_head_size;
    c.parameter[0] = swept;
    c.queries = 2;
    c.keys = 20;
    c.head_size = c.value_size = limit > 0 && limit < 8 ? limit : 8;
    c.v = ATTEST_RECIPE_COARSE;
    attest_plan_scale(plan, &c, 0.25);
    if (length % 2 == 0) { /* both code paths of a kernel that has two */
        c.features |= plan->kernel->features & (ATTEST_CAUSAL | ATTEST_LSE);
    }
    return c;
}

static void plan_length(attest_plan *plan, axis swept, int64_t length) {
    attest_case c = base_case(plan, swept, length);
    switch (swept) {
    case KEYS:
        c.keys = length;
        c.queries = 1 + length % 3;
        c.v = ATTEST_RECIPE_UNIT;
        c.base = length > c.value_size ? length - c.value_size : 0;
        break;
    case QUERIES:
        c.queries = length;
        break;
    case HEAD_SIZE:
        c.head_size = c.value_size = length;
        break;
    case VALUE_SIZE:
        c.value_size = length;
        break;
    case HEADS:
        c.q_heads = length;
        c.kv_heads = length % 3 == 0 ? length / 3 : length % 2 == 0 ? length / 2 : length;
        c.keys = 5;
        break;
    default:
        c.batch = length;
        c.keys = 5;
        break;
    }
    attest_plan_add(plan, &c);
    if (swept == HEADS && length > 1) {
        c.kv_heads = 1;
        attest_plan_add(plan, &c);
    }
}

static void sweep(attest_plan *plan, axis swept, int64_t last) {
    for (int64_t length = 1; length <= last; length++) {
        plan_length(plan, swept, length);
    }
}

/* A unit vector at the end, in the middle and at the start: every third of a long row is probed. */
static void plan_thirds(attest_plan *plan, int64_t keys, int number) {
    for (int third = 0; third < 3; third++) {
        attest_case c = base_case(plan, FAR_KEYS, number);
        c.keys = keys;
        c.v = ATTEST_RECIPE_UNIT;
        c.base = third == 0 ? c.keys - c.value_size : third == 1 ? c.keys / 2 : 0;
        attest_plan_add(plan, &c);
    }
}

static void plan_far(attest_plan *plan) {
    static const int64_t far[] = {288,  320,  384,  511,  512,  513,  577,  640,  701, 768,
                                  1000, 1023, 1024, 1025, 1537, 2047, 2048, 2049, 4097};
    const int count = attest_plan_by_level(plan, 6, 19, 19, 19);
    for (int i = 0; i < count; i++) {
        plan_thirds(plan, far[i], i);
    }
}

/* Lengths at which this very kernel takes another path. */
static void plan_boundaries(attest_plan *plan) {
    int64_t lengths[64];
    for (int a = 0; a < ATTEST_AXES; a++) {
        const int count = attest_boundary_lengths(plan->boundaries, (attest_axis)a, lengths, 64);
        for (int i = 0; i < count; i++) {
            plan_length(plan, (axis)a, lengths[i]);
            if (a == ATTEST_AXIS_KEYS && lengths[i] > 64) {
                plan_thirds(plan, lengths[i], i);
            }
        }
    }
}

static void plan(attest_plan *plan) {
    sweep(plan, KEYS, attest_plan_by_level(plan, 70, 264, 700, 1100));
    sweep(plan, QUERIES, attest_plan_by_level(plan, 20, 136, 300, 600));
    sweep(plan, HEAD_SIZE, attest_plan_by_level(plan, 20, 136, 264, 300));
    sweep(plan, VALUE_SIZE, attest_plan_by_level(plan, 12, 136, 264, 300));
    sweep(plan, HEADS, attest_plan_by_level(plan, 13, 33, 66, 130));
    sweep(plan, BATCH, attest_plan_by_level(plan, 4, 33, 66, 130));
    plan_far(plan);
    plan_boundaries(plan);
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    attest_space_ids(c, &result->ids);
    attest_ids_add(&result->ids, "SEM-06 SEM-07 NUM-01");
    if (attest_workbench_build(bench, c, result) &&
        attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
        attest_judge(bench, INT64_C(1) << 20, result);
        if (result->verdict == ATTEST_FAIL && c->parameter[0] >= 0 && c->parameter[0] < AXES) {
            result->bug_class = bug_classes[c->parameter[0]];
        }
    }
}

const attest_check attest_check_sizes = {
    .name = "sizes",
    .sentence = "Every small length of every axis, and landmarks of long rows.",
    .requirements = "SEM-01 SEM-02 SEM-06 SEM-07 SEM-10 SEM-11 SEM-13 MASK-01 MASK-04 MASK-09 "
                    "NUM-01 NUM-05 SPV-08",
    .classes = {CLASS_WINDOW_LOOP, CLASS_TAIL, CLASS_HEAD_SIZE, CLASS_KV_HEAD, CLASS_NEIGHBOURS},
    .catalogue = "K14",
    .structural = 0,
    .plan = plan,
    .run = run,
};
