/* SPDX-License-Identifier: GPL-3.0-or-later */
/* K24, K26: a call leaves inputs, problem and floating-point environment as they were. The
 * workbench looks at all three after every call, and writing to an input faults; this check makes
 * sure that each is looked at for problems of every kind, with denormal data among them. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "certify/host/workbench.h"
#include "certify/plan/space.h"

static void change(attest_plan *plan, attest_case *c, int number) {
    (void)plan;
    if (number % 3 == 1) {
        c->qk = ATTEST_RECIPE_TINY;
    } else if (number % 3 == 2) {
        c->v = ATTEST_RECIPE_TINY;
    }
}

static void plan(attest_plan *plan) {
    const attest_space space = {.queries = attest_landmark_queries(ATTEST_SMOKE),
                                .keys = attest_landmark_keys(ATTEST_SMOKE),
                                .head_sizes = attest_landmark_sizes(ATTEST_SMOKE),
                                .most = attest_plan_by_level(plan, 6, 30, 0, 0),
                                .rounds = attest_plan_by_level(plan, 1, 1, 10, 40)};
    attest_space_plan(plan, &space, change);
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    attest_ids_add(&result->ids, "MEM-02 MEM-03 MEM-05 DET-08");
    if (attest_workbench_build(bench, c, result) &&
        attest_workbench_forward(bench, ATTEST_PATTERN_NOISE, result)) {
        const struct timespec pause = {.tv_nsec = 3000000};
        nanosleep(&pause, NULL); /* a thread left behind writes after the return */
        if (!attest_workbench_settled(bench)) {
            attest_result_bad(result, ATTEST_FAIL, "MEM-05", CLASS_RACE,
                              "an output or the workspace changed after the call had returned");
        }
    }
}

const attest_check attest_check_purity = {
    .name = "purity",
    .sentence = "Inputs, the problem struct and the floating-point environment stay as they were.",
    .requirements = "MEM-02 MEM-03 MEM-05 DET-08",
    .classes = {CLASS_FAST_MATH, CLASS_INPUT_WRITTEN},
    .catalogue = "K24 K26",
    .structural = 1,
    .plan = plan,
    .run = run,
};
