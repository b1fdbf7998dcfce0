/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * K5: rows, tiles and batch entries that see nothing, and rows that see one key, wherever it is.
 * What an empty row holds is the profile's word; its neighbours must not notice.
 */
#include <stdlib.h>

#include "certify/host/workbench.h"
#include "certify/judge/judge.h"
#include "certify/plan/space.h"

typedef struct hiding {
    uint64_t features;
    int64_t mask, lengths, offsets; /* recipes */
    int64_t queries;                /* 0: the list's own */
} hiding;

static const hiding hidings[] = {
    {ATTEST_MASK_BOOL, ATTEST_MASK_NONE_VISIBLE, 0, 0, 0},
    {ATTEST_MASK_ADD, ATTEST_MASK_NONE_VISIBLE, 0, 0, 0},
    {ATTEST_MASK_BOOL, ATTEST_MASK_SPARSE, 0, 0, 0},
    {ATTEST_MASK_ADD, ATTEST_MASK_SPARSE, 0, 0, 0},
    {ATTEST_MASK_BOOL, ATTEST_MASK_SINGLE, 0, 0, 70},
    {ATTEST_MASK_ADD, ATTEST_MASK_SINGLE, 0, 0, 70},
    {ATTEST_MASK_BOOL, ATTEST_MASK_HEAD, 0, 0, 0},
    {ATTEST_MASK_BOOL | ATTEST_CAUSAL, ATTEST_MASK_HEAD, 0, 0, 0},
    {ATTEST_KEY_LENGTHS, 0, ATTEST_LIST_ZERO, 0, 0},
    {ATTEST_KEY_LENGTHS, 0, ATTEST_LIST_ONE, 0, 0},
    {ATTEST_KEY_LENGTHS | ATTEST_CAUSAL, 0, ATTEST_LIST_RAGGED, 0, 40},
    {ATTEST_CAUSAL, 0, 0, 0, 150},
    {ATTEST_CAUSAL | ATTEST_OFFSETS, 0, 0, ATTEST_LIST_NEGATIVE, 0},
    {ATTEST_CAUSAL | ATTEST_OFFSETS, 0, 0, ATTEST_LIST_FAR, 0},
    {ATTEST_WINDOW | ATTEST_OFFSETS, 0, 0, ATTEST_LIST_RAGGED, 33},
};

static void plan(attest_plan *plan) {
    static const int64_t keys[] = {5, 33, 65, 130, 200};
    static const uint64_t with[] = {0, ATTEST_LSE, ATTEST_LSE | ATTEST_SINKS, ATTEST_SOFTCAP};
    const int lengths = attest_plan_by_level(plan, 2, 5, 5, 5);
    for (size_t h = 0; h < sizeof hidings / sizeof *hidings; h++) {
        for (int k = 0; k < lengths; k++) {
            for (int w = 0; w < 4; w++) {
                attest_case c = attest_plan_case(plan);
                c.batch = 2;
                c.q_heads = c.kv_heads = 2;
                c.keys = keys[k];
                c.queries = hidings[h].queries ? hidings[h].queries : 3;
                c.head_size = c.value_size = 8;
                c.features = hidings[h].features | (with[w] & plan->kernel->features);
                c.softcap = c.features & ATTEST_SOFTCAP ? 5 : 0;
                attest_plan_scale(plan, &c, 0.25);
                if (c.features & ATTEST_WINDOW) {
                    c.window_left = 2;
                    c.window_right = 1;
                }
                if (c.features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
                    c.mask = hidings[h].mask;
                    c.mask_rank = 4;
                    c.mask_full = 15;
                    c.mask_type = c.features & ATTEST_MASK_BOOL          ? ATTEST_BOOL
                                  : attest_plan_type(plan) == ATTEST_F64 ? ATTEST_F64
                                                                         : ATTEST_F32;
                }
                c.lengths = hidings[h].lengths;
                c.offsets = hidings[h].offsets;
                attest_plan_add(plan, &c);
            }
        }
    }
}

/* Was it the empty row itself that is wrong, or one that sees keys beside empty tiles? */
static void name_class(const attest_workbench *bench, attest_result *result) {
    const int64_t *at = result->place;
    unsigned char *visible = malloc((size_t)bench->normal.keys + 1);
    if (result->verdict == ATTEST_FAIL && result->has_value && visible != NULL) {
        const int empty = attn_visible_keys(&bench->normal, at[0], at[1], at[2], visible) == 0;
        result->bug_class = empty ? CLASS_EMPTY_ROW : CLASS_EMPTY_TILE;
        result->broken = empty ? attest_requirement_index("SEM-12") : result->broken;
    }
    free(visible);
}

static int has_empty_row(const attn_normal *n) {
    unsigned char *visible = malloc((size_t)n->keys + 1);
    int found = 0;
    for (int64_t row = 0; visible && row < n->batch * n->q_heads * n->queries; row++) {
        found |= attn_visible_keys(n, row / (n->q_heads * n->queries),
                                   row / n->queries % n->q_heads, row % n->queries, visible) == 0;
    }
    free(visible);
    return found;
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    attest_ids_add(&result->ids, "NUM-07");
    if (!attest_workbench_build(bench, c, result)) {
        return;
    }
    if (has_empty_row(&bench->normal)) {
        attest_ids_add(&result->ids, "SEM-12");
    }
    if (attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
        attest_judge(bench, 0, result);
        name_class(bench, result);
    }
}

const attest_check attest_check_empty = {
    .name = "empty",
    .sentence = "A row that sees no key, and rows beside empty tiles, hold what they must.",
    .requirements = "SEM-12 NUM-07",
    .classes = {CLASS_EMPTY_ROW, CLASS_EMPTY_TILE, CLASS_FINITE_INFINITY, CLASS_EMPTY_INPUT},
    .catalogue = "K5 K16 K20",
    .structural = 0,
    .plan = plan,
    .run = run,
};
