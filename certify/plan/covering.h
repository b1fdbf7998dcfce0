/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * covering.h - rows of a table of factors such that every pair of values of two factors, and every
 * triple of three chosen factors, is in some row, as far as a restriction allows.
 */
#ifndef ATTEST_COVERING_H
#define ATTEST_COVERING_H

#include <stddef.h>
#include <stdint.h>

#define ATTEST_COVERING_FACTORS 24

typedef struct attest_covering {
    const int *levels; /* values of factor f are 0 ... levels[f] - 1 */
    size_t factors;    /* at most ATTEST_COVERING_FACTORS */
    /* Whether triples of these three factors, in ascending order, are wanted; NULL: none is. */
    int (*wants)(const struct attest_covering *self, size_t f, size_t g, size_t h);
    /* Whether a row may begin like this: values of the factors before `known`. It must hold of the
     * beginnings of a row of which it holds. */
    int (*allows)(const struct attest_covering *self, const int *row, size_t known);
    void *context;
} attest_covering;

/* *rows: count * factors values, to be freed. Returns the count, 0 without memory. Value 0 of a
 * factor should restrict the others least: a tuple is left out if a few attempts, the last with
 * 0 wherever it is allowed, find no row that has it. */
size_t attest_covering_rows(const attest_covering *self, uint64_t seed, int **rows);

#endif
