/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiver.h - known failures that are accepted for now. A file holds a JSON list of objects with
 * "case" (an id), "check" or "requirement", and a "reason", optionally a "link" and a date
 * "expires" (YYYY-MM-DD), after which it no longer counts.
 */
#ifndef ATTEST_WAIVER_H
#define ATTEST_WAIVER_H

#include "report.h"

/* Turns matching bad verdicts into WAIVED. 1, or 0 with a reason. */
int attest_waive(const char *path, attest_report *report, char why[ATTEST_MESSAGE_BYTES]);

#endif
