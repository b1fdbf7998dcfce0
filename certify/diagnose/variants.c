/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/diagnose/variants.h"

#include <math.h>

#include "reference/problem/convert.h"

static void ask(attest_variant_problem *p, uint64_t features) {
    p->normal.features |= features;
    p->problem.features |= features;
}

static int causal_unasked(attest_variant_problem *p) {
    if (p->normal.features & ATTEST_CAUSAL) {
        return 0;
    }
    ask(p, ATTEST_CAUSAL);
    return 1;
}

static int right_short(attest_variant_problem *p) {
    if (!(p->normal.features & ATTEST_WINDOW) || p->normal.right == ATTEST_UNBOUNDED) {
        return 0;
    }
    p->normal.right--;
    return 1;
}

static int right_long(attest_variant_problem *p) {
    if (!(p->normal.features & ATTEST_WINDOW) || p->normal.right == ATTEST_UNBOUNDED) {
        return 0;
    }
    p->normal.right++;
    return 1;
}

/* The corner where the axis ends, not where the entry's keys do. */
static int corner_of_axis(attest_variant_problem *p) {
    const uint64_t both = ATTEST_KEY_LENGTHS | ATTEST_OFFSETS;
    if ((p->normal.features & both) != ATTEST_KEY_LENGTHS || p->normal.batch > 64) {
        return 0;
    }
    for (int64_t b = 0; b < p->normal.batch; b++) {
        p->list[b] = p->normal.keys - p->normal.queries;
    }
    p->problem.offsets = (attest_tensor){.data = p->list,
                                         .dtype = ATTEST_I64,
                                         .rank = 1,
                                         .shape = {p->normal.batch},
                                         .stride = {1}};
    ask(p, ATTEST_OFFSETS);
    return 1;
}

/* The profile's corner, whatever the caller says. */
static int offsets_dropped(attest_variant_problem *p) {
    const int had = (p->normal.features & ATTEST_OFFSETS) != 0;
    p->normal.features &= ~ATTEST_OFFSETS;
    p->problem.features &= ~ATTEST_OFFSETS;
    return had;
}

static int rescale(attest_variant_problem *p, double scale) {
    const int changes = scale != p->normal.scale;
    p->normal.scale = scale;
    return changes;
}

static int padded_to(attest_variant_problem *p, int64_t multiple) {
    const int64_t padded = (p->normal.head_size + multiple - 1) / multiple * multiple;
    const int given = (p->normal.features & ATTEST_SCALE) != 0;
    return !given && padded > 0 && rescale(p, 1 / sqrt((double)padded));
}

static int padded_8(attest_variant_problem *p) { return padded_to(p, 8); }
static int padded_16(attest_variant_problem *p) { return padded_to(p, 16); }
static int padded_32(attest_variant_problem *p) { return padded_to(p, 32); }
static int padded_64(attest_variant_problem *p) { return padded_to(p, 64); }

static int model_width(attest_variant_problem *p) {
    const double width = (double)(p->normal.head_size * p->normal.q_heads);
    return !(p->normal.features & ATTEST_SCALE) && width > 0 && rescale(p, 1 / sqrt(width));
}

static int scale_f16(attest_variant_problem *p) {
    return rescale(p, attn_round_to(ATTEST_F16, p->normal.scale));
}

static int scale_bf16(attest_variant_problem *p) {
    return rescale(p, attn_round_to(ATTEST_BF16, p->normal.scale));
}

/* cap tanh(qk / cap) scale is what a cap of (cap scale) gives. */
static int capped_first(attest_variant_problem *p) {
    if (!(p->normal.features & ATTEST_SOFTCAP) || p->normal.scale == 1 ||
        p->normal.scale == 0) {
        return 0;
    }
    p->problem.softcap *= fabs(p->normal.scale);
    return 1;
}

