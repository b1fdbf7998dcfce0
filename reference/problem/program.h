/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - a problem as a C program that needs nothing but spec/attest.h and a kernel. */
#ifndef ATTEST_PROGRAM_H
#define ATTEST_PROGRAM_H

#include <stdint.h>
#include <stdio.h>

#include "spec/attest.h"

/* One output element and what it should be. */
typedef struct attest_program_value {
    int in_lse;
    int64_t place[4]; /* [b,h,i] of lse, else [b,h,i,c] of o */
    double expected, radius;
} attest_program_value;

/*
 * Writes the program: it loads the kernel named by its argument, calls it once and prints the
 * element, or without one (NULL) the first elements of o. `comment` goes to the top.
 */
void attest_program(FILE *out, const attest_problem *problem, const char *comment,
                    const attest_program_value *value);

#endif
