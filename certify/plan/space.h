/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * space.h - the space of options as factors, restricted to what a kernel declares, and cases that
 * hold every pair of them. Shared by the checks that want "all kinds of problems".
 */
#ifndef ATTEST_SPACE_H
#define ATTEST_SPACE_H

#include "certify/plan/plan.h"

typedef struct attest_space {
    const int64_t *queries, *keys, *head_sizes; /* ended by -1 */
    int options_that_hide; /* 1: every case has an option that hides keys from some row */
    int exact;             /* 1: only data whose products are exact, no softcap, sinks, bias */
    uint64_t always;       /* features every case has */
    uint64_t never;        /* features no case has */
    int most;              /* at most this many cases a round; 0: all pairs */
    int rounds;            /* sets of rows, each with every pair; 0 means 1 */
} attest_space;

/* Lists of landmark sizes for a level: where shipped kernels went wrong. */
const int64_t *attest_landmark_queries(attest_level level);
const int64_t *attest_landmark_keys(attest_level level);
const int64_t *attest_landmark_sizes(attest_level level);

/* Adds a pairwise set of cases of the plan's current check; `change` (or NULL) edits each first. */
void attest_space_plan(attest_plan *plan, const attest_space *space,
                       void (*change)(attest_plan *plan, attest_case *c, int number));

/* The same cases moved to the lengths beside the kernel's boundaries (boundary.h), one each; none
 * if it has none. */
void attest_space_plan_boundaries(attest_plan *plan, const attest_space *space,
                                  void (*change)(attest_plan *plan, attest_case *c, int number));

/* Requirements that follow from a case's own options: MASK-01 for a causal one, and so on. */
void attest_space_ids(const attest_case *c, attest_ids *ids);

#endif
