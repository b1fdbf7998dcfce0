/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(name) extern const attest_check attest_check_##name;
#include "certify/plan/checks.def"
#undef CHECK

static const attest_check *const attest_checks[] = {
#define CHECK(name) &attest_check_##name,
#include "certify/plan/checks.def"
#undef CHECK
};
#define ATTEST_CHECK_COUNT ((int)(sizeof attest_checks / sizeof *attest_checks))

const char *attest_verdict_name(attest_verdict verdict) {
    static const char *const names[ATTEST_VERDICTS] = {
        "PASS",   "FAIL",       "UNSUPPORTED",   "ERROR",   "CRASH",          "TIMEOUT",
        "WAIVED", "MISTRUSTED", "OUT_OF_DOMAIN", "NOT_RUN", "NOT_APPLICABLE",
    };
    return (unsigned)verdict < ATTEST_VERDICTS ? names[verdict] : "?";
}

int attest_verdict_is_bad(attest_verdict verdict) {
    return verdict == ATTEST_FAIL || verdict == ATTEST_ERROR || verdict == ATTEST_CRASH ||
           verdict == ATTEST_TIMEOUT;
}

void attest_result_free(attest_result *result) {
    free(result->picture);
    result->picture = NULL;
}

void attest_result_bad(attest_result *result, attest_verdict verdict, const char *id, int bug_class,
                       const char *format, ...) {
    if (attest_verdict_is_bad(result->verdict)) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->what, sizeof result->what, format, arguments);
    va_end(arguments);
    result->verdict = verdict;
    result->bug_class = bug_class;
    if (id != NULL) {
        result->broken = attest_requirement_index(id);
        attest_ids_add(&result->ids, id);
    }
}

void attest_result_mistrust(attest_result *result, const char *why) {
    if (result->verdict == ATTEST_PASS) {
        result->verdict = ATTEST_MISTRUSTED;
        snprintf(result->what, sizeof result->what, "%s", why);
    }
}

void attest_result_not_applicable(attest_result *result, const char *why) {
    result->verdict = ATTEST_NOT_APPLICABLE;
    snprintf(result->what, sizeof result->what, "%s", why);
}

const attest_check *attest_check_at(int index) {
    return index >= 0 && index < ATTEST_CHECK_COUNT ? attest_checks[index] : NULL;
}

const attest_check *attest_check_find(const char *name) {
    for (int i = 0; i < ATTEST_CHECK_COUNT; i++) {
        if (strcmp(attest_checks[i]->name, name) == 0) {
            return attest_checks[i];
        }
    }
    return NULL;
}
