/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask.h - which keys a row may see: one predicate an option, each over the mathematical integers
 * and free of overflow for every int64_t. Row i stands at position i + offset on the key axis.
 */
#ifndef ATTN_MASK_H
#define ATTN_MASK_H

#include <stdint.h>

#define ATTN_NO_LIMIT INT64_C(-1)

/*@ predicate causal_set(integer i, integer offset, integer j) = j <= i + offset;
  @ predicate window_set(integer i, integer offset, integer left, integer right, integer j) =
  @   (left < 0 || i + offset - left <= j) && (right < 0 || j <= i + offset + right);
  @ predicate length_set(integer length, integer j) = j < length;
  @*/

/*@ requires i >= 0 && j >= 0;
  @ assigns \nothing;
  @ ensures MASK_01: \result <==> causal_set(i, offset, j);
  @ ensures \result == 0 || \result == 1;
  @*/
int attn_sees_causal(int64_t i, int64_t offset, int64_t j);

/*@ requires i >= 0 && j >= 0;
  @ assigns \nothing;
  @ ensures MASK_02: \result <==> window_set(i, offset, left, right, j);
  @ ensures \result == 0 || \result == 1;
  @*/
int attn_sees_window(int64_t i, int64_t offset, int64_t left, int64_t right, int64_t j);

/*@ assigns \nothing;
  @ ensures MASK_03: \result <==> length_set(length, j);
  @ ensures \result == 0 || \result == 1;
  @*/
int attn_sees_length(int64_t length, int64_t j);

/* The positional part of a mask. */
typedef struct attn_band {
    int64_t offset;
    int64_t left;   /* negative: no limit */
    int64_t right;  /* negative: no limit */
    int64_t length; /* keys at or beyond it are padding */
    int causal;
} attn_band;

/*@ predicate band_set(attn_band band, integer i, integer j) =
  @   (band.causal != 0 ==> causal_set(i, band.offset, j)) &&
  @   window_set(i, band.offset, band.left, band.right, j) && length_set(band.length, j);
  @*/

/*@ requires \valid_read(band) && i >= 0 && j >= 0;
  @ assigns \nothing;
  @ ensures MASK_04: \result <==> band_set(*band, i, j);
  @ ensures \result == 0 || \result == 1;
  @*/
int attn_sees_band(const attn_band *band, int64_t i, int64_t j);

#endif
