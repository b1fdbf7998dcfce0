/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/judge/derive.h"

#include <stdlib.h>
#include <string.h>

#include "certify/plan/data.h"

#define POSITIONAL (ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_WINDOW_SIZE | ATTEST_ALIBI)

int attest_source_take(attest_source *source, const attest_workbench *bench) {
    *source = (attest_source){.problem = bench->stage.problem, .normal = bench->normal};
    for (int slot = 0; slot < ATTEST_INPUT_SLOTS; slot++) {
        attest_tensor *t = attest_slot_tensor(&source->problem, slot);
        const uint64_t bytes = t->dtype ? attest_extent_bytes(t) : 0;
        if (t->data == NULL) {
            continue;
        }
        source->owned[slot] = malloc((size_t)bytes + 1);
        if (source->owned[slot] == NULL) {
            attest_source_free(source);
            return 0;
        }
        memcpy(source->owned[slot], t->data, (size_t)bytes);
        t->data = source->owned[slot];
    }
    source->normal.problem = &source->problem;
    return 1;
}

void attest_source_free(attest_source *source) {
    for (int slot = 0; slot < ATTEST_INPUT_SLOTS; slot++) {
        free(source->owned[slot]);
        source->owned[slot] = NULL;
    }
}

static int64_t source_entry(const attest_source *source, const attest_part *part, int64_t b) {
    return (b + part->entry) % source->normal.batch;
}

static void copy_main(attest_workbench *bench, const attest_source *source,
                      const attest_part *part) {
    const attest_problem *to = &bench->stage.problem, *from = &source->problem;
    const attn_normal *n = &bench->normal;
    for (int64_t b = 0; b < n->batch; b++) {
        const int64_t e = source_entry(source, part, b);
        for (int64_t h = 0; h < n->q_heads; h++) {
            for (int64_t i = 0; i < n->queries; i++) {
                for (int64_t c = 0; c < n->head_size; c++) {
                    attest_put(&to->q, b, h, i, c, attest_get(&from->q, e, h, i + part->row, c));
                }
            }
        }
        for (int64_t g = 0; g < n->kv_heads; g++) {
            for (int64_t j = 0; j < n->keys; j++) {
                for (int64_t c = 0; c < n->head_size; c++) {
                    attest_put(&to->k, b, g, j, c, attest_get(&from->k, e, g, j, c));
                }
                for (int64_t c = 0; c < n->value_size; c++) {
                    attest_put(&to->v, b, g, j, c, attest_get(&from->v, e, g, j, c));
                }
            }
        }
    }
}

/* Axis a of [B,Hq,Sq,Sk]: where an index of the part lies in the source. */
static int64_t source_index(const attest_source *source, const attest_part *part, uint32_t axis,
                            int64_t index) {
    return axis == 0 ? source_entry(source, part, index) : axis == 2 ? index + part->row : index;
}

static void copy_mask(attest_workbench *bench, const attest_source *source,
                      const attest_part *part) {
    const attest_tensor *to = &bench->stage.problem.mask, *from = &source->problem.mask;
    const uint32_t pad = ATTEST_MAX_RANK - to->rank;
    int64_t n[ATTEST_MAX_RANK], at[ATTEST_MAX_RANK];
    for (uint32_t axis = 0; axis < ATTEST_MAX_RANK; axis++) {
        n[axis] = axis < pad ? 1 : to->shape[axis - pad];
    }
    for (at[0] = 0; at[0] < n[0]; at[0]++) {
        for (at[1] = 0; at[1] < n[1]; at[1]++) {
            for (at[2] = 0; at[2] < n[2]; at[2]++) {
                for (at[3] = 0; at[3] < n[3]; at[3]++) {
                    int64_t there[ATTEST_MAX_RANK] = {0}, here[ATTEST_MAX_RANK] = {0};
                    for (uint32_t axis = pad; axis < ATTEST_MAX_RANK; axis++) {
                        here[axis - pad] = at[axis];
                        there[axis - pad] = from->shape[axis - pad] == 1
                                                ? 0
                                                : source_index(source, part, axis, at[axis]);
                    }
                    memcpy((void *)(uintptr_t)attn_element(to, here), attn_element(from, there),
                           (size_t)attn_dtype_bytes(to->dtype));
                }
            }
        }
    }
}

