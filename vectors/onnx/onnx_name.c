/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_name.c - which of the defects that upstream has corrected explains a case's outputs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/defects/defects.h"
#include "reference/problem/convert.h"
#include "vectors/onnx/onnx.h"

/* spec/profiles/onnx-24.json; before lengths existed it says the same as onnx-23. */
const attn_profile attest_onnx_profile = {
    .corner = ATTN_CORNER_BOTTOM_RIGHT_LENGTHS,
    .window_form = ATTN_WINDOW_NOT_DEFINED,
    .default_scale = ATTN_SCALE_RSQRT_D,
    .gqa_order = ATTN_GQA_GROUPED,
    .empty_row = ATTN_EMPTY_ZERO,
    .lse_empty = ATTN_LSE_EMPTY_UNSPECIFIED,
    .mask_with_causal = ATTN_MASK_AND_CAUSAL,
};

/* One explanation of Y: a layout and up to two defects. */
typedef struct explanation {
    int unsplit;
    size_t count;
    attest_defect defects[2];
} explanation;

/* What upstream has corrected, alone and in pairs; the fewest defects that explain Y win. */
static const attest_defect candidates[] = {
    ATTEST_HEADS_TILED,    ATTEST_SOFTCAP_AFTER_MASK, ATTEST_OFFSET_IGNORED,  ATTEST_CORNER_SWAPPED,
    ATTEST_EMPTY_ROW_MEAN, ATTEST_EMPTY_ROW_NAN,      ATTEST_CACHE_AFTER_NEW, ATTEST_MASK_INVERTED};
#define CANDIDATES (sizeof candidates / sizeof *candidates)

static int close_to(double actual, double expected, attest_dtype dtype) {
    double relative = dtype == ATTEST_F32 || dtype == ATTEST_F64 ? 1e-5 : 2e-3;
    return actual == expected || fabs(actual - expected) <= 1e-6 + relative * fabs(expected);
}

/* Y is laid out as the case has it: element [b,h,i,c] through the strides of o. */
static int matches_y(const attn_normal *n, const attest_onnx_case *loaded, const double *o) {
    const attest_tensor *view = &n->problem->o, *y = &loaded->output[ATTEST_ONNX_Y];
    attest_tensor stored = *view;
    stored.data = y->data;
    for (int64_t at = 0; at < n->batch * n->q_heads * n->queries * n->value_size; at++) {
        int64_t row = at / n->value_size;
        const int64_t index[ATTEST_MAX_RANK] = {row / n->queries / n->q_heads,
                                                row / n->queries % n->q_heads, row % n->queries,
                                                at % n->value_size};
        if (!close_to(attn_load(y->dtype, attn_element(&stored, index)), o[at], y->dtype)) {
            return 0;
        }
    }
    return 1;
}

static int open_problem(attest_onnx_problem *built, attn_normal *n, const attest_onnx_case *loaded,
                        int unsplit, char *message) {
    int status = unsplit ? attest_onnx_to_problem_unsplit(built, loaded, message)
                         : attest_onnx_to_problem(built, loaded, message);
    if (status == 0 &&
        attn_normalise(n, &built->problem, &attest_onnx_profile, 0, message) != ATTEST_OK) {
        attest_onnx_problem_free(built);
        status = -1;
    }
    return status;
}

/* 1 if the explanation gives Y, 0 if not, -1 with a message. */
static int explains(const attest_onnx_case *loaded, const explanation *why, char *message) {
    attest_onnx_problem built;
    attn_normal n;
    if (open_problem(&built, &n, loaded, why->unsplit, message) != 0) {
        return -1;
    }
    size_t rows = (size_t)(n.batch * n.q_heads * n.queries);
    double *o = calloc(rows * (size_t)n.value_size + 1, sizeof *o);
    double *lse = calloc(rows + 1, sizeof *lse);
    int status = -1;
    snprintf(message, ATTEST_MESSAGE_BYTES, "not enough memory");
    if (o && lse && attest_defective(&n, why->defects, why->count, o, lse) == 0) {
        status = matches_y(&n, loaded, o);
    }
    free(o);
    free(lse);
    attest_onnx_problem_free(&built);
    return status;
}

