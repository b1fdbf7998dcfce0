/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * print.h - a report in words: text for a terminal, and views for files. A view sees the result and
 * the certificate alone, so that it can be made from a report that was read back.
 */
#ifndef ATTEST_PRINT_H
#define ATTEST_PRINT_H

#include <stdio.h>

#include "certify/result/report.h"

typedef enum attest_view_kind {
    ATTEST_VIEW_JSON, /* spec/report.schema.json; can be read back */
    ATTEST_VIEW_JUNIT,
    ATTEST_VIEW_HTML,
    ATTEST_VIEW_SARIF,
    ATTEST_VIEW_MARKDOWN,
    ATTEST_VIEW_BADGE, /* SVG, or for a name in .json what badge services read */
    ATTEST_VIEWS
} attest_view_kind;

/* "--json" and so on. */
extern const char *const attest_view_options[ATTEST_VIEWS];

/* Writes a view. 1, or 0 with a reason. */
int attest_view_write(attest_view_kind kind, const char *path, const attest_report *report,
                      const attest_certificate *c, char why[ATTEST_MESSAGE_BYTES]);

/* How a terminal is written to; all 0 for a file. */
typedef struct attest_style {
    int color;
    int width; /* in columns; 0: no limit */
} attest_style;

/* Of standard output: colours where a terminal has them and NO_COLOR is not set. */
attest_style attest_style_of_terminal(void);

/* Verdict and most likely class first and last. */
void attest_report_text(FILE *out, const attest_report *report, const attest_certificate *c,
                        const attest_style *style);
void attest_failure_text(FILE *out, const attest_report *report, const attest_entry *entry,
                         const attest_style *style);

/* What a JSON report holds. 1, or 0 with a reason. */
int attest_report_load(const char *path, attest_report *report, char why[ATTEST_MESSAGE_BYTES]);

#endif
