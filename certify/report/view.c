/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "certify/report/print.h"
#include "certify/report/views.h"
#include "certify/result/output.h"

const char *const attest_view_options[ATTEST_VIEWS] = {
    [ATTEST_VIEW_JSON] = "--json",         [ATTEST_VIEW_JUNIT] = "--junit",
    [ATTEST_VIEW_HTML] = "--html",         [ATTEST_VIEW_SARIF] = "--sarif",
    [ATTEST_VIEW_MARKDOWN] = "--markdown", [ATTEST_VIEW_BADGE] = "--badge",
};

static int ends_with(const char *text, const char *end) {
    const size_t length = strlen(text), part = strlen(end);
    return length >= part && strcmp(text + length - part, end) == 0;
}

int attest_view_write(attest_view_kind kind, const char *path, const attest_report *report,
                      const attest_certificate *c, char why[ATTEST_MESSAGE_BYTES]) {
    static attest_view *const writers[ATTEST_VIEWS] = {
        [ATTEST_VIEW_JSON] = attest_report_json,         [ATTEST_VIEW_JUNIT] = attest_report_junit,
        [ATTEST_VIEW_HTML] = attest_report_html,         [ATTEST_VIEW_SARIF] = attest_report_sarif,
        [ATTEST_VIEW_MARKDOWN] = attest_report_markdown, [ATTEST_VIEW_BADGE] = attest_badge_svg,
    };
    const int endpoint = kind == ATTEST_VIEW_BADGE && ends_with(path, ".json");
    attest_output output;
    FILE *out = attest_output_open(&output, path);
    if (out != NULL) {
        (endpoint ? attest_badge_json : writers[kind])(out, report, c);
    }
    const int fine = attest_output_close(&output);
    if (!fine) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "%s: %.160s cannot be written",
                 attest_view_options[kind], path);
    }
    return fine;
}
