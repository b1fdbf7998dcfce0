/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a kernel cannot know must be refused, and a refusal writes nothing. Each case is a valid
 * problem with one field of a later version; parameter 0 says which. Kernels are not asked to
 * validate more: ERR-03 to ERR-06 bind whoever takes problems from outside. */
#include <stdlib.h>
#include <string.h>

#include "certify/host/workbench.h"
#include "certify/plan/plan.h"

typedef enum mistake {
    UNKNOWN_FEATURE,
    RESERVED_FIELD,
    RESERVED_LATER,
    LATER_STRUCT,
    MISTAKES
} mistake;

static const char *const fields[MISTAKES] = {"features", "reserved32", "reserved",
                                             "fields of a later version"};

static void plan(attest_plan *plan) {
    for (int m = 0; m < MISTAKES; m++) {
        attest_case c = attest_plan_case(plan);
        c.batch = 2;
        c.queries = 3;
        c.keys = 5;
        c.head_size = c.value_size = 4;
        c.features = plan->kernel->features & ATTEST_LSE;
        attest_plan_scale(plan, &c, 0.5);
        c.parameter[0] = m;
        attest_plan_add(plan, &c);
    }
}

static void spoil(attest_problem *p, mistake m) {
    switch (m) {
    case UNKNOWN_FEATURE:
        p->features |= UINT64_C(1) << 20;
        break;
    case RESERVED_FIELD:
        p->reserved32 = 1;
        break;
    case LATER_STRUCT: /* the worker adds the bytes */
        p->struct_bytes += ATTEST_LATER_BYTES;
        break;
    default:
        p->reserved[7] = 1;
        break;
    }
}

static int anything_written(const attest_stage *stage) {
    int written = 0;
    for (int slot = ATTEST_SLOT_O; slot <= ATTEST_SLOT_LSE; slot++) {
        const attest_place *p = &stage->place[slot];
        const unsigned char *image = stage->image[slot - ATTEST_INPUT_SLOTS];
        unsigned char *pattern =
            p->present && image != NULL ? malloc((size_t)p->map_bytes + 1) : NULL;
        if (pattern != NULL) {
            attest_pattern_fill(pattern, p->map_bytes, stage->pattern);
            written |= memcmp(pattern, image, (size_t)p->map_bytes) != 0;
        }
        free(pattern);
    }
    return written;
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    const int m = c->parameter[0] >= 0 && c->parameter[0] < MISTAKES ? (int)c->parameter[0] : 0;
    attest_ids_add(&result->ids, "ERR-01 ERR-02");
    if (!attest_workbench_build(bench, c, result)) {
        return;
    }
    spoil(&bench->stage.problem, (mistake)m);
    if (!attest_workbench_call(bench, ATTEST_CALL_FORWARD, 0, ATTEST_PATTERN_NOISE, result)) {
        return;
    }
    const attest_status status = bench->outcome.status;
    if (status == ATTEST_OK) {
        attest_result_bad(result, ATTEST_FAIL, "ERR-02", CLASS_OPTION_IGNORED,
                          "a problem with an unknown bit in `%s` was answered ATTEST_OK",
                          fields[m]);
    } else if (status != ATTEST_UNSUPPORTED) {
        attest_result_bad(result, ATTEST_FAIL, "ERR-02", CLASS_OPTION_IGNORED,
                          "an unknown bit in `%s` was answered with status %d, not unsupported",
                          fields[m], (int)status);
    } else if (bench->outcome.text[0] == '\0') {
        attest_result_bad(result, ATTEST_FAIL, "ERR-01", 0,
                          "the refusal of an unknown `%s` has no message", fields[m]);
    } else if (anything_written(&bench->stage)) {
        attest_result_bad(result, ATTEST_FAIL, "ERR-01", CLASS_NOT_WRITTEN,
                          "an output was written although the call was refused");
    }
}

const attest_check attest_check_errors = {
    .name = "errors",
    .sentence = "What a kernel does not know is refused, with a message and nothing written.",
    .requirements = "ERR-01 ERR-02",
    .classes = {CLASS_OPTION_IGNORED, CLASS_NOT_WRITTEN},
    .catalogue = "",
    .structural = 1,
    .plan = plan,
    .run = run,
};