static int mask_transposed(attest_variant_problem *p) {
    attest_tensor *mask = &p->problem.mask;
    const uint32_t row = mask->rank - 2, key = mask->rank - 1;
    if (mask->dtype == 0 || mask->rank < 2 || mask->shape[row] != mask->shape[key] ||
        mask->shape[key] < 2) {
        return 0;
    }
    const int64_t stride = mask->stride[row];
    mask->stride[row] = mask->stride[key];
    mask->stride[key] = stride;
    return 1;
}

/* The mask of the first head for all. */
static int mask_heads_repeat(attest_variant_problem *p) {
    attest_tensor *mask = &p->problem.mask;
    if (mask->dtype == 0 || mask->rank < 3 || mask->shape[mask->rank - 3] < 2) {
        return 0;
    }
    mask->stride[mask->rank - 3] = 0;
    return 1;
}

static const attest_variant variants[] = {
    {"causal-unasked", "causal though nobody asked", 3, causal_unasked},
    {"window-right-short", "one key less to the right", 4, right_short},
    {"window-right-long", "one key more to the right", 4, right_long},
    {"corner-of-axis", "the corner is that of the axis, not of the key length", 1, corner_of_axis},
    {"offsets-dropped", "offsets are replaced by the corner", 1, offsets_dropped},
    {"scale-padded-8", "the scale of the size padded to 8", 24, padded_8},
    {"scale-padded-16", "the scale of the size padded to 16", 24, padded_16},
    {"scale-padded-32", "the scale of the size padded to 32", 24, padded_32},
    {"scale-padded-64", "the scale of the size padded to 64", 24, padded_64},
    {"scale-of-all-heads", "the scale of all heads together", 24, model_width},
    {"scale-f16", "the scale passes through binary16", 9, scale_f16},
    {"scale-bf16", "the scale passes through bfloat16", 9, scale_bf16},
    {"softcap-before-scale", "the product is capped before it is scaled", 22, capped_first},
    {"mask-transposed", "a square mask is read transposed", 11, mask_transposed},
    {"mask-heads-repeat", "every head has the mask of the first", 10, mask_heads_repeat},
};
enum { VARIANTS = sizeof variants / sizeof *variants };
_Static_assert(ATTEST_DEFECTS + VARIANTS <= 128, "bits of attest_result.defects");

