/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stage.h - a case set up in memory: every operand with its strides in its slot, filled by its
 * recipe. `problem` is attest's own view: inputs point into the sealed file, outputs to private
 * copies that attest_stage_collect() takes after a call, so what is judged cannot change any more.
 */
#ifndef ATTEST_STAGE_H
#define ATTEST_STAGE_H

#include "certify/memory/arena.h"
#include "certify/plan/case.h"

/* Of a tensor that spans more than this, elements alone are touched: its gaps stay unbacked. */
#define ATTEST_SPARSE_BYTES (UINT64_C(1) << 28)

typedef struct attest_stage {
    attest_arena *arena;
    attest_problem problem;
    attest_place place[ATTEST_SLOTS];
    unsigned char *image[ATTEST_OUTPUT_SLOTS]; /* private copies of the output slots' pages */
    size_t image_bytes[ATTEST_OUTPUT_SLOTS];
    attest_pattern pattern;
} attest_stage;

/* Sets up a case. 1, or 0 with a reason (no memory, or sizes beyond a slot). */
int attest_stage_build(attest_stage *stage, attest_arena *arena, const attest_case *c,
                       uint32_t alignment, attest_fence fence, char why[ATTEST_MESSAGE_BYTES]);
void attest_stage_free(attest_stage *stage);

/* Moves every tensor to its slot's other end, values kept. */
int attest_stage_fence(attest_stage *stage, uint32_t alignment, attest_fence fence);

/* Fills outputs and workspace before a call. */
void attest_stage_dirty(attest_stage *stage, attest_pattern pattern);

int attest_stage_workspace(attest_stage *stage, uint64_t bytes, attest_fence fence);

/* Copies the outputs to private memory; problem.o and problem.lse then point there. */
int attest_stage_collect(attest_stage *stage);

/*
 * Looks for a byte that no output element owns and that changed since attest_stage_dirty(): 1 if
 * there is one, with its slot and its distance from the start of the data.
 */
int attest_stage_stray(const attest_stage *stage, int *slot, int64_t *distance);

/* Whether the shared outputs and the workspace still hold what was collected. */
int attest_stage_settled(const attest_stage *stage);

/* Hash of every input byte, gaps included; sparse tensors left out: no worker can write them. */
uint64_t attest_stage_inputs_hash(const attest_stage *stage);

/* Bytes from first to last element; 0 for an empty tensor; UINT64_MAX if they do not fit. */
uint64_t attest_extent_bytes(const attest_tensor *tensor);

#endif
