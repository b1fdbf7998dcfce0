/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/memory/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

static unsigned char *open_file(int *file, const char *name, uint64_t bytes, int seals) {
    *file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*file < 0 || ftruncate(*file, (off_t)bytes) != 0) {
        return NULL;
    }
    void *base =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *file, 0);
    if (base == MAP_FAILED || fcntl(*file, F_ADD_SEALS, seals) != 0) {
        return NULL;
    }
    return base;
}

#define INPUT_BYTES ((uint64_t)ATTEST_INPUT_SLOTS << ATTEST_SLOT_SHIFT)
#define OUTPUT_BYTES (ATTEST_CRASH_OFFSET + ATTEST_CRASH_BYTES)

int attest_arena_open(attest_arena *arena) {
    *arena = (attest_arena){.inputs = -1, .outputs = -1, .page = (uint64_t)sysconf(_SC_PAGESIZE)};
    const int shape = F_SEAL_SHRINK | F_SEAL_GROW;
    arena->input_base =
        open_file(&arena->inputs, "attest-inputs", INPUT_BYTES, shape | F_SEAL_FUTURE_WRITE);
    if (arena->input_base != NULL) {
        arena->output_base = open_file(&arena->outputs, "attest-outputs", OUTPUT_BYTES, shape);
    }
    if (arena->output_base == NULL) {
        int saved = errno;
        attest_arena_close(arena);
        errno = saved;
        return 0;
    }
    return 1;
}

void attest_arena_close(attest_arena *arena) {
    if (arena->input_base != NULL) {
        munmap(arena->input_base, (size_t)INPUT_BYTES);
    }
    if (arena->output_base != NULL) {
        munmap(arena->output_base, (size_t)OUTPUT_BYTES);
    }
    if (arena->inputs >= 0) {
        close(arena->inputs);
    }
    if (arena->outputs >= 0) {
        close(arena->outputs);
    }
    *arena = (attest_arena){.inputs = -1, .outputs = -1};
}

attest_place attest_arena_place(const attest_arena *arena, uint64_t bytes, uint64_t alignment,
                                attest_fence fence) {
    const uint64_t page = arena->page;
    const uint64_t pages = bytes == 0 ? 0 : (bytes - 1) / page + 1;
    attest_place place = {
        .map_offset = page, /* the page before stays unmapped */
        .map_bytes = pages * page,
        .data_bytes = bytes,
        .present = 1,
    };
    uint64_t slack = fence == ATTEST_FENCE_END ? place.map_bytes - bytes : 0;
    slack -= alignment > 1 ? slack % alignment : 0;
    place.data_offset = place.map_offset + slack;
    return place;
}

unsigned char *attest_arena_at(const attest_arena *arena, int slot, uint64_t offset) {
    if (slot < ATTEST_INPUT_SLOTS) {
        return arena->input_base + ((uint64_t)slot << ATTEST_SLOT_SHIFT) + offset;
    }
    return arena->output_base + ((uint64_t)(slot - ATTEST_INPUT_SLOTS) << ATTEST_SLOT_SHIFT) +
           offset;
}

/* NaNs of every width that differ from each other, so that a copy from elsewhere shows. */
unsigned char attest_pattern_nan_byte(uint64_t at) {
    return (unsigned char)(at % 8 ? 0xff
                                  : 0x81 | at * 37 >> 3); /* 0xff81 and up: NaN as BF16 too */
}

void attest_pattern_fill(unsigned char *bytes, uint64_t count, attest_pattern pattern) {
    if (pattern != ATTEST_PATTERN_NOISE) {
        memset(bytes, pattern == ATTEST_PATTERN_ZERO ? 0 : 0xff, (size_t)count);
        for (uint64_t i = 0; pattern == ATTEST_PATTERN_NAN && i < count; i += 8) {
            bytes[i] = attest_pattern_nan_byte(i);
        }
        return;
    }
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (uint64_t i = 0; i < count; i++) {
        if (i % 8 == 0) {
            state = state * 6364136223846793005u + 1442695040888963407u;
        }
        bytes[i] = (unsigned char)(state >> (8 + 6 * (i % 8)));
    }
}

void attest_arena_fill(attest_arena *arena, int slot, const attest_place *place,
                       attest_pattern pattern) {
    attest_pattern_fill(attest_arena_at(arena, slot, place->map_offset), place->map_bytes, pattern);
    if (arena->touched < UINT64_MAX - place->map_bytes) { /* the largest number means: worn out */
        arena->touched += place->map_bytes;
    }
}

attest_crash *attest_arena_crash(const attest_arena *arena) {
    return (attest_crash *)(void *)(arena->output_base + ATTEST_CRASH_OFFSET);
}
