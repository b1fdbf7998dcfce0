/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * MEM-04: memory of keys that no row sees. K and V end, flush against unmapped memory, with the
 * last key that some row sees: the tensors are longer, but what is beyond does not exist. Parameter
 * 0 is the option that hides the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "certify/host/workbench.h"
#include "certify/judge/judge.h"
#include "certify/plan/plan.h"

static const uint64_t hiding[] = {ATTEST_KEY_LENGTHS, ATTEST_CAUSAL | ATTEST_OFFSETS,
                                  ATTEST_CAUSAL | ATTEST_KEY_LENGTHS,
                                  ATTEST_WINDOW | ATTEST_OFFSETS};
enum { HIDING = sizeof hiding / sizeof *hiding };

static void plan(attest_plan *plan) {
    static const int64_t keys[] = {7, 33, 65, 130, 200};
    const int lengths = attest_plan_by_level(plan, 2, 5, 5, 5);
    if (plan->profile.empty_row == ATTN_EMPTY_MEAN_OF_ALL) {
        return; /* every key matters to an empty row */
    }
    for (int h = 0; h < HIDING; h++) {
        for (int k = 0; k < lengths; k++) {
            for (int64_t queries = 1; queries <= 5; queries += 4) {
                attest_case c = attest_plan_case(plan);
                c.queries = queries;
                c.keys = keys[k];
                c.head_size = c.value_size = 8;
                c.features = hiding[h];
                c.parameter[0] = h;
                c.lengths = ATTEST_LIST_ONE;
                c.offsets = ATTEST_LIST_ONE;
                if (c.features & ATTEST_WINDOW) {
                    c.window_left = 3;
                    c.window_right = 2;
                }
                attest_plan_scale(plan, &c, 0.25);
                attest_plan_add(plan, &c);
            }
        }
    }
}

static int64_t seen_keys(const attn_normal *n) {
    unsigned char *visible = malloc((size_t)n->keys + 1);
    int64_t most = 0;
    for (int64_t row = 0; visible && row < n->q_heads * n->queries; row++) {
        attn_visible_keys(n, 0, row / n->queries, row % n->queries, visible);
        for (int64_t j = most; j < n->keys; j++) {
            most = visible[j] ? j + 1 : most;
        }
    }
    free(visible);
    return most;
}

/* One entry, one head, dense: the first `keys` rows are the first bytes. */
static int cut(attest_workbench *bench, int slot, int64_t keys) {
    attest_stage *stage = &bench->stage;
    attest_tensor *t = attest_slot_tensor(&stage->problem, slot);
    const int64_t element = attn_dtype_bytes(t->dtype);
    const uint64_t bytes = (uint64_t)(keys * t->stride[2] * element);
    const uint32_t declared = bench->session.info.alignment;
    const uint64_t alignment = declared > (uint32_t)element ? declared : (uint64_t)element;
    unsigned char *values = malloc((size_t)bytes + 1);
    if (values == NULL) {
        return 0;
    }
    memcpy(values, t->data, (size_t)bytes);
    stage->place[slot] = attest_arena_place(stage->arena, bytes, alignment, ATTEST_FENCE_END);
    attest_arena_fill(stage->arena, slot, &stage->place[slot], ATTEST_PATTERN_NAN);
    t->data = attest_arena_at(stage->arena, slot, stage->place[slot].data_offset);
    memcpy(t->data, values, (size_t)bytes);
    free(values);
    return 1;
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    const int guarded = attest_workbench_guarded(bench);
    attest_ids_add(guarded ? &result->ids : &result->untestable, "MEM-04");
    if (!guarded) {
        attest_result_not_applicable(result,
                                     "behind a program or Python all of the memory is there: "
                                     "a read outside the tensors does not show");
        return;
    }
    if (!attest_workbench_build(bench, c, result)) {
        return;
    }
    const int64_t keys = seen_keys(&bench->normal);
    if (c->batch != 1 || c->kv_heads != 1 || c->layout != ATTEST_LAYOUT_DENSE) {
        attest_result_mistrust(result, "only one dense head has its unseen keys at the end");
        return;
    }
    if (keys == c->keys) {
        attest_result_mistrust(result, "every key is seen by some row");
        return;
    }
    if (!cut(bench, ATTEST_SLOT_K, keys) || !cut(bench, ATTEST_SLOT_V, keys)) {
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: not enough memory");
        return;
    }
    if (attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
        attest_judge_values(bench, 0, result);
    }
    if (result->verdict == ATTEST_CRASH) {
        result->broken = attest_requirement_index("MEM-04");
        result->bug_class = CLASS_OUT_OF_BOUNDS;
    }
}

const attest_check attest_check_unseen = {
    .name = "unseen",
    .sentence = "Keys that no row sees are not read: their memory need not exist.",
    .requirements = "MEM-04",
    .classes = {CLASS_OUT_OF_BOUNDS},
    .catalogue = "K3 K9",
    .structural = 1,
    .plan = plan,
    .run = run,
};
