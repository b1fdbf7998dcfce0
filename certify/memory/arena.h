/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arena.h - attest's side of the memory that tensors live in (slots.h). Inputs are sealed: attest
 * keeps the one writable mapping, a worker can only map them for reading. Each tensor's pages are
 * alone in its slot, flush against unmapped memory at one end; the bytes between the data and the
 * page's other end, and between strided elements, hold a pattern that must survive a call.
 */
#ifndef ATTEST_ARENA_H
#define ATTEST_ARENA_H

#include <stdint.h>

#include "certify/worker/slots.h"
#include "certify/worker/wire.h"

/* The largest tensor: three elements of 8 bytes, 2^31 and a little apart, and the pages around
 * them. */
#define ATTEST_MOST_TENSOR_BYTES (ATTEST_SLOT_BYTES / 4 * 3)

typedef struct attest_arena {
    int inputs, outputs; /* memory files */
    unsigned char *input_base, *output_base;
    uint64_t page;
    uint64_t touched; /* bytes of pages ever used, for deciding when to start afresh */
} attest_arena;

typedef enum attest_fence {
    ATTEST_FENCE_END,  /* the byte after the tensor is not mapped */
    ATTEST_FENCE_START /* the byte before the tensor is not mapped */
} attest_fence;

/* What memory holds before a call. Each is a function of the position alone. */
typedef enum attest_pattern {
    ATTEST_PATTERN_NAN,   /* a NaN in every type, not always the same */
    ATTEST_PATTERN_NOISE, /* unrelated bytes */
    ATTEST_PATTERN_ZERO,
    ATTEST_PATTERNS
} attest_pattern;

int attest_arena_open(attest_arena *arena); /* 1, or 0 with errno set */
void attest_arena_close(attest_arena *arena);

/* Where a tensor of `bytes` goes; `alignment` is a power of two of at most a page. */
attest_place attest_arena_place(const attest_arena *arena, uint64_t bytes, uint64_t alignment,
                                attest_fence fence);

/* attest's own address of a position in a slot. */
unsigned char *attest_arena_at(const attest_arena *arena, int slot, uint64_t offset);

/* Fills the pages of a place, canaries included. */
void attest_arena_fill(attest_arena *arena, int slot, const attest_place *place,
                       attest_pattern pattern);
void attest_pattern_fill(unsigned char *bytes, uint64_t count, attest_pattern pattern);
unsigned char attest_pattern_nan_byte(uint64_t at); /* what ATTEST_PATTERN_NAN has there */

attest_crash *attest_arena_crash(const attest_arena *arena);

#endif
