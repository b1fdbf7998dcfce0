/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/report/replay_line.h"

#include <stdio.h>
#include <string.h>

attest_replay_line attest_replay_line_of(const attest_report *report, const attest_entry *entry) {
    attest_replay_line line;
    char which[ATTEST_LINE_BYTES + 64], profile[128] = "", model[128] = "";
    if (report->level[0] == '\0') { /* of no plan, so no plan has its id */
        snprintf(which, sizeof which, "'%s'", entry->line);
    } else {
        snprintf(which, sizeof which, "%s --level %s --seed %llu", entry->id, report->level,
                 (unsigned long long)report->seed);
    }
    /* What the caller chose is no part of the case. */
    if (strcmp(report->profile, report->kernel.profile) != 0) {
        snprintf(profile, sizeof profile, " --profile '%s'", report->profile);
    }
    if (strcmp(report->model, report->kernel.model) != 0) {
        snprintf(model, sizeof model, " --model '%s'", report->model);
    }
    snprintf(line.text, sizeof line.text, "attest replay %s%s%s '%s'", which, profile, model,
             report->target);
    return line;
}
