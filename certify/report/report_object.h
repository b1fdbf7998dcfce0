/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_object.h - a report as one JSON value (spec/report.schema.json), and back. */
#ifndef ATTEST_REPORT_OBJECT_H
#define ATTEST_REPORT_OBJECT_H

#include <jansson.h>

#include "certify/result/report.h"

json_t *attest_report_object(const attest_report *report, const attest_certificate *c);

/* 1, or 0 if it is no report; free it with attest_report_free() in any case. */
int attest_report_of_object(const json_t *root, attest_report *report);

#endif
