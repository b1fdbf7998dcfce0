/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/diagnose/reproducer.h"

#include <string.h>

#include "reference/problem/program.h"

void attest_reproducer(FILE *out, const attest_workbench *bench, const attest_entry *entry) {
    const attest_result *r = &entry->result;
    const attest_requirement *broken = attest_requirement_at(r->broken);
    const attest_program_value value = {
        .in_lse = r->in_lse,
        .place = {r->place[0], r->place[1], r->place[2], r->place[3]},
        .expected = r->expected,
        .radius = r->radius,
    };
    char comment[sizeof r->what + 128];
    snprintf(comment, sizeof comment, "Case %s of the check \"%s\"%s%s: %s", entry->id,
             entry->check, broken ? ", requirement " : "", broken ? broken->id : "", r->what);
    for (char *star = comment; (star = strchr(star, '*')) != NULL;) {
        *star = '+'; /* without one no comment ends, however its lines are joined */
    }
    attest_program(out, &bench->stage.problem, comment, r->has_value ? &value : NULL);
}
