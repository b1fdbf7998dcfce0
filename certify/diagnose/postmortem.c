/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/diagnose/postmortem.h"

#include "certify/diagnose/diagnose.h"

enum { MOST_OF_A_CHECK = 5 };

/* Sentences and worst elements may differ by the chance of a race; what failed, and how much. */
static int same(const attest_result *a, const attest_result *b) {
    return a->verdict == b->verdict && a->broken == b->broken && a->outside == b->outside;
}

static void look(attest_bench *bench, const attest_planned *planned, attest_result *result) {
    attest_result again;
    attest_session_restart(&bench->session);
    attest_run_case(bench, planned->check, &planned->c, &again);
    result->alone = same(result, &again) ? ATTEST_ALONE_SAME : ATTEST_ALONE_OTHER;
    if (result->alone == ATTEST_ALONE_SAME) {
        result->examined = again.examined;
        result->defects[0] = again.defects[0];
        result->defects[1] = again.defects[1];
    }
    attest_result_free(&again);
}

void attest_postmortem(attest_bench *bench, const volatile sig_atomic_t *stop,
                       const attest_planned *const *cases, attest_report *report) {
    const attest_check *check = NULL;
    int looked = 0;
    bench->examiner = attest_diagnose;
    for (size_t i = 0; i < report->count && !(stop && *stop); i++) {
        attest_result *result = &report->entries[i].result;
        if (cases[i]->check != check) {
            check = cases[i]->check;
            looked = 0;
        }
        if ((result->verdict == ATTEST_FAIL || result->verdict == ATTEST_CRASH) &&
            looked++ < MOST_OF_A_CHECK) {
            look(bench, cases[i], result);
        }
    }
    bench->examiner = NULL;
}
