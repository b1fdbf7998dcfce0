/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h - the input rule: how one 32-bit draw of a generator becomes one number. Integer
 * arithmetic and powers of two alone, so that every machine and every language gets the same bits.
 * The generator is GSL's mt19937; this file does not depend on it.
 */
#ifndef ATTEST_DRAW_H
#define ATTEST_DRAW_H

#include <stdint.h>

/* An integer in 0 ... count - 1: the upper half of draw * count. */
uint32_t attest_map_below(uint32_t draw, uint32_t count);

/* n * 2^exponent: exact where the result is a binary64 number, denormal ones included. */
double attest_dyadic(int64_t n, int exponent);

/* A multiple of 2^exponent between -half and half times that; half < 2^31. */
double attest_map_grid(uint32_t draw, uint32_t half, int exponent);

#endif
