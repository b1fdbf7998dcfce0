/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/problem/mask.h"

/* j and i are not negative, so j - i cannot overflow; i + offset could. */
int attn_sees_causal(int64_t i, int64_t offset, int64_t j) { return j - i <= offset; }

/* Where offset - left or offset + right would overflow, that side holds for every j - i. */
int attn_sees_window(int64_t i, int64_t offset, int64_t left, int64_t right, int64_t j) {
    int inside_left = left < 0 || offset < INT64_MIN + left || offset - left <= j - i;
    int inside_right = right < 0 || offset > INT64_MAX - right || j - i <= offset + right;
    return inside_left && inside_right;
}

int attn_sees_length(int64_t length, int64_t j) { return j < length; }

int attn_sees_band(const attn_band *band, int64_t i, int64_t j) {
    return (!band->causal || attn_sees_causal(i, band->offset, j)) &&
           attn_sees_window(i, band->offset, band->left, band->right, j) &&
           attn_sees_length(band->length, j);
}
