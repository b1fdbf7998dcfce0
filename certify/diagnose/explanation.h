/* SPDX-License-Identifier: GPL-3.0-or-later */
/* explanation.h - which misreading of its question gives the worst row of a failed case. */
#ifndef ATTEST_EXPLANATION_H
#define ATTEST_EXPLANATION_H

#include "certify/host/workbench.h"

/*
 * Looks at the row of the worst wrong element: evaluates it under each misreading of misreadings.c,
 * taken by all keys, by those from one on or up to one, by one residue, by one key; and, of those
 * that give every element of the row, keeps the ones that need the fewest words. Fills
 * result->explanation, or leaves it empty.
 */
void attest_explain_outputs(const attest_workbench *bench, attest_result *result);

/* The same for a mask that was read back, one byte a cell of [B,Hq,Sq,Sk]. */
void attest_explain_mask(const attest_workbench *bench, const unsigned char *used,
                         attest_result *result);

#endif
