/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/judge/clues.h"

#include <math.h>
#include <stdlib.h>

#include "reference/problem/convert.h"

const char *const attest_clue_names[ATTEST_CLUES] = {
    [ATTEST_CLUE_LSE] = "lse",
    [ATTEST_CLUE_EMPTY_ROW] = "empty-row",
    [ATTEST_CLUE_FULL_ROW] = "full-row",
    [ATTEST_CLUE_LATER_ENTRY] = "later-entry",
    [ATTEST_CLUE_LATER_HEAD] = "later-head",
    [ATTEST_CLUE_LATER_ROW] = "later-row",
    [ATTEST_CLUE_UNWRITTEN] = "unwritten",
    [ATTEST_CLUE_LOST] = "lost",
    [ATTEST_CLUE_SWALLOWED] = "swallowed",
    [ATTEST_CLUE_SLIGHT] = "slight",
    [ATTEST_CLUE_ZERO] = "zero",
};

static attest_clue_row row_of(const attn_normal *n, const int64_t place[4]) {
    unsigned char *visible = malloc((size_t)n->keys + 1);
    if (visible == NULL) {
        return ATTEST_CLUE_ROW_SEES_SOME;
    }
    const int64_t seen = attn_visible_keys(n, place[0], place[1], place[2], visible);
    free(visible);
    return seen == 0         ? ATTEST_CLUE_ROW_SEES_NOTHING
           : seen == n->keys ? ATTEST_CLUE_ROW_SEES_ALL
                             : ATTEST_CLUE_ROW_SEES_SOME;
}

/* Only the pattern of NaNs tells by its bytes: zeros and noise could be results. */
static int unwritten(const attest_stage *stage, int in_lse, const int64_t place[4]) {
    const int slot = in_lse ? ATTEST_SLOT_LSE : ATTEST_SLOT_O;
    const attest_place *p = &stage->place[slot];
    const attest_tensor *t = in_lse ? &stage->problem.lse : &stage->problem.o;
    const unsigned char *image = stage->image[slot - ATTEST_INPUT_SLOTS];
    const int64_t bytes = attn_dtype_bytes(t->dtype);
    uint64_t at = p->data_offset - p->map_offset;
    for (int axis = 0; axis < (in_lse ? 3 : 4); axis++) {
        at += (uint64_t)(place[axis] * t->stride[axis] * bytes);
    }
    int same = stage->pattern == ATTEST_PATTERN_NAN && image != NULL;
    for (uint64_t i = at; same && i < at + (uint64_t)bytes; i++) {
        same = image[i] == attest_pattern_nan_byte(i);
    }
    return same;
}

static int slight(double expected, double actual) {
    return isfinite(expected) && isfinite(actual) &&
           fabs(actual - expected) <= 0x1p-6 * fmax(fabs(expected), 0x1p-4);
}

void attest_clue_add(const attest_workbench *bench, attest_clue_row *row, const int64_t place[4],
                     int in_lse, double expected, double actual, attest_result *result) {
    if (*row == ATTEST_CLUE_ROW_UNKNOWN) {
        *row = row_of(&bench->normal, place);
    }
    const int holds[ATTEST_CLUES] = {
        [ATTEST_CLUE_LSE] = in_lse,
        [ATTEST_CLUE_EMPTY_ROW] = *row == ATTEST_CLUE_ROW_SEES_NOTHING,
        [ATTEST_CLUE_FULL_ROW] = *row == ATTEST_CLUE_ROW_SEES_ALL,
        [ATTEST_CLUE_LATER_ENTRY] = place[0] > 0,
        [ATTEST_CLUE_LATER_HEAD] = place[1] > 0,
        [ATTEST_CLUE_LATER_ROW] = place[2] > 0,
        [ATTEST_CLUE_UNWRITTEN] = unwritten(&bench->stage, in_lse, place),
        [ATTEST_CLUE_LOST] = isfinite(expected) && !isfinite(actual),
        [ATTEST_CLUE_SWALLOWED] = !isfinite(expected) && isfinite(actual),
        [ATTEST_CLUE_SLIGHT] = slight(expected, actual),
        [ATTEST_CLUE_ZERO] = actual == 0,
    };
    uint32_t clues = 0;
    for (int clue = 0; clue < ATTEST_CLUES; clue++) {
        clues |= holds[clue] ? UINT32_C(1) << clue : 0;
    }
    result->every = result->clued ? result->every & clues : clues;
    result->some |= clues;
    result->clued = 1;
}
