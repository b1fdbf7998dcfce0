/* SPDX-License-Identifier: GPL-3.0-or-later */
/* K11, K25: the same call again, and after calls of another kind at the same addresses. */
#include "certify/host/workbench.h"
#include "certify/plan/data.h"
#include "certify/plan/space.h"

enum { REPEAT, HISTORY, FIRST };

static void change(attest_plan *plan, attest_case *c, int number) {
    c->parameter[0] = number % 2 == 0 ? REPEAT : HISTORY;
    c->parameter[1] = c->parameter[0] == REPEAT ? attest_plan_by_level(plan, 8, 25, 200, 1000) : 1;
}

/* A call that nothing came before, in a kernel just loaded. */
static void plan_first(attest_plan *plan) {
    attest_case c = attest_plan_case(plan);
    c.features = plan->kernel->features & ATTEST_LSE;
    c.head_size = c.value_size = 4;
    attest_plan_scale(plan, &c, 0.25);
    c.parameter[0] = FIRST;
    c.parameter[1] = 2;
    attest_plan_add(plan, &c);
}

static void plan(attest_plan *plan) {
    const attest_space space = {.queries = attest_landmark_queries(ATTEST_SMOKE),
                                .keys = attest_landmark_keys(ATTEST_SMOKE),
                                .head_sizes = attest_landmark_sizes(ATTEST_SMOKE),
                                .most = attest_plan_by_level(plan, 8, 40, 0, 0),
                                .rounds = attest_plan_by_level(plan, 1, 1, 10, 40)};
    attest_space_plan(plan, &space, change);
    plan_first(plan);
}

/* Another problem at the same addresses: other values, then other options, then back. */
static int disturb(attest_workbench *bench, const attest_case *c, attest_result *result) {
    attest_case other = *c;
    other.seed = c->seed ^ 0x5555;
    if (!attest_workbench_build(bench, &other, result) ||
        !attest_workbench_forward(bench, ATTEST_PATTERN_NOISE, result)) {
        return 0;
    }
    other.features &= ~(ATTEST_CAUSAL | ATTEST_OFFSETS | ATTEST_WINDOW | ATTEST_WINDOW_SIZE |
                        ATTEST_MASK_BOOL | ATTEST_MASK_ADD | ATTEST_SOFTCAP | ATTEST_SINKS);
    other.keys = c->keys / 2 + 1;
    other.window_left = other.window_right = ATTEST_UNBOUNDED;
    return attest_workbench_build(bench, &other, result) &&
           attest_workbench_forward(bench, ATTEST_PATTERN_NOISE, result);
}

/* What happened in between must have mattered: other data give other results. */
static int changed(const attest_workbench *bench, const attest_kept *kept) {
    attest_result scratch = {.verdict = ATTEST_PASS};
    return !attest_compare(bench, kept, NULL, "DET-02", 0, "", &scratch);
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    const int history = c->parameter[0] == HISTORY, first = c->parameter[0] == FIRST;
    attest_ids_add(&result->ids, history || first ? "DET-02" : "DET-01");
    if (first) {
        attest_session_restart(&bench->session);
    }
    if (!attest_workbench_build(bench, c, result) ||
        !attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
        return;
    }
    attest_kept kept = attest_keep(bench);
    if (history) {
        attest_case other = *c;
        other.seed = c->seed ^ 0x5555;
        int different = attest_workbench_build(bench, &other, result) &&
                        attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result) &&
                        changed(bench, &kept);
        if (!attest_verdict_is_bad(result->verdict) && !different) {
            attest_result_mistrust(result, "other data gave the same result");
        }
        if (attest_verdict_is_bad(result->verdict) || !disturb(bench, c, result) ||
            !attest_workbench_build(bench, c, result)) {
            attest_kept_free(&kept);
            return;
        }
    }
    for (int64_t i = 0; i < c->parameter[1]; i++) {
        if (!attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result) ||
            !attest_compare(bench, &kept, NULL, history || first ? "DET-02" : "DET-01", CLASS_RACE,
                            history ? "the result depends on calls made before"
                            : first ? "the first call after loading is unlike the next"
                                    : "the same call gave another result",
                            result)) {
            break;
        }
    }
    attest_kept_free(&kept);
}

const attest_check attest_check_repeat = {
    .name = "repeat",
    .sentence = "The same problem gives the same bits, again and after other calls.",
    .requirements = "DET-01 DET-02",
    .classes = {CLASS_MASK_UNASKED, CLASS_NOT_WRITTEN, CLASS_RACE},
    .catalogue = "K11 K25",
    .structural = 1,
    .plan = plan,
    .run = run,
};
