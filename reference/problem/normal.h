/* SPDX-License-Identifier: Apache-2.0 */
/*
 * normal.h - from a problem and a profile to the normal form of spec/attention.md: for each row a
 * set of visible keys and a bias a key, with every default resolved.
 */
#ifndef ATTN_NORMAL_H
#define ATTN_NORMAL_H

#include "reference/problem/profile.h"
#include "reference/problem/validate.h"
#include "spec/attest.h"

typedef struct attn_normal {
    const attest_problem *problem;
    attn_profile profile;
    int64_t batch, q_heads, kv_heads, queries, keys, head_size, value_size;
    double scale;
    uint64_t features; /* the problem's, less what the profile ignores */
    int64_t left;      /* window sides; ATTEST_UNBOUNDED where there is none */
    int64_t right;
} attn_normal;

/*
 * Checks every field of the problem and resolves it. ATTEST_OK, or ATTEST_INVALID or
 * ATTEST_UNSUPPORTED with a message that names the field and why; *normal is then untouched.
 * With `metadata_only`, data pointers may be NULL and what they hold is not looked at.
 */
attest_status attn_normalise(attn_normal *normal, const attest_problem *problem,
                             const attn_profile *profile, int metadata_only,
                             char message[ATTEST_MESSAGE_BYTES]);

/* Keys of batch entry b that are not padding. */
int64_t attn_key_length(const attn_normal *normal, int64_t b);

/* Position of row 0 of batch entry b on the key axis. */
int64_t attn_offset(const attn_normal *normal, int64_t b);

int64_t attn_kv_head(const attn_normal *normal, int64_t q_head);

/* Address of one element; the indices must be inside the tensor. */
const void *attn_element(const attest_tensor *tensor, const int64_t index[ATTEST_MAX_RANK]);

/* The additive mask at one place of [B,Hq,Sq,Sk], widened. */
double attn_mask_value(const attn_normal *normal, int64_t b, int64_t h, int64_t i, int64_t j);

/*
 * Writes the key set of row i of head h of batch entry b: visible[j] is 1 or 0 for each of the
 * `keys` keys. Returns how many are visible. Reads masks and lengths, never q, k or v.
 */
int64_t attn_visible_keys(const attn_normal *normal, int64_t b, int64_t h, int64_t i,
                          unsigned char *visible);

#endif
