/* SPDX-License-Identifier: GPL-3.0-or-later */
/* views.h - the views, one file each; all write to an open file, whose errors view.c looks at. */
#ifndef ATTEST_VIEWS_H
#define ATTEST_VIEWS_H

#include <stdio.h>

#include "certify/result/report.h"

typedef void attest_view(FILE *out, const attest_report *report, const attest_certificate *c);

attest_view attest_report_json, attest_report_junit, attest_report_html, attest_report_sarif,
    attest_report_markdown, attest_badge_svg, attest_badge_json;

#endif
