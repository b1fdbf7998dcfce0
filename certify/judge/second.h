/* SPDX-License-Identifier: GPL-3.0-or-later */
/* second.h - enclosures around what the second oracle finds; it shares no code with the first. */
#ifndef ATTEST_SECOND_H
#define ATTEST_SECOND_H

#include "certify/host/workbench.h"
#include "reference/oracle/oracle.h"
#include "reference/oracle/oracle_gsl.h"

typedef struct attest_second {
    int ready; /* 0: the problem is too large for it, or there is no memory */
    attn_gsl_value *o, *lse;
} attest_second;

/* Evaluates the whole problem on the bench. */
void attest_second_open(attest_second *second, const attest_workbench *bench);
void attest_second_close(attest_second *second);

/* Puts the second oracle's centres into the enclosures of a row, whose radii stay: they follow from
 * the model. 0 if the two contradict each other. */
int attest_second_replace(const attest_second *second, const attn_normal *n, int64_t row,
                          attn_enclosure *o, attn_enclosure *lse);

#endif