static const unsigned char classes[ATTEST_DEFECTS] = {
    [ATTEST_CAUSAL_IGNORED] = 2,
    [ATTEST_CAUSAL_STRICT] = 1,
    [ATTEST_CAUSAL_ONE_MORE] = 1,
    [ATTEST_CORNER_SWAPPED] = 1,
    [ATTEST_OFFSET_IGNORED] = 1,
    [ATTEST_WINDOW_IGNORED] = 2,
    [ATTEST_WINDOW_LEFT_SHORT] = 4,
    [ATTEST_WINDOW_LEFT_LONG] = 4,
    [ATTEST_WINDOW_RIGHT_IGNORED] = 2,
    [ATTEST_WINDOW_NOT_SHIFTED] = 5,
    [ATTEST_LENGTHS_IGNORED] = 2,
    [ATTEST_LENGTH_IS_INDEX] = 4,
    [ATTEST_LENGTH_OF_ENTRY_0] = 7,
    [ATTEST_MASK_DROPPED] = 2,
    [ATTEST_MASK_INVERTED] = 8,
    [ATTEST_MASK_OF_HEAD_0] = 10,
    [ATTEST_MASK_OF_ROW_0] = 10,
    [ATTEST_MASK_OF_ENTRY_0] = 10,
    [ATTEST_MASK_HEADS_ARE_BATCH] = 10,
    [ATTEST_MASK_REPLACES_CAUSAL] = 2,
    [ATTEST_CAUSAL_REPLACES_MASK] = 2,
    [ATTEST_FINITE_FOR_INFINITY] = 14,
    [ATTEST_LARGE_NEGATIVE_HIDES] = 14,
    [ATTEST_MASK_IS_SCALED] = 9,
    [ATTEST_SOFTCAP_IGNORED] = 22,
    [ATTEST_SOFTCAP_AFTER_MASK] = 22,
    [ATTEST_SOFTCAP_CLAMPS] = 22,
    [ATTEST_NO_SCALE] = 24,
    [ATTEST_SCALE_OF_VALUE_SIZE] = 24,
    [ATTEST_SCALE_ZERO_IS_DEFAULT] = 24,
    [ATTEST_SCALE_VALUE_IGNORED] = 24,
    [ATTEST_SCALE_SIGN_LOST] = 24,
    [ATTEST_ALIBI_IGNORED] = 36,
    [ATTEST_ALIBI_NOT_SHIFTED] = 36,
    [ATTEST_ALIBI_BY_KEY] = 36,
    [ATTEST_ALIBI_SIGNED] = 36,
    [ATTEST_LAST_ELEMENT_DROPPED] = 24,
    [ATTEST_FIRST_64_ELEMENTS] = 24,
    [ATTEST_HEADS_TILED] = 26,
    [ATTEST_KV_HEAD_0] = 26,
    [ATTEST_KV_ENTRY_0] = 33,
    [ATTEST_CACHE_AFTER_NEW] = 6,
    [ATTEST_LAYOUT_SWAPPED] = 25,
    [ATTEST_VALUES_ONE_LATE] = 23,
    [ATTEST_LAST_KEY_DROPPED] = 23,
    [ATTEST_TAIL_OF_8_DROPPED] = 23,
    [ATTEST_FIRST_16_KEYS] = 23,
    [ATTEST_FIRST_64_KEYS] = 23,
    [ATTEST_FIRST_128_KEYS] = 23,
    [ATTEST_SINK_IGNORED] = 35,
    [ATTEST_SINK_IS_SCALED] = 35,
    [ATTEST_LSE_WITHOUT_SINK] = 34,
    [ATTEST_LSE_IN_BASE_2] = 34,
    [ATTEST_LSE_WITHOUT_MAXIMUM] = 34,
    [ATTEST_NO_MAXIMUM] = 15,
    [ATTEST_SCORES_CLAMPED] = 15,
    [ATTEST_EXP_COARSE] = 19,
    [ATTEST_WEIGHTS_BF16] = 17,
    [ATTEST_WEIGHTS_F16] = 17,
    [ATTEST_SCORES_F16] = 16,
    [ATTEST_EMPTY_ROW_MEAN] = 12,
    [ATTEST_EMPTY_ROW_NAN] = 12,
    [ATTEST_HIDDEN_TIMES_ZERO] = 20,
    [ATTEST_NAN_SWALLOWED] = 21,
    [ATTEST_SAFE_SOFTMAX] = 21,
    [ATTEST_DENORMALS_FLUSHED] = 18,
};

int attest_known_count(void) { return ATTEST_DEFECTS + VARIANTS; }

const char *attest_known_name(int number) {
    return number < ATTEST_DEFECTS ? attest_defect_table[number].name
                                   : variants[number - ATTEST_DEFECTS].name;
}

const char *attest_known_description(int number) {
    return number < ATTEST_DEFECTS ? attest_defect_table[number].description
                                   : variants[number - ATTEST_DEFECTS].description;
}

int attest_known_class(int number) {
    return number < ATTEST_DEFECTS ? classes[number] : variants[number - ATTEST_DEFECTS].bug_class;
}

const attn_normal *attest_known_problem(int number, const attn_normal *n,
                                        attest_variant_problem *space, attest_defect *defect,
                                        size_t *count) {
    *count = number < ATTEST_DEFECTS ? 1 : 0;
    *defect = number < ATTEST_DEFECTS ? (attest_defect)number : ATTEST_CAUSAL_IGNORED;
    if (*count == 1) {
        return n;
    }
    space->normal = *n;
    space->problem = *n->problem;
    space->normal.problem = &space->problem;
    return variants[number - ATTEST_DEFECTS].change(space) ? &space->normal : NULL;
}
