/* SPDX-License-Identifier: GPL-3.0-or-later */
/* K9: each tensor ends, then starts, flush against unmapped memory. */
#include "certify/host/workbench.h"
#include "certify/plan/space.h"

static void plan(attest_plan *plan) {
    const attest_space space = {.queries = attest_landmark_queries(ATTEST_SMOKE),
                                .keys = attest_landmark_keys(plan->level),
                                .head_sizes = attest_landmark_sizes(plan->level),
                                .most = attest_plan_by_level(plan, 10, 60, 0, 0),
                                .rounds = attest_plan_by_level(plan, 1, 1, 10, 40)};
    attest_space_plan(plan, &space, NULL);
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    const int guarded = attest_workbench_guarded(bench);
    attest_ids_add(&result->ids, "MEM-02");
    attest_ids_add(guarded ? &result->ids : &result->untestable, "MEM-01 MEM-05");
    if (!attest_workbench_build(bench, c, result) ||
        !attest_workbench_forward(bench, ATTEST_PATTERN_NOISE, result)) {
        return;
    }
    if (!attest_stage_fence(&bench->stage, bench->session.info.alignment, ATTEST_FENCE_START)) {
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: not enough memory");
        return;
    }
    attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result);
}

const attest_check attest_check_fences = {
    .name = "fences",
    .sentence = "No access before the first or after the last element of any tensor.",
    .requirements = "MEM-01 MEM-02 MEM-05",
    .classes = {CLASS_MASK_STRIDES, CLASS_MASK_INDEX, CLASS_TAIL, CLASS_INDEX_OVERFLOW,
                CLASS_OUT_OF_BOUNDS},
    .catalogue = "K9",
    .structural = 1,
    .plan = plan,
    .run = run,
};
