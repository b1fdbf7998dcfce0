/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sensitivity.h - how small a mistake a case can show: would the loss of one key leave the
 * radius? */
#ifndef ATTEST_SENSITIVITY_H
#define ATTEST_SENSITIVITY_H

#include "reference/oracle/oracle.h"
#include "reference/problem/normal.h"

/*
 * For row (b,h,i) with its enclosures: how many keys it sees, and for how many of them leaving that
 * key out would move some output element by more than twice its radius. 1, or 0 without memory.
 */
int attest_key_loss(const attn_normal *normal, int64_t b, int64_t h, int64_t i,
                    const attn_enclosure *o, int64_t *seen, int64_t *shown);

/*
 * Least and greatest visible value of column c, 0 among them where a sink takes weight: whatever
 * the weights are, the output lies between. 0 if the row sees nothing, or something not finite.
 */
int attest_hull(const attn_normal *n, int64_t b, int64_t h, int64_t i, int64_t c, double *low,
                double *high);

#endif
