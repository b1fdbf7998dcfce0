/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_tried.h - what a run tried and what it did not, in words and in JSON. */
#ifndef ATTEST_REPORT_TRIED_H
#define ATTEST_REPORT_TRIED_H

#include <jansson.h>
#include <stdio.h>

#include "certify/result/report.h"

void attest_tried_text(FILE *out, const attest_report *report);
json_t *attest_tried_json(const attest_report *report);

#endif
