/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as a summary in Markdown, for the pages that CI services show. */
#include "certify/report/escape.h"
#include "certify/report/tally.h"
#include "certify/report/views.h"

static void defects(FILE *out, const attest_report *r) {
    fprintf(out, "\n| defect | cases | breaks | smallest case |\n|---|---:|---|---|\n");
    for (int i = 0; i < r->cause_count; i++) {
        const attest_cause *cause = &r->causes[i];
        const attest_entry *e = &r->entries[cause->smallest];
        const attest_bug_class *suspected = attest_class_at(cause->suspicion.bug_class);
        fprintf(out, "| ");
        attest_put_markdown(out, suspected != NULL ? suspected->title : cause->what);
        if (cause->needs[0]) {
            fprintf(out, "; all have ");
            attest_put_markdown(out, cause->needs);
        }
        fprintf(out, " | %lld | %s | ", (long long)cause->cases, cause->broken);
        attest_put_markdown(out, e->line);
        fprintf(out, " |\n");
    }
    fprintf(out, "\n");
    for (int i = 0; i < r->cause_count; i++) {
        const attest_entry *e = &r->entries[r->causes[i].smallest];
        fprintf(out, "- %s %s: ", attest_verdict_name(e->result.verdict), e->id);
        attest_put_markdown(out, e->result.what);
        fprintf(out, "\n");
    }
}

void attest_report_markdown(FILE *out, const attest_report *r, const attest_certificate *c) {
    fprintf(out, "## attest: %s\n\n", c->certified ? "certified" : "not certified");
    attest_put_markdown(out, r->kernel.name[0] ? r->kernel.name : r->target);
    fprintf(out, ", level %s, seed %llu: ", r->level, (unsigned long long)r->seed);
    attest_put_markdown(out, c->certified ? (c->restricted[0] ? c->restricted : "all of it")
                                          : c->reason);
    fprintf(out, "\n");
    for (int i = 0; i < r->suspicions; i++) {
        fprintf(out, "\n%s: class %d, ", i == 0 ? "**Most likely**" : "or",
                r->diagnosis[i].bug_class);
        attest_put_markdown(out, attest_class_at(r->diagnosis[i].bug_class)->title);
        fprintf(out, "; ");
        attest_put_markdown(out, r->diagnosis[i].why);
        fprintf(out, "\n");
    }
    if (r->cause_count > 0) {
        defects(out, r);
    }
    fprintf(out, "\n| group | requirements | passed | failed | in question | no pass | not run |\n"
                 "|---|---:|---:|---:|---:|---:|---:|\n");
    for (int n = 0; n < ATTEST_GROUPS; n++) {
        const attest_group g = attest_group_of(c, n);
        fprintf(out, "| %s %s | %d | %d | %d | %d | %d | %d |\n", g.prefix, g.meaning, g.total,
                g.passed, g.failed, g.doubted, g.without, g.absent);
    }
    fprintf(out, "\n%zu cases; worst error/radius of a pass %.3f\n", r->count,
            attest_worst_pass(r));
}
