/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * placed.h - values that follow from a case and a place alone, with every bit of the significand:
 * the recipes from BELL on, and what lies where no row looks. A place can be asked again, so that a
 * row of q can point at a key.
 */
#ifndef ATTEST_PLACED_H
#define ATTEST_PLACED_H

#include "certify/plan/case.h"
#include "spec/attest.h"

/* `tensor` has four axes. */
void attest_fill_placed(const attest_tensor *tensor, attest_recipe recipe, const attest_case *c,
                        int slot);

/* Writes what c->unseen says to the keys of K or V that offsets, causal, window and lengths hide
 * from every row. */
void attest_fill_unseen(const attest_tensor *tensor, const attest_case *c);

#endif
