/* SPDX-License-Identifier: GPL-3.0-or-later */
/* K27: the same problem from several threads at once, each with outputs and workspace of its own */
#include "certify/host/workbench.h"
#include "certify/plan/space.h"

/* Two batch entries at least: every other caller leaves the first one out. */
static void change(attest_plan *plan, attest_case *c, int number) {
    (void)plan;
    (void)number;
    c->batch += c->batch == 1;
    c->layout = c->layout == ATTEST_LAYOUT_BROADCAST ? ATTEST_LAYOUT_DENSE : c->layout;
}

static void plan(attest_plan *plan) {
    static const int64_t queries[] = {1, 9, 33, -1}, keys[] = {9, 65, 130, -1},
                         sizes[] = {8, 32, -1};
    const attest_space space = {.queries = queries,
                                .keys = keys,
                                .head_sizes = sizes,
                                .most = attest_plan_by_level(plan, 2, 16, 64, 0)};
    if (plan->kernel->reentrant) {
        attest_space_plan(plan, &space, change);
    }
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    attest_ids_add(&result->ids, "DET-10");
    if (!attest_workbench_build(bench, c, result) ||
        !attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
        return;
    }
    attest_kept alone = attest_keep(bench);
    if (alone.o_count == 0) {
        attest_result_mistrust(result, "the output has no element");
    }
    for (int round = 0; alone.o_count > 0 && round < 4; round++) {
        if (!attest_workbench_forward_together(bench, 4, result) ||
            !attest_compare(bench, &alone, NULL, "DET-10", CLASS_RACE,
                            "calls from several threads at once gave other bits than one alone",
                            result)) {
            break;
        }
    }
    attest_kept_free(&alone);
}

const attest_check attest_check_together = {
    .name = "together",
    .sentence = "Calls from several threads at once do not disturb each other.",
    .requirements = "DET-10",
    .classes = {CLASS_RACE},
    .catalogue = "K27",
    .structural = 1,
    .plan = plan,
    .run = run,
};
