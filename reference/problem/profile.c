/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/problem/profile.h"

const attn_profile attn_profile_attest = {
    .corner = ATTN_CORNER_BOTTOM_RIGHT,
    .window_form = ATTN_WINDOW_W_KEYS,
    .default_scale = ATTN_SCALE_RSQRT_D,
    .gqa_order = ATTN_GQA_GROUPED,
    .lse_base = ATTN_LSE_NATURAL,
    .lse_empty = ATTN_LSE_EMPTY_NEG_INF,
    .empty_row = ATTN_EMPTY_ZERO,
    .mask_with_causal = ATTN_MASK_AND_CAUSAL,
};
