/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample.h - which rows of a large problem are judged: the kernel computes all of them. First those
 * where kernels go wrong (first and last of each axis, beside powers of two, beside a length asked
 * for), then others at random.
 */
#ifndef ATTEST_SAMPLE_H
#define ATTEST_SAMPLE_H

#include <stdint.h>

#include "reference/problem/normal.h"

typedef struct attest_sample {
    int64_t *rows; /* numbers (b * Hq + h) * Sq + i, ascending, each once */
    int64_t count;
} attest_sample;

/* At most `most` rows, all if there are no more; `near`: a query row to look beside, 0 for none.
 * Free rows; they are NULL without memory. */
attest_sample attest_sample_rows(const attn_normal *normal, int64_t most, int64_t near,
                                 uint64_t seed);

#endif
