/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiver.h - known failures that are accepted for now. A file holds a JSON list of objects with a
 * scope ("kernel", a name, "case", an id, "check", "requirement": all that are given must hold), a
 * "reason", optionally a "link" and a date "expires" (YYYY-MM-DD), after which it no longer counts.
 * A scope of a kernel alone would waive everything and is refused.
 */
#ifndef ATTEST_WAIVER_H
#define ATTEST_WAIVER_H

#include <jansson.h>
#include <time.h>

#include "certify/result/report.h"

/* The list in a file, which may be a pipe: it is read once. NULL with a reason. */
json_t *attest_waivers_load(const char *path, char why[ATTEST_MESSAGE_BYTES]);

/* Turns matching bad verdicts into WAIVED and notes each waiver in the report; no list
 * waives nothing. `now` decides what has expired. */
void attest_waive(const json_t *waivers, time_t now, attest_report *report);

#endif
