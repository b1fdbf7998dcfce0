/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - how far a result is from the exact one, in radii of the arithmetic model. */
#ifndef BENCH_ERROR_H
#define BENCH_ERROR_H

#include <stdint.h>

#include "spec/attest.h"

/*
 * Largest |o - exact| / radius over `rows` rows spread evenly through the problem; infinity where a
 * row could not be judged. The model is a name of reference/oracle/model.c; exp_ulps 0 keeps its
 * own.
 */
double bench_error(const attest_problem *problem, const char *model, double exp_ulps, int64_t rows);

#endif
