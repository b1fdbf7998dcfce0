/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * varies.h - what a kernel answers differently by size or by spelling: "hidden NaN in v: right up
 * to 30 query rows, wrong from 66 on", "rows of NaN: right by causal flag, wrong by boolean mask".
 * Read off the verdicts of the checks that ask one question in many sizes and spellings.
 */
#ifndef ATTEST_VARIES_H
#define ATTEST_VARIES_H

#include "certify/result/report.h"

typedef struct attest_variation {
    char requirement[12];
    char text[256];
} attest_variation;

enum { ATTEST_MOST_VARIATIONS = 16 };

/* How many were written to the list. A question that is answered alike everywhere gives none. */
int attest_varies(const attest_report *report, attest_variation list[ATTEST_MOST_VARIATIONS]);

#endif
