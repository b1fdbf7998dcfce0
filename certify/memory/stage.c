/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/memory/stage.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "certify/plan/data.h"
#include "certify/plan/placed.h"
#include "reference/problem/normal.h"

/* Any order of the axes but the last, as views of people's tensors have, and a gap of twice its
 * size after one axis, as of a tensor that is packed with two others. */
static void lay_freely(attest_tensor *t, uint64_t bits) {
    uint32_t order[ATTEST_MAX_RANK] = {0, 1, 2, 3};
    const uint32_t gap = (uint32_t)(bits % 5);
    int64_t step = 1;
    for (uint32_t left = t->rank > 0 ? t->rank - 1 : 0; left > 1; left--) {
        bits = attest_mix(bits);
        const uint32_t chosen = (uint32_t)(bits % left), last = order[left - 1];
        order[left - 1] = order[chosen];
        order[chosen] = last;
    }
    for (uint32_t at = t->rank; at-- > 0;) {
        t->stride[order[at]] = step;
        step *= t->shape[order[at]] > 0 ? t->shape[order[at]] : 1;
        step *= at == gap ? 3 : 1;
    }
}

/* Axis order in memory, outermost first, and what each axis is stretched by. */
static void set_strides(attest_tensor *t, attest_layout layout, int input) {
    static const uint32_t plain[ATTEST_MAX_RANK] = {0, 1, 2, 3};
    static const uint32_t tokens[ATTEST_MAX_RANK] = {0, 2, 1, 3};
    const uint32_t *order = layout == ATTEST_LAYOUT_TOKENS && t->rank >= 3 ? tokens : plain;
    int64_t step = layout == ATTEST_LAYOUT_SPREAD ? 2 : 1;
    for (uint32_t at = t->rank; at-- > 0;) {
        uint32_t axis = order[at];
        t->stride[axis] = step;
        step *= t->shape[axis] > 0 ? t->shape[axis] : 1;
        if (layout == ATTEST_LAYOUT_PADDED) {
            step += 3 + (int64_t)at;
            if (t->shape[axis] == 1) {
                t->stride[axis] = 999983; /* the stride of a single index means nothing */
            }
        }
    }
    if (layout == ATTEST_LAYOUT_BROADCAST && input && t->rank == 4) {
        t->stride[0] = 0;
    }
}

static void set_tensor(attest_tensor *t, attest_dtype dtype, uint32_t rank, const int64_t *shape) {
    memset(t, 0, sizeof *t);
    t->dtype = dtype;
    t->rank = rank;
    memcpy(t->shape, shape, rank * sizeof *shape);
}

static attest_dtype wide_type(const attest_case *c) {
    return c->q_type == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
}

