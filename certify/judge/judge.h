/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.h - the numeric verdict: outputs of the last call against the oracle's enclosures, and
 * whether the case could have shown an error at all.
 */
#ifndef ATTEST_JUDGE_H
#define ATTEST_JUDGE_H

#include "certify/host/workbench.h"
#include "certify/judge/sample.h"

/*
 * Judges o and lse. Elements outside: FAIL with the worst one. Nothing inside any domain:
 * OUT_OF_DOMAIN; no useful radius, or no visible key whose loss would show: MISTRUSTED. A problem
 * with more work than `budget` multiplications (0: no limit) is judged on a fixed choice of rows
 * that has the first, the last, and rows spread between.
 */
void attest_judge(attest_workbench *bench, int64_t budget, attest_result *result);

/* The same without asking what a lost key would show: for cases that are about something else. */
void attest_judge_values(attest_workbench *bench, int64_t budget, attest_result *result);

/* Judges the rows of a sample. */
void attest_judge_rows(attest_workbench *bench, const attest_sample *rows, attest_result *result);

#endif