/* The fewest defects first: none, one, two, each with and without the old layout. */
static int find_explanation(const attest_onnx_case *loaded, explanation *why, char *message) {
    for (size_t count = 0; count <= 3; count++) {
        for (int unsplit = 0; unsplit <= (loaded->input[ATTEST_ONNX_Q].rank == 3); unsplit++) {
            if (count < (size_t)unsplit || count - (size_t)unsplit > 2) {
                continue;
            }
            size_t left = count - (size_t)unsplit;
            for (size_t a = 0; a < (left > 0 ? CANDIDATES : 1); a++) {
                for (size_t b = left > 1 ? a + 1 : 0; b < (left > 1 ? CANDIDATES : 1); b++) {
                    *why = (explanation){unsplit, left, {candidates[a], candidates[b]}};
                    int found = explains(loaded, why, message);
                    if (found != 0) {
                        return found < 0 ? -1 : 0;
                    }
                }
            }
        }
    }
    snprintf(message, ATTEST_MESSAGE_BYTES, "Y: no known defect explains it");
    return -1;
}

/* 1 if the stored scores are those of this stage, under the same explanation. */
static int scores_match(const attest_onnx_case *loaded, const explanation *why,
                        attest_score_stage stage) {
    char message[ATTEST_MESSAGE_BYTES];
    attest_onnx_problem built;
    attn_normal n;
    const attest_tensor *qk = &loaded->output[ATTEST_ONNX_QK];
    if (open_problem(&built, &n, loaded, why->unsplit, message) != 0) {
        return 0;
    }
    int64_t count = n.batch * n.q_heads * n.queries * n.keys;
    double *scores = calloc((size_t)count + 1, sizeof *scores);
    int same = scores && attest_defective_scores(&n, why->defects, why->count, stage, scores) == 0;
    for (int64_t k = 0; same && k < count; k++) {
        const void *at = (const char *)qk->data + k * attn_dtype_bytes(qk->dtype);
        same = close_to(attn_load(qk->dtype, at), scores[k], qk->dtype);
    }
    free(scores);
    attest_onnx_problem_free(&built);
    return same;
}

/* Modes 1 and 2 meant each other's output until 2026-05; visible where the two differ. */
static int modes_exchanged(const attest_onnx_case *loaded, const explanation *why) {
    if (loaded->output[ATTEST_ONNX_QK].dtype == 0 || loaded->qk_mode < 1 || loaded->qk_mode > 2) {
        return 0;
    }
    attest_score_stage due = loaded->qk_mode == 1 ? ATTEST_STAGE_CAPPED : ATTEST_STAGE_BIASED;
    attest_score_stage other = loaded->qk_mode == 1 ? ATTEST_STAGE_BIASED : ATTEST_STAGE_CAPPED;
    return !scores_match(loaded, why, due) && scores_match(loaded, why, other);
}

static void append(char names[128], const char *name) {
    size_t used = strlen(names);
    snprintf(names + used, 128 - used, "%s%s", used ? " " : "", name);
}

int attest_onnx_diagnose(const attest_onnx_case *loaded, char names[128],
                         char message[ATTEST_MESSAGE_BYTES]) {
    explanation why;
    names[0] = '\0';
    if (find_explanation(loaded, &why, message) != 0) {
        return -1;
    }
    if (why.unsplit) {
        append(names, "heads-not-split");
    }
    for (size_t k = 0; k < why.count; k++) {
        append(names, attest_defect_table[why.defects[k]].name);
    }
    if (modes_exchanged(loaded, &why)) {
        append(names, "qk-modes-exchanged");
    }
    return 0;
}
