/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * variants.h - problems that kernels have been seen to solve instead of the one they were given.
 * They stand beside the defects of reference/defects/defects.h, whose switches are inside an
 * evaluation; these change the question alone. Both are numbered together: defects first.
 */
#ifndef ATTEST_VARIANTS_H
#define ATTEST_VARIANTS_H

#include "reference/defects/defects.h"

typedef struct attest_variant_problem {
    attn_normal normal;
    attest_problem problem;
    int64_t list[64]; /* of offsets */
} attest_variant_problem;

typedef struct attest_variant {
    const char *name, *description;
    int bug_class;
    int (*change)(attest_variant_problem *p); /* 0 if the problem leaves nothing to change */
} attest_variant;

int attest_known_count(void);
const char *attest_known_name(int number);
const char *attest_known_description(int number);
int attest_known_class(int number); /* 0 for a cheat */

/* The normal form to evaluate for a known error, and the switch to set; `count` is 0 or 1. NULL if
 * the error cannot show on this problem. `space` holds what the result points to. */
const attn_normal *attest_known_problem(int number, const attn_normal *n,
                                        attest_variant_problem *space, attest_defect *defect,
                                        size_t *count);

#endif
