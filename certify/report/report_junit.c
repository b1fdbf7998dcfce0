/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as JUnit XML: one test suite a check, one test case a case. */
#include <string.h>

#include "certify/report/escape.h"
#include "certify/report/replay_line.h"
#include "certify/report/views.h"

static void test_case(FILE *out, const attest_report *report, const attest_entry *entry) {
    const attest_result *r = &entry->result;
    const attest_requirement *broken = attest_requirement_at(r->broken);
    fprintf(out, "    <testcase classname=\"attest.%s\" name=\"%s\" time=\"%.6f\">", entry->check,
            entry->id, r->seconds);
    if (attest_verdict_is_bad(r->verdict)) {
        const char *tag = r->verdict == ATTEST_FAIL ? "failure" : "error";
        fprintf(out, "\n      <%s type=\"%s\" message=\"", tag,
                broken ? broken->id : attest_verdict_name(r->verdict));
        attest_put_xml(out, r->what);
        fprintf(out, "\">");
        if (r->has_value) {
            fprintf(out, "expected %a, actual %a, radius %a\n", r->expected, r->actual, r->radius);
        }
        attest_put_xml(out, entry->line);
        fputc('\n', out);
        attest_put_xml(out, attest_replay_line_of(report, entry).text);
        fprintf(out, "</%s>\n    ", tag);
    } else if (r->verdict != ATTEST_PASS) {
        fprintf(out, "\n      <skipped message=\"%s: ", attest_verdict_name(r->verdict));
        attest_put_xml(out, r->verdict == ATTEST_WAIVED ? entry->waiver : r->what);
        fprintf(out, "\"/>\n    ");
    }
    fprintf(out, "</testcase>\n");
}

static void test_suite(FILE *out, const attest_report *report, const char *check) {
    size_t tests = 0, failures = 0, errors = 0, skipped = 0;
    double seconds = 0;
    for (size_t i = 0; i < report->count; i++) {
        const attest_entry *e = &report->entries[i];
        if (strcmp(e->check, check) == 0) {
            tests++;
            failures += e->result.verdict == ATTEST_FAIL ? 1 : 0;
            const int bad = attest_verdict_is_bad(e->result.verdict);
            errors += bad && e->result.verdict != ATTEST_FAIL;
            skipped += !bad && e->result.verdict != ATTEST_PASS;
            seconds += e->result.seconds;
        }
    }
    if (tests == 0) {
        return;
    }
    fprintf(out,
            "  <testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
            "skipped=\"%zu\" time=\"%.6f\">\n",
            check, tests, failures, errors, skipped, seconds);
    for (size_t i = 0; i < report->count; i++) {
        if (strcmp(report->entries[i].check, check) == 0) {
            test_case(out, report, &report->entries[i]);
        }
    }
    fprintf(out, "  </testsuite>\n");
}

/* The certificate is a test of its own, so a run that cannot certify is red. */
static void verdict_suite(FILE *out, const attest_report *r, const attest_certificate *c) {
    fprintf(out,
            "  <testsuite name=\"certificate\" tests=\"1\" failures=\"%d\" errors=\"0\" "
            "skipped=\"0\" time=\"0\">\n"
            "    <testcase classname=\"attest.certificate\" name=\"certified\" time=\"0\">",
            !c->certified);
    if (!c->certified) {
        fprintf(out, "\n      <failure type=\"certificate\" message=\"");
        attest_put_xml(out, c->reason);
        fprintf(out, "\">");
        for (int i = 0; i < r->suspicions; i++) {
            const attest_suspicion *s = &r->diagnosis[i];
            fprintf(out, "class %d, ", s->bug_class);
            attest_put_xml(out, attest_class_at(s->bug_class)->title);
            fprintf(out, "; ");
            attest_put_xml(out, s->why);
            fprintf(out, "\n");
        }
        fprintf(out, "</failure>\n    ");
    }
    fprintf(out, "</testcase>\n  </testsuite>\n");
}

void attest_report_junit(FILE *out, const attest_report *report, const attest_certificate *c) {
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"attest ");
    attest_put_xml(out, report->target);
    fprintf(out, "\">\n");
    for (int i = 0; attest_check_at(i) != NULL; i++) {
        test_suite(out, report, attest_check_at(i)->name);
    }
    verdict_suite(out, report, c);
    fprintf(out, "</testsuites>\n");
}