static void describe(attest_problem *p, const attest_case *c) {
    memset(p, 0, sizeof *p);
    p->struct_bytes = sizeof *p;
    p->features = c->features;
    p->scale = c->scale;
    p->softcap = c->softcap;
    if (c->features & ATTEST_WINDOW) {
        p->window_left = c->window_left;
        p->window_right = c->window_right;
    }
    p->window_size = c->window_size;
    p->threads = (int32_t)c->threads;
    const attest_layout layout = (attest_layout)c->layout;
    const attest_layout list = layout == ATTEST_LAYOUT_SPREAD ? layout : ATTEST_LAYOUT_DENSE;
    const int64_t q[] = {c->batch, c->q_heads, c->queries, c->head_size};
    const int64_t k[] = {c->batch, c->kv_heads, c->keys, c->head_size};
    const int64_t v[] = {c->batch, c->kv_heads, c->keys, c->value_size};
    const int64_t o[] = {c->batch, c->q_heads, c->queries, c->value_size};
    set_tensor(&p->q, c->q_type, 4, q);
    set_tensor(&p->k, c->kv_type, 4, k);
    set_tensor(&p->v, c->kv_type, 4, v);
    set_tensor(&p->o, c->o_type, 4, o);
    set_strides(&p->q, layout == ATTEST_LAYOUT_BROADCAST ? ATTEST_LAYOUT_DENSE : layout, 1);
    set_strides(&p->k, layout, 1);
    set_strides(&p->v, layout, 1);
    set_strides(&p->o, layout == ATTEST_LAYOUT_BROADCAST ? ATTEST_LAYOUT_DENSE : layout, 0);
    if (c->features & ATTEST_LSE) {
        set_tensor(&p->lse, wide_type(c), 3, o);
        set_strides(&p->lse, layout == ATTEST_LAYOUT_BROADCAST ? ATTEST_LAYOUT_DENSE : layout, 0);
    }
    if (c->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
        const int64_t full[] = {c->batch, c->q_heads, c->queries, c->keys};
        int64_t shape[ATTEST_MAX_RANK] = {0};
        const int64_t skip = ATTEST_MAX_RANK - c->mask_rank;
        for (int64_t axis = skip; axis < ATTEST_MAX_RANK; axis++) {
            shape[axis - skip] = c->mask_full >> axis & 1 ? full[axis] : 1;
        }
        set_tensor(&p->mask, c->mask_type, (uint32_t)c->mask_rank, shape);
        set_strides(&p->mask, layout == ATTEST_LAYOUT_TOKENS ? ATTEST_LAYOUT_DENSE : layout, 1);
    }
    if (c->features & ATTEST_SINKS) {
        set_tensor(&p->sinks, wide_type(c), 1, &c->q_heads);
        set_strides(&p->sinks, list, 1);
    }
    if (c->features & ATTEST_ALIBI) {
        const int64_t both[] = {c->batch, c->q_heads};
        set_tensor(&p->slopes, wide_type(c), (uint32_t)c->slopes_rank,
                   c->slopes_rank == 2 ? both : &c->q_heads);
        set_strides(&p->slopes, list, 1);
    }
    if (c->features & ATTEST_KEY_LENGTHS) {
        set_tensor(&p->key_lengths, ATTEST_I64, 1, &c->batch);
        set_strides(&p->key_lengths, list, 1);
    }
    if (c->features & ATTEST_OFFSETS) {
        set_tensor(&p->offsets, ATTEST_I64, 1, &c->batch);
        set_strides(&p->offsets, list, 1);
    }
}

static void mix(attest_problem *p, const attest_case *c) {
    for (int slot = 0; c->layout == ATTEST_LAYOUT_MIXED && slot < ATTEST_SLOTS; slot++) {
        attest_tensor *t = attest_slot_tensor(p, slot);
        if (t != NULL && t->rank > 1) {
            lay_freely(t, attest_mix(c->seed ^ attest_mix((uint64_t)slot)));
        }
    }
}

static void stretch(attest_problem *p, const attest_case *c) {
    attest_tensor *t = attest_slot_tensor(p, (int)c->parameter[ATTEST_HUGE_SLOT]);
    const int64_t axis = c->parameter[ATTEST_HUGE_AXIS];
    if (c->layout == ATTEST_LAYOUT_HUGE && t != NULL && axis >= 0 && axis < (int64_t)t->rank) {
        t->stride[axis] = c->parameter[ATTEST_HUGE_STRIDE];
    }
}

uint64_t attest_extent_bytes(const attest_tensor *t) {
    uint64_t last = 0;
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        uint64_t distance = 0;
        if (t->shape[axis] == 0) {
            return 0;
        }
        if (t->shape[axis] < 0 || t->stride[axis] < 0 ||
            __builtin_mul_overflow((uint64_t)t->shape[axis] - 1, (uint64_t)t->stride[axis],
                                   &distance) ||
            __builtin_add_overflow(last, distance, &last)) {
            return UINT64_MAX;
        }
    }
    uint64_t bytes = (uint64_t)attn_dtype_bytes(t->dtype);
    if (__builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, bytes, &bytes)) {
        return UINT64_MAX;
    }
    return bytes;
}

