/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * data.h - values from a case's seed: raw integers of GSL's mt19937 made dyadic rationals, so that
 * the same line gives the same bits on every machine.
 */
#ifndef ATTEST_DATA_H
#define ATTEST_DATA_H

#include <stdint.h>

#include "certify/plan/case.h"
#include "spec/attest.h"

typedef struct attest_draws attest_draws;

/* A stream of its own for each pair of seed and number; NULL without memory. */
attest_draws *attest_draws_open(uint64_t seed, uint64_t stream);
void attest_draws_close(attest_draws *draws);
uint32_t attest_draw(attest_draws *draws);
/* In [0, bound), bound >= 1; the bias is at most bound / 2^32. */
int64_t attest_draw_below(attest_draws *draws, int64_t bound);

/* Unrelated 64-bit numbers from neighbouring ones. */
uint64_t attest_mix(uint64_t x);

/* About normal, in (-2, 2), from 32 bits: a uniform number of 24 and another of 8. */
double attest_bell(uint32_t bits);

/* Address of an element, and the value of one in any type. */
void *attest_at(const attest_tensor *tensor, int64_t a, int64_t b, int64_t c, int64_t d);
void attest_put(const attest_tensor *tensor, int64_t a, int64_t b, int64_t c, int64_t d,
                double value);
double attest_get(const attest_tensor *tensor, int64_t a, int64_t b, int64_t c, int64_t d);

/* Each writes one whole operand. `slot` numbers the stream. Recipes from BELL on, but for a list of
 * sinks, are placed.h's. */
void attest_fill_values(const attest_tensor *tensor, attest_recipe recipe, const attest_case *c,
                        int slot);
void attest_fill_mask(const attest_tensor *mask, const attest_case *c);
void attest_fill_lengths(const attest_tensor *lengths, const attest_case *c);
void attest_fill_offsets(const attest_tensor *offsets, const attest_case *c);
/* What the slot ATTEST_SLOT_OFFSETS or ATTEST_SLOT_KEY_LENGTHS holds: a value per batch entry. */
void attest_list_values(const attest_case *c, int slot, int64_t *values);
void attest_fill_slopes(const attest_tensor *slopes, const attest_case *c);

#endif
