/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/problem/normal.h"

#include <math.h>
#include <stdio.h>

#include "reference/problem/convert.h"
#include "reference/problem/mask.h"

static attest_status refuse(char *message, const char *why) {
    if (message) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "%s", why);
    }
    return ATTEST_INVALID;
}

static void resolve_window(attn_normal *normal) {
    const attest_problem *p = normal->problem;
    normal->left = ATTEST_UNBOUNDED;
    normal->right = ATTEST_UNBOUNDED;
    if (p->features & ATTEST_WINDOW) {
        normal->left = p->window_left;
        normal->right = p->window_right;
    } else if (p->features & ATTEST_WINDOW_SIZE) {
        int keys_form = normal->profile.window_form == ATTN_WINDOW_W_KEYS;
        normal->left = keys_form ? p->window_size - 1 : p->window_size;
        if (normal->profile.window_form == ATTN_WINDOW_BOTH_W) {
            normal->right = p->window_size;
        }
    }
}

static void resolve_masks(attn_normal *normal) {
    const uint64_t masks = ATTEST_MASK_BOOL | ATTEST_MASK_ADD;
    normal->features = normal->problem->features;
    if ((normal->features & ATTEST_CAUSAL) && (normal->features & masks)) {
        if (normal->profile.mask_with_causal == ATTN_MASK_IGNORED) {
            normal->features &= ~masks;
        } else if (normal->profile.mask_with_causal == ATTN_CAUSAL_IGNORED) {
            normal->features &= ~ATTEST_CAUSAL;
        }
    }
}

attest_status attn_normalise(attn_normal *normal, const attest_problem *problem,
                             const attn_profile *profile, int metadata_only,
                             char message[ATTEST_MESSAGE_BYTES]) {
    attest_status status = attn_check(problem, metadata_only, message);
    if (status != ATTEST_OK) {
        return status;
    }
    if (!profile) {
        return refuse(message, "profile: is NULL");
    }
    if ((problem->features & ATTEST_WINDOW_SIZE) &&
        profile->window_form == ATTN_WINDOW_NOT_DEFINED) {
        return refuse(message, "window_size: the profile defines no window of a single size");
    }
    if (!(problem->features & ATTEST_SCALE) && profile->default_scale == ATTN_SCALE_REQUIRED) {
        return refuse(message, "scale: the profile has no default scale");
    }
    if ((problem->features & ATTEST_CAUSAL) &&
        (problem->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) &&
        profile->mask_with_causal == ATTN_MASK_CAUSAL_ERROR) {
        return refuse(message, "mask: the profile does not allow it together with ATTEST_CAUSAL");
    }
    attn_normal result = {
        .problem = problem,
        .profile = *profile,
        .batch = problem->q.shape[0],
        .q_heads = problem->q.shape[1],
        .queries = problem->q.shape[2],
        .head_size = problem->q.shape[3],
        .kv_heads = problem->k.shape[1],
        .keys = problem->k.shape[2],
        .value_size = problem->v.shape[3],
        .scale = 1.0,
    };
    if (problem->features & ATTEST_SCALE) {
        result.scale = problem->scale;
    } else if (profile->default_scale == ATTN_SCALE_RSQRT_D) {
        result.scale = 1.0 / sqrt((double)result.head_size);
    }
    resolve_window(&result);
    resolve_masks(&result);
    *normal = result;
    return ATTEST_OK;
}

static int64_t integer_at(const attest_tensor *tensor, int64_t b) {
    return ((const int64_t *)tensor->data)[b * tensor->stride[0]];
}

int64_t attn_key_length(const attn_normal *normal, int64_t b) {
    if (normal->features & ATTEST_KEY_LENGTHS) {
        return integer_at(&normal->problem->key_lengths, b);
    }
    return normal->keys;
}

int64_t attn_offset(const attn_normal *normal, int64_t b) {
    if (normal->features & ATTEST_OFFSETS) {
        return integer_at(&normal->problem->offsets, b);
    }
    int has_lengths = (normal->features & ATTEST_KEY_LENGTHS) != 0;
    if (normal->profile.corner == ATTN_CORNER_TOP_LEFT ||
        (normal->profile.corner == ATTN_CORNER_BOTTOM_RIGHT_LENGTHS && !has_lengths)) {
        return 0;
    }
    return attn_key_length(normal, b) - normal->queries;
}

int64_t attn_kv_head(const attn_normal *normal, int64_t q_head) {
    if (normal->profile.gqa_order == ATTN_GQA_TILED) {
        return q_head % normal->kv_heads;
    }
    return q_head / (normal->q_heads / normal->kv_heads);
}

const void *attn_element(const attest_tensor *tensor, const int64_t index[ATTEST_MAX_RANK]) {
    int64_t position = 0;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        position += index[axis] * tensor->stride[axis];
    }
    return (const char *)tensor->data + position * attn_dtype_bytes(tensor->dtype);
}

/* The mask's element for a place in [B,Hq,Sq,Sk]: right-aligned, axes of length 1 repeat. */
static const void *mask_element(const attest_tensor *mask, const int64_t place[ATTEST_MAX_RANK]) {
    int64_t index[ATTEST_MAX_RANK] = {0};
    for (uint32_t axis = 0; axis < mask->rank; axis++) {
        int64_t full = place[ATTEST_MAX_RANK - mask->rank + axis];
        index[axis] = mask->shape[axis] == 1 ? 0 : full;
    }
    return attn_element(mask, index);
}

double attn_mask_value(const attn_normal *normal, int64_t b, int64_t h, int64_t i, int64_t j) {
    const int64_t place[ATTEST_MAX_RANK] = {b, h, i, j};
    return attn_load(normal->problem->mask.dtype, mask_element(&normal->problem->mask, place));
}

static int mask_shows(const attn_normal *normal, const int64_t place[ATTEST_MAX_RANK]) {
    const attest_tensor *mask = &normal->problem->mask;
    if (normal->features & ATTEST_MASK_BOOL) {
        return *(const unsigned char *)mask_element(mask, place) != 0;
    }
    if (normal->features & ATTEST_MASK_ADD) {
        return attn_load(mask->dtype, mask_element(mask, place)) != (double)-INFINITY;
    }
    return 1;
}

int64_t attn_visible_keys(const attn_normal *normal, int64_t b, int64_t h, int64_t i,
                          unsigned char *visible) {
    const attn_band band = {
        .offset = attn_offset(normal, b),
        .left = normal->left,
        .right = normal->right,
        .length = attn_key_length(normal, b),
        .causal = (normal->features & ATTEST_CAUSAL) != 0,
    };
    int64_t count = 0;
    for (int64_t j = 0; j < normal->keys; j++) {
        const int64_t place[ATTEST_MAX_RANK] = {b, h, i, j};
        visible[j] = attn_sees_band(&band, i, j) && mask_shows(normal, place);
        count += visible[j];
    }
    return count;
}