static uint64_t alignment_of(const attest_tensor *t, uint32_t declared) {
    uint64_t own = (uint64_t)attn_dtype_bytes(t->dtype);
    return declared > own ? declared : own;
}

static int is_sparse(const attest_place *place) { return place->map_bytes > ATTEST_SPARSE_BYTES; }

static int place_all(attest_stage *stage, uint32_t alignment, attest_fence fence) {
    for (int slot = 0; slot < ATTEST_SLOT_WORKSPACE; slot++) {
        attest_tensor *t = attest_slot_tensor(&stage->problem, slot);
        stage->place[slot] = (attest_place){0};
        t->data = NULL;
        if (t->dtype == 0) {
            continue;
        }
        uint64_t bytes = attest_extent_bytes(t);
        if (bytes > ATTEST_MOST_TENSOR_BYTES) {
            return 0;
        }
        stage->place[slot] =
            attest_arena_place(stage->arena, bytes, alignment_of(t, alignment), fence);
        if (slot < ATTEST_INPUT_SLOTS) {
            t->data = attest_arena_at(stage->arena, slot, stage->place[slot].data_offset);
        }
    }
    return 1;
}

static void fill_operand(const attest_tensor *t, int64_t recipe, const attest_case *c, int slot) {
    if (recipe >= ATTEST_RECIPE_BELL) {
        attest_fill_placed(t, (attest_recipe)recipe, c, slot);
    } else {
        attest_fill_values(t, (attest_recipe)recipe, c, slot);
    }
}

/* Gaps hold NaN: one that reaches a result shows. */
static void fill_inputs(attest_stage *stage, const attest_case *c) {
    const attest_problem *p = &stage->problem;
    for (int slot = 0; slot < ATTEST_INPUT_SLOTS; slot++) {
        if (stage->place[slot].present && !is_sparse(&stage->place[slot])) {
            attest_arena_fill(stage->arena, slot, &stage->place[slot], ATTEST_PATTERN_NAN);
        }
    }
    fill_operand(&p->q, c->qk, c, ATTEST_SLOT_Q);
    fill_operand(&p->k, c->qk, c, ATTEST_SLOT_K);
    fill_operand(&p->v, c->v, c, ATTEST_SLOT_V);
    if (c->unseen != ATTEST_UNSEEN_PLAIN) {
        attest_fill_unseen(&p->k, c);
        attest_fill_unseen(&p->v, c);
    }
    if (p->mask.dtype) {
        attest_fill_mask(&p->mask, c);
    }
    if (p->sinks.dtype) {
        attest_fill_values(&p->sinks,
                           c->qk >= ATTEST_RECIPE_BELL ? ATTEST_RECIPE_BELL : ATTEST_RECIPE_COARSE,
                           c, ATTEST_SLOT_SINKS);
    }
    if (p->slopes.dtype) {
        attest_fill_slopes(&p->slopes, c);
    }
    if (p->key_lengths.dtype) {
        attest_fill_lengths(&p->key_lengths, c);
    }
    if (p->offsets.dtype) {
        attest_fill_offsets(&p->offsets, c);
    }
}

int attest_stage_build(attest_stage *stage, attest_arena *arena, const attest_case *c,
                       uint32_t alignment, attest_fence fence, char why[ATTEST_MESSAGE_BYTES]) {
    attest_stage_free(stage);
    stage->arena = arena;
    describe(&stage->problem, c);
    mix(&stage->problem, c);
    stretch(&stage->problem, c);
    if (!place_all(stage, alignment, fence)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "a tensor of this case does not fit into its slot");
        return 0;
    }
    fill_inputs(stage, c);
    return 1;
}

static void drop_image(attest_stage *stage, int index) {
    if (stage->image[index] != NULL) {
        munmap(stage->image[index], stage->image_bytes[index]);
        stage->image[index] = NULL;
    }
}

void attest_stage_free(attest_stage *stage) {
    for (int i = 0; i < ATTEST_OUTPUT_SLOTS; i++) {
        drop_image(stage, i);
    }
    *stage = (attest_stage){0};
}

