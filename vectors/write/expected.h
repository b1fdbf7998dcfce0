/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expected.h - what a vector says about a result: the exact value in two parts, and a radius for
 * each model that suits its types. Radii are rounded up to eight bits; how to judge a value with
 * them is one function.
 */
#ifndef ATTEST_EXPECTED_H
#define ATTEST_EXPECTED_H

#include <stddef.h>

#include "vectors/read/within.h"
#include "vectors/write/exact.h"

#define ATTEST_VECTOR_MODELS 4

typedef struct attest_expectation {
    attest_expected *o, *lse; /* dense */
    size_t o_count, lse_count;
    int models;
    const char *model[ATTEST_VECTOR_MODELS];
    double *o_radius[ATTEST_VECTOR_MODELS]; /* NaN: no verdict */
    double *lse_radius[ATTEST_VECTOR_MODELS];
    int judge; /* the model that says which defects a vector rejects */
} attest_expectation;

/* Exact values and radii. ATTEST_OK, or another status with a message; *result is then empty. */
attest_status attest_expect(attest_expectation *result, const attn_normal *normal,
                            char message[ATTEST_MESSAGE_BYTES]);
void attest_expectation_free(attest_expectation *expectation);

#endif