static void copy_rest(attest_workbench *bench, const attest_source *source,
                      const attest_part *part) {
    const attest_problem *to = &bench->stage.problem, *from = &source->problem;
    const attn_normal *n = &bench->normal;
    for (int64_t h = 0; h < n->q_heads; h++) {
        if (to->sinks.dtype) {
            attest_put(&to->sinks, h, 0, 0, 0, attest_get(&from->sinks, h, 0, 0, 0));
        }
        if (to->slopes.dtype && to->slopes.rank == 1) {
            attest_put(&to->slopes, h, 0, 0, 0, attest_get(&from->slopes, h, 0, 0, 0));
        }
    }
    for (int64_t b = 0; b < n->batch; b++) {
        const int64_t e = source_entry(source, part, b);
        for (int64_t h = 0; to->slopes.dtype && to->slopes.rank == 2 && h < n->q_heads; h++) {
            attest_put(&to->slopes, b, h, 0, 0, attest_get(&from->slopes, e, h, 0, 0));
        }
        if (to->key_lengths.dtype) {
            const int64_t length = attn_key_length(&source->normal, e);
            *(int64_t *)attest_at(&to->key_lengths, b, 0, 0, 0) =
                length < part->keys ? length : part->keys;
        }
        if (to->offsets.dtype) {
            *(int64_t *)attest_at(&to->offsets, b, 0, 0, 0) =
                attn_offset(&source->normal, e) + part->row;
        }
    }
}

int attest_derive(attest_workbench *bench, const attest_case *c, const attest_source *source,
                  const attest_part *part, attest_result *result) {
    attest_case derived = *c;
    derived.batch = part->entries;
    derived.queries = part->rows;
    derived.keys = part->keys;
    if ((c->features & POSITIONAL) && (bench->session.info.features & ATTEST_OFFSETS)) {
        derived.features |= ATTEST_OFFSETS;
    }
    if (!attest_workbench_build(bench, &derived, result)) {
        return 0;
    }
    copy_main(bench, source, part);
    copy_rest(bench, source, part);
    if (bench->stage.problem.mask.dtype) {
        copy_mask(bench, source, part);
    }
    for (int64_t b = 0; (c->features & POSITIONAL) && b < part->entries; b++) {
        const int64_t e = source_entry(source, part, b);
        if (attn_offset(&bench->normal, b) != attn_offset(&source->normal, e) + part->row) {
            attest_result_mistrust(result,
                                   "this part needs offsets, which the kernel does not take");
            return 0;
        }
    }
    return 1;
}

int64_t attest_part_differs(const attest_workbench *bench, const attest_kept *whole,
                            const attest_source *source, const attest_part *part, int64_t *first) {
    attest_kept now = attest_keep(bench);
    const attn_normal *n = &bench->normal;
    int64_t differing = 0, row = 0;
    if (now.o == NULL || whole->o == NULL) { /* what cannot be compared does not agree */
        attest_kept_free(&now);
        return 1;
    }
    for (int64_t b = 0; b < n->batch; b++) {
        for (int64_t h = 0; h < n->q_heads; h++) {
            for (int64_t i = 0; i < n->queries; i++, row++) {
                const int64_t there =
                    (source_entry(source, part, b) * n->q_heads + h) * source->normal.queries + i +
                    part->row;
                const size_t bytes = (size_t)n->value_size * sizeof *now.o;
                if (memcmp(now.o + row * n->value_size, whole->o + there * n->value_size, bytes) !=
                        0 ||
                    (now.lse_count > 0 && now.lse[row] != whole->lse[there])) {
                    *first = differing++ == 0 ? row : *first;
                }
            }
        }
    }
    attest_kept_free(&now);
    return differing;
}
