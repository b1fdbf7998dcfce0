/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html_parts.h - the parts of the HTML report that are tables. */
#ifndef ATTEST_HTML_PARTS_H
#define ATTEST_HTML_PARTS_H

#include <stdio.h>
#include <stdlib.h>

#include "certify/report/picture.h"

/* A term and what it is, inside a dl. */
void attest_html_row(FILE *out, const char *term, const char *text);

/* What the colours of the maps mean. */
void attest_html_key(FILE *out);

void attest_html_where(FILE *out, const attest_report *report);
void attest_html_requirements(FILE *out, const attest_certificate *c);
void attest_html_accuracy(FILE *out, const attest_report *report);
void attest_html_ladder(FILE *out, const attest_report *report);
void attest_html_conventions(FILE *out, const attest_report *report);
void attest_html_tried(FILE *out, const attest_report *report, const attest_certificate *c);
void attest_html_cases(FILE *out);

#endif
