/* SPDX-License-Identifier: Apache-2.0 */
/* defects_row.h - inside the evaluator of defects.h: its state, and what a row sees. */
#ifndef ATTEST_DEFECTS_ROW_H
#define ATTEST_DEFECTS_ROW_H

#include "reference/defects/defects.h"

typedef struct attest_evaluator {
    const attn_normal *n;
    const attest_problem *p;
    unsigned char on[ATTEST_DEFECTS];
    double *score, *weight;
    unsigned char *visible;
    double scale;
    attest_score_stage stage;
} attest_evaluator;

typedef struct attest_place_of_row {
    int64_t b, h, i;
} attest_place_of_row;

int64_t attest_defect_offset_of(const attest_evaluator *e, int64_t b);

/* Where key j of the normal form lies on the axis of K and V. */
int64_t attest_defect_stored_key(const attest_evaluator *e, int64_t b, int64_t j);

/* The mask's share of the bias; -inf hides. Only where there is a mask in force. */
int attest_defect_has_mask(const attest_evaluator *e);
double attest_defect_mask_value(const attest_evaluator *e, attest_place_of_row at, int64_t j);

int attest_defect_sees(const attest_evaluator *e, attest_place_of_row at, int64_t j);

#endif
