/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clues.h - what the wrong elements of a case have in common (check.h lists it). */
#ifndef ATTEST_CLUES_H
#define ATTEST_CLUES_H

#include "certify/host/workbench.h"

/* What is known of the row of an element; found out at its first wrong element. */
typedef enum attest_clue_row {
    ATTEST_CLUE_ROW_UNKNOWN,
    ATTEST_CLUE_ROW_SEES_NOTHING,
    ATTEST_CLUE_ROW_SEES_SOME,
    ATTEST_CLUE_ROW_SEES_ALL
} attest_clue_row;

/* One more wrong element, at [b,h,i,c] of o or [b,h,i] of lse. */
void attest_clue_add(const attest_workbench *bench, attest_clue_row *row, const int64_t place[4],
                     int in_lse, double expected, double actual, attest_result *result);

#endif
