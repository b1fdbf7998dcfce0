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

/* Adds them for the plan's current check. */
void attest_factors_plan(attest_plan *plan);

#endif
