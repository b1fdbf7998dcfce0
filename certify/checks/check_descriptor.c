/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The descriptor itself: read by the worker, checked by attest before anything else (wire.c). */
#include <stdio.h>
#include <string.h>

#include "certify/host/workbench.h"
#include "certify/plan/plan.h"

static void plan(attest_plan *plan) {
    attest_case c = attest_plan_case(plan);
    attest_plan_scale(plan, &c, 1);
    attest_plan_add(plan, &c);
}

/* A second worker must hear the same as the first. */
static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    (void)c;
    attest_outcome outcome;
    attest_ids_add(&result->ids, "CAP-01");
    attest_session *session = &bench->session;
    const attest_kernel_info first = session->info;
    attest_session_restart(session);
    if (!attest_workbench_start(bench, &outcome)) {
        attest_result_bad(result, ATTEST_ERROR, "CAP-01", 0, "loading it again failed: %s",
                          outcome.text);
    } else if (memcmp(&first, &session->info, sizeof first) != 0) {
        attest_result_bad(result, ATTEST_FAIL, "CAP-01", 0,
                          "it describes itself differently when loaded again");
    } else if (attn_model_find(first.model) == NULL) {
        attest_result_bad(result, ATTEST_FAIL, "CAP-01", 0, "model \"%s\" does not exist",
                          first.model);
    }
}

const attest_check attest_check_descriptor = {
    .name = "descriptor",
    .sentence = "The kernel describes itself completely, and the same way each time.",
    .requirements = "CAP-01",
    .classes = {0},
    .catalogue = "",
    .structural = 1,
    .plan = plan,
    .run = run,
};
