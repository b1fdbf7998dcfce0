/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.h - nanoseconds that a plain kernel, the oracle and the data of a case take: how a plan and
 * the judge share a budget. Only proportions matter; nothing is timed. */
#ifndef ATTEST_COST_H
#define ATTEST_COST_H

#include <stdint.h>

#include "certify/plan/case.h"

double attest_kernel_cost(int64_t rows, int64_t keys, int64_t sizes);
double attest_oracle_cost(int64_t rows, int64_t keys, int64_t sizes);

/* The data and one call. */
double attest_case_cost(const attest_case *c);

#endif
