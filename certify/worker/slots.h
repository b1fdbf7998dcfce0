/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h - where tensors live. Each operand of a problem has one slot of 64 GiB address space, at
 * the same address in every worker, so an address alone names the operand and how far beyond it an
 * access went. Input slots are windows on one sealed memory file, output slots on another; a slot's
 * place in its file is its number there. Nothing of a slot is mapped but the pages of its tensor.
 */
#ifndef ATTEST_SLOTS_H
#define ATTEST_SLOTS_H

#include <stdint.h>

#include "spec/attest.h"

enum attest_slot {
    ATTEST_SLOT_Q,
    ATTEST_SLOT_K,
    ATTEST_SLOT_V,
    ATTEST_SLOT_MASK,
    ATTEST_SLOT_SINKS,
    ATTEST_SLOT_SLOPES,
    ATTEST_SLOT_KEY_LENGTHS,
    ATTEST_SLOT_OFFSETS,
    ATTEST_SLOT_O,
    ATTEST_SLOT_LSE,
    ATTEST_SLOT_WORKSPACE,
    ATTEST_SLOTS
};
#define ATTEST_INPUT_SLOTS ATTEST_SLOT_O
#define ATTEST_OUTPUT_SLOTS (ATTEST_SLOTS - ATTEST_INPUT_SLOTS)

#define ATTEST_SLOT_SHIFT 36
#define ATTEST_SLOT_BYTES (UINT64_C(1) << ATTEST_SLOT_SHIFT)
#define ATTEST_WORKER_BASE UINT64_C(0x200000000000)

/* Where one operand lies: offsets inside its slot, all of them smaller than ATTEST_SLOT_BYTES. */
typedef struct attest_place {
    uint64_t map_offset; /* first mapped byte, a multiple of the page size */
    uint64_t map_bytes;  /* a multiple of the page size; 0: nothing is mapped */
    uint64_t data_offset;
    uint64_t data_bytes;
    uint32_t present; /* 0: the operand is absent and its pointer NULL */
    uint32_t reserved;
} attest_place;

/* The tensor of a slot inside a problem; NULL for the workspace, which is not a tensor. */
static inline attest_tensor *attest_slot_tensor(attest_problem *p, int slot) {
    attest_tensor *const tensors[ATTEST_SLOTS] = {
        &p->q,      &p->k,           &p->v,       &p->mask, &p->sinks,
        &p->slopes, &p->key_lengths, &p->offsets, &p->o,    &p->lse,
    };
    return slot >= 0 && slot < ATTEST_SLOTS ? tensors[slot] : (attest_tensor *)0;
}

static inline const char *attest_slot_name(int slot) {
    static const char *const names[ATTEST_SLOTS] = {
        "q", "k", "v", "mask", "sinks", "slopes", "key_lengths", "offsets", "o", "lse", "workspace",
    };
    return slot >= 0 && slot < ATTEST_SLOTS ? names[slot] : "?";
}

#endif
