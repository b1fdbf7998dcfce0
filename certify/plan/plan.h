/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.h - a level as a list of cases. It depends on level, seed, what the kernel declares and the
 * boundaries found in it; never on time, machine or number of jobs.
 */
#ifndef ATTEST_PLAN_H
#define ATTEST_PLAN_H

#include <stddef.h>

#include "certify/plan/boundary.h"
#include "certify/plan/case.h"
#include "certify/plan/check.h"
#include "certify/worker/wire.h"
#include "reference/problem/profile.h"

typedef enum attest_level {
    ATTEST_SMOKE,
    ATTEST_QUICK,
    ATTEST_FULL,
    ATTEST_EXHAUSTIVE
} attest_level;

const char *attest_level_name(attest_level level);

typedef struct attest_planned {
    attest_case c;
    const attest_check *check;
    char id[ATTEST_ID_BYTES];
} attest_planned;

typedef struct attest_plan {
    attest_level level;
    uint64_t seed;
    const attest_kernel_info *kernel;
    attn_profile profile;
    const attest_boundaries *boundaries; /* or NULL */
    const attest_check *check;           /* whose plan() is running */
    attest_planned *cases;
    size_t count, room;
    uint64_t *seen; /* ids as numbers, open addressing, 0 free; of 2 * room places */
    int failed;     /* no memory */
} attest_plan;

/* Plans every check (or the one called `only`), in the table's order. 1, or 0 without memory. */
int attest_plan_make(attest_plan *plan, const char *only);
void attest_plan_free(attest_plan *plan);

/*
 * For checks: adds a case unless the kernel does not declare what it needs or it is there already.
 * A seed of 0 becomes one drawn from the run's seed and the case's line.
 */
void attest_plan_add(attest_plan *plan, const attest_case *c);

/* The default case of the check that plans, in the first type that the kernel declares. */
attest_case attest_plan_case(const attest_plan *plan);
/* Gives the case this scale where the profile requires one. */
void attest_plan_scale(const attest_plan *plan, attest_case *c, double scale);

/* Whether the declared capabilities cover the case, so that a refusal is a failure. */
int attest_kernel_covers(const attest_kernel_info *kernel, const attn_profile *profile,
                         const attest_case *c);

/* How many cases for a level: one of four numbers. */
int attest_plan_by_level(const attest_plan *plan, int smoke, int quick, int full, int exhaustive);

/* The first floating type the kernel declares, binary32 before others. */
attest_dtype attest_plan_type(const attest_plan *plan);

#endif
