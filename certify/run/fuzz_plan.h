/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_plan.h - cases without end, for `attest fuzz`: those of a level, with sizes, heads, windows
 * and data drawn anew, near the lengths at which the kernel takes another path and around the cases
 * that came closest to failing.
 */
#ifndef ATTEST_FUZZ_PLAN_H
#define ATTEST_FUZZ_PLAN_H

#include "certify/plan/boundary.h"
#include "certify/plan/data.h"
#include "certify/plan/plan.h"
#include "certify/result/report.h"

enum { ATTEST_HUNT_POOL = 24, ATTEST_HUNT_LENGTHS = 32 };

typedef struct attest_fuzz_plan {
    uint64_t seed;
    const attest_kernel_info *kernel;
    attn_profile profile;
    const char *only, *skip;                        /* lists of checks, or NULL */
    int64_t near[ATTEST_AXES][ATTEST_HUNT_LENGTHS]; /* beside boundaries; each ended by -1 */
    int round;
    attest_case pool[ATTEST_HUNT_POOL]; /* whose errors were the largest parts of their radius */
    double worst[ATTEST_HUNT_POOL];
} attest_fuzz_plan;

/* Takes note of the lengths beside boundaries. */
void attest_fuzz_plan_near(attest_fuzz_plan *fuzz, const attest_boundaries *boundaries);

/* The next round's cases: they depend on the seed and what was learnt. 1, or 0 without memory. */
int attest_fuzz_plan_draw(attest_fuzz_plan *fuzz, attest_plan *plan);

/* Takes note of what a round's cases came to; entry i is case i of the plan. */
void attest_fuzz_plan_learn(attest_fuzz_plan *fuzz, const attest_plan *plan,
                            const attest_report *report);

#endif
