/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/diagnose/variants.h"

#include <math.h>

#include "certify/plan/bug_class.h"
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
    p->problem.offsets = (attest_tensor){
        .data = p->list, .dtype = ATTEST_I64, .rank = 1, .shape = {p->normal.batch}, .stride = {1}};
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
    if (!(p->normal.features & ATTEST_SOFTCAP) || p->normal.scale == 1 || p->normal.scale == 0) {
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
    {"causal-unasked", "causal though nobody asked", CLASS_MASK_UNASKED, causal_unasked},
    {"window-right-short", "one key less to the right", CLASS_OFF_BY_ONE, right_short},
    {"window-right-long", "one key more to the right", CLASS_OFF_BY_ONE, right_long},
    {"corner-of-axis", "the corner is that of the axis, not of the key length",
     CLASS_CAUSAL_DIAGONAL, corner_of_axis},
    {"offsets-dropped", "offsets are replaced by the corner", CLASS_CAUSAL_DIAGONAL,
     offsets_dropped},
    {"scale-padded-8", "the scale of the size padded to 8", CLASS_HEAD_SIZE, padded_8},
    {"scale-padded-16", "the scale of the size padded to 16", CLASS_HEAD_SIZE, padded_16},
    {"scale-padded-32", "the scale of the size padded to 32", CLASS_HEAD_SIZE, padded_32},
    {"scale-padded-64", "the scale of the size padded to 64", CLASS_HEAD_SIZE, padded_64},
    {"scale-of-all-heads", "the scale of all heads together", CLASS_HEAD_SIZE, model_width},
    {"scale-f16", "the scale passes through binary16", CLASS_MASK_TYPE, scale_f16},
    {"scale-bf16", "the scale passes through bfloat16", CLASS_MASK_TYPE, scale_bf16},
    {"softcap-before-scale", "the product is capped before it is scaled", CLASS_SOFTCAP,
     capped_first},
    {"mask-transposed", "a square mask is read transposed", CLASS_MASK_INDEX, mask_transposed},
    {"mask-heads-repeat", "every head has the mask of the first", CLASS_MASK_STRIDES,
     mask_heads_repeat},
};
enum { VARIANTS = sizeof variants / sizeof *variants };
_Static_assert(ATTEST_DEFECTS + VARIANTS <= 128, "bits of attest_result.defects");

