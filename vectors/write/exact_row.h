/* SPDX-License-Identifier: Apache-2.0 */
/* exact_row.h - inside exact.h: one row at one precision. */
#ifndef ATTEST_EXACT_ROW_H
#define ATTEST_EXACT_ROW_H

#include <stdint.h> /* before mpfr.h: for its functions on intmax_t */
#include <mpfr.h>

#include "vectors/write/exact.h"

typedef struct attest_exact_row {
    const attn_normal *n;
    int64_t b, h, i, kv_head, visible_count;
    unsigned char *visible;
    double *special;        /* per key: 0, or the infinity or NaN that its score is */
    mpfr_t *score, *weight; /* of visible keys; weights not yet divided */
    mpfr_t scale, softcap, sum, maximum, magnitude, term, part, bound;
    int has_sink;
    double sink;
} attest_exact_row;

/* 1 if every rounding is certain at this precision. */
int attest_exact_one_row(attest_exact_row *r, attest_expected *o, attest_expected *lse);

#endif
