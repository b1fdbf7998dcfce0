/* SPDX-License-Identifier: GPL-3.0-or-later */
/* K10: outputs and workspace hold something else before each call; the result may not. */
#include "certify/host/workbench.h"
#include "certify/plan/space.h"

static void plan(attest_plan *plan) {
    const attest_space space = {.queries = attest_landmark_queries(plan->level),
                                .keys = attest_landmark_keys(ATTEST_SMOKE),
                                .head_sizes = attest_landmark_sizes(ATTEST_SMOKE),
                                .most = attest_plan_by_level(plan, 8, 50, 0, 0),
                                .rounds = attest_plan_by_level(plan, 1, 1, 10, 40)};
    attest_space_plan(plan, &space, NULL);
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    attest_ids_add(&result->ids, "MEM-06");
    if (!attest_workbench_build(bench, c, result) ||
        !attest_workbench_forward(bench, ATTEST_PATTERN_ZERO, result)) {
        return;
    }
    attest_kept kept = attest_keep(bench);
    for (int pattern = ATTEST_PATTERN_NAN; pattern <= ATTEST_PATTERN_NOISE; pattern++) {
        if (!attest_workbench_forward(bench, (attest_pattern)pattern, result) ||
            !attest_compare(bench, &kept, NULL, "MEM-06", CLASS_NOT_WRITTEN,
                            "the result depends on what outputs or workspace held before the call",
                            result)) {
            break;
        }
    }
    if (kept.o_count == 0) {
        attest_result_mistrust(result, "the case has no output element");
    }
    attest_kept_free(&kept);
}

const attest_check attest_check_dirty = {
    .name = "dirty",
    .sentence = "Every output element is written, whatever outputs and workspace held before.",
    .requirements = "MEM-06",
    .classes = {CLASS_WINDOW_LOOP, CLASS_NOT_WRITTEN},
    .catalogue = "K10",
    .structural = 1,
    .plan = plan,
    .run = run,
};