int attest_stage_fence(attest_stage *stage, uint32_t alignment, attest_fence fence) {
    unsigned char *kept[ATTEST_INPUT_SLOTS] = {0};
    const attest_place workspace = stage->place[ATTEST_SLOT_WORKSPACE];
    int fine = 1;
    for (int slot = 0; slot < ATTEST_INPUT_SLOTS; slot++) {
        const attest_place *p = &stage->place[slot];
        if (p->present && p->data_bytes > 0) {
            kept[slot] = malloc((size_t)p->data_bytes);
            fine = fine && kept[slot] != NULL;
            if (kept[slot] != NULL) {
                memcpy(kept[slot], attest_arena_at(stage->arena, slot, p->data_offset),
                       (size_t)p->data_bytes);
            }
        }
    }
    fine = fine && place_all(stage, alignment, fence);
    for (int slot = 0; slot < ATTEST_INPUT_SLOTS; slot++) {
        const attest_place *p = &stage->place[slot];
        if (fine && kept[slot] != NULL) {
            attest_arena_fill(stage->arena, slot, p, ATTEST_PATTERN_NAN);
            memcpy(attest_arena_at(stage->arena, slot, p->data_offset), kept[slot],
                   (size_t)p->data_bytes);
        }
        free(kept[slot]);
    }
    return fine && attest_stage_workspace(stage, workspace.data_bytes, fence);
}

int attest_stage_workspace(attest_stage *stage, uint64_t bytes, attest_fence fence) {
    attest_place *p = &stage->place[ATTEST_SLOT_WORKSPACE];
    *p = (attest_place){0};
    stage->problem.workspace_bytes = bytes;
    if (bytes > ATTEST_MOST_TENSOR_BYTES) {
        return 0;
    }
    if (bytes > 0) {
        *p = attest_arena_place(stage->arena, bytes, 64, fence);
    }
    return 1;
}

/* Copies each element of a tensor from one image to another of the same layout. */
static void copy_elements(unsigned char *to, const unsigned char *from, const attest_tensor *t) {
    const int64_t bytes = attn_dtype_bytes(t->dtype);
    int64_t n[ATTEST_MAX_RANK], s[ATTEST_MAX_RANK];
    for (uint32_t axis = 0; axis < ATTEST_MAX_RANK; axis++) {
        n[axis] = axis < t->rank ? t->shape[axis] : 1;
        s[axis] = axis < t->rank ? t->stride[axis] : 0;
    }
    for (int64_t a = 0; a < n[0]; a++) {
        for (int64_t b = 0; b < n[1]; b++) {
            for (int64_t c = 0; c < n[2]; c++) {
                for (int64_t d = 0; d < n[3]; d++) {
                    int64_t at = (a * s[0] + b * s[1] + c * s[2] + d * s[3]) * bytes;
                    memcpy(to + at, from + at, (size_t)bytes);
                }
            }
        }
    }
}

static void fill_elements(unsigned char *data, const attest_tensor *t, attest_pattern pattern) {
    const int64_t bytes = attn_dtype_bytes(t->dtype);
    for (int64_t a = 0; a < t->shape[0]; a++) {
        for (int64_t b = 0; b < t->shape[1]; b++) {
            for (int64_t c = 0; c < (t->rank > 2 ? t->shape[2] : 1); c++) {
                for (int64_t d = 0; d < (t->rank > 3 ? t->shape[3] : 1); d++) {
                    const int64_t at =
                        a * t->stride[0] + b * t->stride[1] + c * t->stride[2] + d * t->stride[3];
                    attest_pattern_fill(data + at * bytes, (uint64_t)bytes, pattern);
                }
            }
        }
    }
}

