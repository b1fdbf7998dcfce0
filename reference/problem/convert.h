/* SPDX-License-Identifier: Apache-2.0 */
/* convert.h - storage types to binary64 and back. Widening is exact; narrowing rounds to nearest,
 * ties to even, once. */
#ifndef ATTN_CONVERT_H
#define ATTN_CONVERT_H

#include "spec/attest.h"

/* The value at `address`, which holds one element of a floating type. */
double attn_load(attest_dtype dtype, const void *address);

void attn_store(attest_dtype dtype, void *address, double value);

/* The value itself, rounded to a floating type and widened again. */
double attn_round_to(attest_dtype dtype, double value);

#endif
