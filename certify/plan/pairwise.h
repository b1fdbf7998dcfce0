/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairwise.h - rows over factors such that every pair of values of two factors is in some row. */
#ifndef ATTEST_PAIRWISE_H
#define ATTEST_PAIRWISE_H

#include <stddef.h>
#include <stdint.h>

#define ATTEST_MOST_FACTORS 24

/*
 * Factor f has levels[f] >= 1 values. Writes rows of `factors` numbers one after another into
 * *rows (to be freed) and returns how many; 0 without memory. `allowed` says whether a row that is
 * complete up to (not including) factor `known` may exist. Greedy and deterministic.
 */
size_t attest_pairwise(const int *levels, size_t factors, uint64_t seed,
                       int (*allowed)(const int *row, size_t known, void *context), void *context,
                       int **rows);

#endif