void attest_stage_dirty(attest_stage *stage, attest_pattern pattern) {
    stage->pattern = pattern;
    for (int slot = ATTEST_INPUT_SLOTS; slot < ATTEST_SLOTS; slot++) {
        const attest_place *p = &stage->place[slot];
        if (p->present && is_sparse(p)) {
            const attest_tensor *t = attest_slot_tensor(&stage->problem, slot);
            fill_elements(attest_arena_at(stage->arena, slot, p->data_offset), t, pattern);
        } else if (p->present) {
            attest_arena_fill(stage->arena, slot, p, pattern);
        }
    }
}

int attest_stage_collect(attest_stage *stage) {
    for (int slot = ATTEST_INPUT_SLOTS; slot < ATTEST_SLOTS; slot++) {
        const attest_place *p = &stage->place[slot];
        const int index = slot - ATTEST_INPUT_SLOTS;
        drop_image(stage, index);
        if (!p->present) {
            continue;
        }
        const size_t bytes = (size_t)(p->map_bytes ? p->map_bytes : stage->arena->page);
        unsigned char *image = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (image == MAP_FAILED) {
            return 0;
        }
        stage->image[index] = image;
        stage->image_bytes[index] = bytes;
        attest_tensor *t = attest_slot_tensor(&stage->problem, slot);
        const uint64_t data = p->data_offset - p->map_offset;
        if (is_sparse(p) && t != NULL) {
            copy_elements(image + data, attest_arena_at(stage->arena, slot, p->data_offset), t);
        } else {
            memcpy(image, attest_arena_at(stage->arena, slot, p->map_offset), (size_t)p->map_bytes);
        }
        if (t != NULL) {
            t->data = image + data;
        }
    }
    return 1;
}

int attest_stage_stray(const attest_stage *stage, int *slot, int64_t *distance) {
    for (*slot = ATTEST_INPUT_SLOTS; *slot < ATTEST_SLOTS; (*slot)++) {
        const attest_place *p = &stage->place[*slot];
        const unsigned char *image = stage->image[*slot - ATTEST_INPUT_SLOTS];
        if (!p->present || p->map_bytes == 0 || is_sparse(p) || image == NULL) {
            continue;
        }
        unsigned char *expected = malloc((size_t)p->map_bytes);
        if (expected == NULL) { /* what cannot be looked at is not fine */
            *distance = 0;
            return 1;
        }
        const uint64_t data = p->data_offset - p->map_offset;
        attest_pattern_fill(expected, p->map_bytes, stage->pattern);
        attest_problem view = stage->problem;
        const attest_tensor *t = attest_slot_tensor(&view, *slot);
        if (t != NULL) {
            copy_elements(expected + data, image + data, t);
        } else { /* the workspace is the kernel's, all of it */
            memcpy(expected + data, image + data, (size_t)p->data_bytes);
        }
        uint64_t i = 0;
        while (i < p->map_bytes && expected[i] == image[i]) {
            i++;
        }
        free(expected);
        if (i < p->map_bytes) {
            *distance = (int64_t)i - (int64_t)data;
            return 1;
        }
    }
    return 0;
}

int attest_stage_settled(const attest_stage *stage) {
    for (int slot = ATTEST_SLOT_O; slot <= ATTEST_SLOT_WORKSPACE; slot++) {
        const attest_place *p = &stage->place[slot];
        const unsigned char *image = stage->image[slot - ATTEST_INPUT_SLOTS];
        if (p->present && !is_sparse(p) && image != NULL &&
            memcmp(image, attest_arena_at(stage->arena, slot, p->map_offset),
                   (size_t)p->map_bytes) != 0) {
            return 0;
        }
    }
    return 1;
}

uint64_t attest_stage_inputs_hash(const attest_stage *stage) {
    crypto_generichash_state state;
    uint64_t hash[2];
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    for (int slot = 0; slot < ATTEST_INPUT_SLOTS; slot++) {
        const attest_place *p = &stage->place[slot];
        if (p->present && !is_sparse(p)) {
            crypto_generichash_update(&state, attest_arena_at(stage->arena, slot, p->map_offset),
                                      p->map_bytes);
        }
    }
    crypto_generichash_final(&state, (unsigned char *)hash, sizeof hash);
    return hash[0];
}
