/* SPDX-License-Identifier: Apache-2.0 */
/* oracle_finish.h - inside the oracle: the last step of a row, one output element at a time. */
#ifndef ATTN_ORACLE_FINISH_H
#define ATTN_ORACLE_FINISH_H

#include "reference/oracle/oracle_row.h"

#define ATTN_PRECISIONS 2

/* The precise evaluations of one row that were needed so far. */
typedef struct attn_precise {
    attn_precise_row *wide;
    attn_precise_row *mpfr[ATTN_PRECISIONS];
} attn_precise;

void attn_precise_release(attn_precise *precise);

void attn_finish_output(const attn_row_data *row, const attn_oracle_call *call,
                        attn_precise *precise, int64_t c, attn_enclosure *result);
void attn_finish_lse(const attn_row_data *row, const attn_oracle_call *call, attn_precise *precise,
                     attn_enclosure *result);

#endif
