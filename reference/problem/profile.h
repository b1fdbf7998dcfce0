/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - what a problem's defaults mean. A profile binds each default to one value of a closed
 * set (spec/profiles/NAME.json); explicit values in a problem are never reinterpreted.
 */
#ifndef ATTN_PROFILE_H
#define ATTN_PROFILE_H

#include <stdint.h>

/* Where row 0 stands without ATTEST_OFFSETS. L is the key length of the batch entry. */
typedef enum attn_corner {
    ATTN_CORNER_TOP_LEFT,            /* offset 0 */
    ATTN_CORNER_BOTTOM_RIGHT,        /* offset L - Sq */
    ATTN_CORNER_BOTTOM_RIGHT_LENGTHS /* offset L - Sq if key lengths are given, else 0 */
} attn_corner;

/* What ATTEST_WINDOW_SIZE = W means, in keys around the row's position. */
typedef enum attn_window_form {
    ATTN_WINDOW_NOT_DEFINED, /* the profile has no single-number window */
    ATTN_WINDOW_W_KEYS,      /* left W-1, right unbounded: W keys under a causal mask */
    ATTN_WINDOW_LEFT_W,      /* left W, right unbounded: W+1 keys under a causal mask */
    ATTN_WINDOW_BOTH_W       /* left W and right W */
} attn_window_form;

typedef enum attn_default_scale {
    ATTN_SCALE_RSQRT_D, /* 1/sqrt(D) */
    ATTN_SCALE_ONE,
    ATTN_SCALE_REQUIRED /* a problem without a scale is invalid */
} attn_default_scale;

typedef enum attn_gqa_order {
    ATTN_GQA_GROUPED, /* query head h reads KV head h / (Hq/Hkv) */
    ATTN_GQA_TILED    /* query head h reads KV head h % Hkv */
} attn_gqa_order;

typedef enum attn_lse_base { ATTN_LSE_NATURAL, ATTN_LSE_BASE_2 } attn_lse_base;

typedef enum attn_lse_empty {
    ATTN_LSE_EMPTY_NEG_INF,
    ATTN_LSE_EMPTY_POS_INF,
    ATTN_LSE_EMPTY_UNSPECIFIED
} attn_lse_empty;

/* A row that sees no key. The mean is over all Sk keys: the one exception to ISO-01. */
typedef enum attn_empty_row {
    ATTN_EMPTY_ZERO,
    ATTN_EMPTY_NAN,
    ATTN_EMPTY_MEAN_OF_ALL,
    ATTN_EMPTY_UNSPECIFIED
} attn_empty_row;

typedef enum attn_mask_with_causal {
    ATTN_MASK_AND_CAUSAL,
    ATTN_MASK_CAUSAL_ERROR,
    ATTN_MASK_IGNORED,
    ATTN_CAUSAL_IGNORED
} attn_mask_with_causal;

typedef struct attn_profile {
    attn_corner corner;
    attn_window_form window_form;
    attn_default_scale default_scale;
    attn_gqa_order gqa_order;
    attn_lse_base lse_base;
    attn_lse_empty lse_empty;
    attn_empty_row empty_row;
    attn_mask_with_causal mask_with_causal;
} attn_profile;

/* The profile `attest`: spec/profiles/attest.json, compiled in. */
extern const attn_profile attn_profile_attest;

#endif
