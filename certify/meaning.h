/* SPDX-License-Identifier: GPL-3.0-or-later */
/* meaning.h - how small a mistake a case can show: would the loss of one key leave the radius? */
#ifndef ATTEST_MEANING_H
#define ATTEST_MEANING_H

#include "normal.h"
#include "oracle.h"

/*
 * For row (b,h,i) with its enclosures: how many keys it sees, and for how many of them leaving that
 * key out would move some output element by more than twice its radius. 1, or 0 without memory.
 */
int attest_key_loss(const attn_normal *normal, int64_t b, int64_t h, int64_t i,
                    const attn_enclosure *o, int64_t *seen, int64_t *shown);

#endif
