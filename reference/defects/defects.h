/* SPDX-License-Identifier: Apache-2.0 */
/*
 * defects.h - wrong on purpose: an evaluator of the normal form with a switch for each defect that
 * attention kernels have been seen to have, and a few cheats. It makes the labelled wrong outputs
 * of the corpus, says which vectors would notice which defect, and names the defect of other
 * people's vectors. With no switch on it is right, and written apart from the reference.
 */
#ifndef ATTEST_DEFECTS_H
#define ATTEST_DEFECTS_H

#include <stddef.h>

#include "reference/problem/normal.h"

typedef enum attest_defect {
    /* masks */
    ATTEST_CAUSAL_IGNORED,
    ATTEST_CAUSAL_STRICT,
    ATTEST_CAUSAL_ONE_MORE,
    ATTEST_CORNER_SWAPPED,
    ATTEST_OFFSET_IGNORED,
    ATTEST_WINDOW_IGNORED,
    ATTEST_WINDOW_LEFT_SHORT,
    ATTEST_WINDOW_LEFT_LONG,
    ATTEST_WINDOW_RIGHT_IGNORED,
    ATTEST_WINDOW_NOT_SHIFTED,
    ATTEST_LENGTHS_IGNORED,
    ATTEST_LENGTH_IS_INDEX,
    ATTEST_LENGTH_OF_ENTRY_0,
    ATTEST_MASK_DROPPED,
    ATTEST_MASK_INVERTED,
    ATTEST_MASK_OF_HEAD_0,
    ATTEST_MASK_OF_ROW_0,
    ATTEST_MASK_OF_ENTRY_0,
    ATTEST_MASK_HEADS_ARE_BATCH,
    ATTEST_MASK_REPLACES_CAUSAL,
    ATTEST_CAUSAL_REPLACES_MASK,
    ATTEST_FINITE_FOR_INFINITY,
    ATTEST_LARGE_NEGATIVE_HIDES,
    ATTEST_MASK_IS_SCALED,
    /* scores */
    ATTEST_SOFTCAP_IGNORED,
    ATTEST_SOFTCAP_AFTER_MASK,
    ATTEST_SOFTCAP_CLAMPS,
    ATTEST_NO_SCALE,
    ATTEST_SCALE_OF_VALUE_SIZE,
    ATTEST_SCALE_ZERO_IS_DEFAULT,
    ATTEST_SCALE_VALUE_IGNORED,
    ATTEST_SCALE_SIGN_LOST,
    ATTEST_ALIBI_IGNORED,
    ATTEST_ALIBI_NOT_SHIFTED,
    ATTEST_ALIBI_BY_KEY,
    ATTEST_ALIBI_SIGNED,
    ATTEST_LAST_ELEMENT_DROPPED,
    ATTEST_FIRST_64_ELEMENTS,
    /* heads, batch, layout */
    ATTEST_HEADS_TILED,
    ATTEST_KV_HEAD_0,
    ATTEST_KV_ENTRY_0,
    ATTEST_CACHE_AFTER_NEW,
    ATTEST_LAYOUT_SWAPPED,
    ATTEST_VALUES_ONE_LATE,
    /* keys */
    ATTEST_LAST_KEY_DROPPED,
    ATTEST_TAIL_OF_8_DROPPED,
    ATTEST_FIRST_16_KEYS,
    ATTEST_FIRST_64_KEYS,
    ATTEST_FIRST_128_KEYS,
    /* softmax */
    ATTEST_SINK_IGNORED,
    ATTEST_SINK_IS_SCALED,
    ATTEST_LSE_WITHOUT_SINK,
    ATTEST_LSE_IN_BASE_2,
    ATTEST_LSE_WITHOUT_MAXIMUM,
    ATTEST_NO_MAXIMUM,
    ATTEST_SCORES_CLAMPED,
    ATTEST_EXP_COARSE,
    ATTEST_WEIGHTS_BF16,
    ATTEST_WEIGHTS_F16,
    ATTEST_SCORES_F16,
    ATTEST_EMPTY_ROW_MEAN,
    ATTEST_EMPTY_ROW_NAN,
    /* special values */
    ATTEST_HIDDEN_TIMES_ZERO,
    ATTEST_NAN_SWALLOWED,
    ATTEST_SAFE_SOFTMAX,
    ATTEST_DENORMALS_FLUSHED,
    /* cheats */
    ATTEST_CHEAT_ZEROS,
    ATTEST_CHEAT_NANS,
    ATTEST_CHEAT_UNIFORM,
    ATTEST_CHEAT_BEST_KEY,
    ATTEST_CHEAT_FIRST_ROW,
    ATTEST_CHEAT_UNWRITTEN,
    ATTEST_DEFECTS
} attest_defect;

#define ATTEST_FIRST_CHEAT ATTEST_CHEAT_ZEROS

typedef struct attest_defect_entry {
    const char *name, *requirement, *description;
} attest_defect_entry;

extern const attest_defect_entry attest_defect_table[ATTEST_DEFECTS];

/* A defect by name; ATTEST_DEFECTS where there is none. */
attest_defect attest_defect_find(const char *name);

/*
 * What a kernel with these defects, otherwise exact to binary64, returns: o dense [B,Hq,Sq,Dv], lse
 * dense [B,Hq,Sq], both before they are stored. 0, or -1 if memory is short.
 */
int attest_defective(const attn_normal *normal, const attest_defect *defects, size_t count,
                     double *o, double *lse);

/* Scores on their way to the softmax, dense [B,Hq,Sq,Sk]; -inf where a finished one is hidden. */
typedef enum attest_score_stage {
    ATTEST_STAGE_RAW,
    ATTEST_STAGE_CAPPED,
    ATTEST_STAGE_BIASED
} attest_score_stage;

int attest_defective_scores(const attn_normal *normal, const attest_defect *defects, size_t count,
                            attest_score_stage stage, double *scores);

#endif
