/* SPDX-License-Identifier: GPL-3.0-or-later */
/* print.h - a report as text, JSON (spec/report.schema.json) and JUnit, and JSON read back. */
#ifndef ATTEST_PRINT_H
#define ATTEST_PRINT_H

#include <stdio.h>

#include "certify/result/report.h"

/* Verdicts and certificate as text. `color` marks verdicts for a terminal. */
void attest_report_text(FILE *out, const attest_report *report, const attest_certificate *c,
                        int color);
void attest_failure_text(FILE *out, const attest_report *report, const attest_entry *entry);

/* Each returns 1, or 0 with a reason. */
int attest_report_json(const char *path, const attest_report *report, const attest_certificate *c,
                       char why[ATTEST_MESSAGE_BYTES]);
int attest_report_junit(const char *path, const attest_report *report, const attest_certificate *c,
                        char why[ATTEST_MESSAGE_BYTES]);
int attest_report_load(const char *path, attest_report *report, char why[ATTEST_MESSAGE_BYTES]);

#endif
