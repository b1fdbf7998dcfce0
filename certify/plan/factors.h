/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * factors.h - the whole space of problems as factors with levels: every option, every size in bands
 * that reach what models use, layout, types, data, threads. A level fixes a band or a kind; the
 * value inside it (a size, a window's reach, a scale with all its bits) is drawn. Cases that hold
 * every pair of levels and every triple of two options and a size (at full: every triple), then
 * compound cases at random, then shapes of models that people run.
 */
#ifndef ATTEST_FACTORS_H
#define ATTEST_FACTORS_H

#include "certify/plan/plan.h"

/* Parameter 0 of the cases of the check "oracle". */
enum {
    ATTEST_ORACLE_ROUND,
    ATTEST_ORACLE_LARGE_SCORES,
    ATTEST_ORACLE_LARGE_VALUES,
    ATTEST_ORACLE_COMPOUND, /* parameter 1: called twice, the second call judged */
    ATTEST_ORACLE_PRESET    /* parameter 1: number of the preset */
};

/* Adds them for the plan's current check. */
void attest_factors_plan(attest_plan *plan);

/* Nanoseconds that a plain kernel and the oracle take: how the plan and the judge share a
 * budget. */
double attest_kernel_cost(int64_t rows, int64_t keys, int64_t sizes);
double attest_oracle_cost(int64_t rows, int64_t keys, int64_t sizes);

/* The model of a preset; NULL if there is none. */
const char *attest_preset_name(int64_t number);

#endif