static const unsigned char classes[ATTEST_DEFECTS] = {
    [ATTEST_CAUSAL_IGNORED] = CLASS_OPTION_IGNORED,
    [ATTEST_CAUSAL_STRICT] = CLASS_CAUSAL_DIAGONAL,
    [ATTEST_CAUSAL_ONE_MORE] = CLASS_CAUSAL_DIAGONAL,
    [ATTEST_CORNER_SWAPPED] = CLASS_CAUSAL_DIAGONAL,
    [ATTEST_OFFSET_IGNORED] = CLASS_CAUSAL_DIAGONAL,
    [ATTEST_WINDOW_IGNORED] = CLASS_OPTION_IGNORED,
    [ATTEST_WINDOW_LEFT_SHORT] = CLASS_OFF_BY_ONE,
    [ATTEST_WINDOW_LEFT_LONG] = CLASS_OFF_BY_ONE,
    [ATTEST_WINDOW_RIGHT_IGNORED] = CLASS_OPTION_IGNORED,
    [ATTEST_WINDOW_NOT_SHIFTED] = CLASS_WINDOW_LOOP,
    [ATTEST_LENGTHS_IGNORED] = CLASS_OPTION_IGNORED,
    [ATTEST_LENGTH_IS_INDEX] = CLASS_OFF_BY_ONE,
    [ATTEST_LENGTH_OF_ENTRY_0] = CLASS_SEQUENCE_LEAK,
    [ATTEST_MASK_DROPPED] = CLASS_OPTION_IGNORED,
    [ATTEST_MASK_INVERTED] = CLASS_MASK_POLARITY,
    [ATTEST_MASK_OF_HEAD_0] = CLASS_MASK_STRIDES,
    [ATTEST_MASK_OF_ROW_0] = CLASS_MASK_STRIDES,
    [ATTEST_MASK_OF_ENTRY_0] = CLASS_MASK_STRIDES,
    [ATTEST_MASK_HEADS_ARE_BATCH] = CLASS_MASK_STRIDES,
    [ATTEST_MASK_REPLACES_CAUSAL] = CLASS_OPTION_IGNORED,
    [ATTEST_CAUSAL_REPLACES_MASK] = CLASS_OPTION_IGNORED,
    [ATTEST_FINITE_FOR_INFINITY] = CLASS_FINITE_INFINITY,
    [ATTEST_LARGE_NEGATIVE_HIDES] = CLASS_FINITE_INFINITY,
    [ATTEST_MASK_IS_SCALED] = CLASS_MASK_TYPE,
    [ATTEST_SOFTCAP_IGNORED] = CLASS_SOFTCAP,
    [ATTEST_SOFTCAP_AFTER_MASK] = CLASS_SOFTCAP,
    [ATTEST_SOFTCAP_CLAMPS] = CLASS_SOFTCAP,
    [ATTEST_NO_SCALE] = CLASS_HEAD_SIZE,
    [ATTEST_SCALE_OF_VALUE_SIZE] = CLASS_HEAD_SIZE,
    [ATTEST_SCALE_ZERO_IS_DEFAULT] = CLASS_HEAD_SIZE,
    [ATTEST_SCALE_VALUE_IGNORED] = CLASS_HEAD_SIZE,
    [ATTEST_SCALE_SIGN_LOST] = CLASS_HEAD_SIZE,
    [ATTEST_ALIBI_IGNORED] = CLASS_ALIBI,
    [ATTEST_ALIBI_NOT_SHIFTED] = CLASS_ALIBI,
    [ATTEST_ALIBI_BY_KEY] = CLASS_ALIBI,
    [ATTEST_ALIBI_SIGNED] = CLASS_ALIBI,
    [ATTEST_LAST_ELEMENT_DROPPED] = CLASS_HEAD_SIZE,
    [ATTEST_FIRST_64_ELEMENTS] = CLASS_HEAD_SIZE,
    [ATTEST_HEADS_TILED] = CLASS_KV_HEAD,
    [ATTEST_KV_HEAD_0] = CLASS_KV_HEAD,
    [ATTEST_KV_ENTRY_0] = CLASS_NEIGHBOURS,
    [ATTEST_CACHE_AFTER_NEW] = CLASS_CACHE,
    [ATTEST_LAYOUT_SWAPPED] = CLASS_STRIDES,
    [ATTEST_VALUES_ONE_LATE] = CLASS_TAIL,
    [ATTEST_LAST_KEY_DROPPED] = CLASS_TAIL,
    [ATTEST_TAIL_OF_8_DROPPED] = CLASS_TAIL,
    [ATTEST_FIRST_16_KEYS] = CLASS_TAIL,
    [ATTEST_FIRST_64_KEYS] = CLASS_TAIL,
    [ATTEST_FIRST_128_KEYS] = CLASS_TAIL,
    [ATTEST_SINK_IGNORED] = CLASS_SINKS,
    [ATTEST_SINK_IS_SCALED] = CLASS_SINKS,
    [ATTEST_LSE_WITHOUT_SINK] = CLASS_LSE,
    [ATTEST_LSE_IN_BASE_2] = CLASS_LSE,
    [ATTEST_LSE_WITHOUT_MAXIMUM] = CLASS_LSE,
    [ATTEST_NO_MAXIMUM] = CLASS_MAXIMUM,
    [ATTEST_SCORES_CLAMPED] = CLASS_MAXIMUM,
    [ATTEST_EXP_COARSE] = CLASS_FAST_MATH,
    [ATTEST_WEIGHTS_BF16] = CLASS_OUTPUT_SUM,
    [ATTEST_WEIGHTS_F16] = CLASS_OUTPUT_SUM,
    [ATTEST_SCORES_F16] = CLASS_SCORE_OVERFLOW,
    [ATTEST_EMPTY_ROW_MEAN] = CLASS_EMPTY_ROW,
    [ATTEST_EMPTY_ROW_NAN] = CLASS_EMPTY_ROW,
    [ATTEST_HIDDEN_TIMES_ZERO] = CLASS_HIDDEN_VALUE,
    [ATTEST_NAN_SWALLOWED] = CLASS_NAN_SWALLOWED,
    [ATTEST_SAFE_SOFTMAX] = CLASS_NAN_SWALLOWED,
    [ATTEST_DENORMALS_FLUSHED] = CLASS_UNDERFLOW,
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
