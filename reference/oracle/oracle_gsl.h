/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * oracle_gsl.h - the second oracle: the same question answered in matrix form on GSL, from the
 * problem and the profile alone. It shares no code with the first: its own widening, broadcasting,
 * defaults, mask predicate, treatment of special values and error bound. Memory is O(Sq * Sk).
 */
#ifndef ATTN_ORACLE_GSL_H
#define ATTN_ORACLE_GSL_H

#include "reference/problem/profile.h"
#include "spec/attest.h"

typedef struct attn_gsl_value {
    double value;     /* a number, an infinity or a NaN */
    double own_error; /* |value - exact| is at most this; infinity where nothing is known */
    int open;         /* 1: the spec or the profile leaves it open */
} attn_gsl_value;

/*
 * o is dense [B,Hq,Sq,Dv], lse dense [B,Hq,Sq]. The problem must be a valid one with its data.
 * ATTEST_OK, or ATTEST_NO_MEMORY.
 */
attest_status attn_oracle_gsl(const attest_problem *problem, const attn_profile *profile,
                              attn_gsl_value *o, attn_gsl_value *lse);

#endif
