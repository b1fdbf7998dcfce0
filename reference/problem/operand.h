/* SPDX-License-Identifier: Apache-2.0 */
/* operand.h - the tensors of a problem, one after the other: inputs first, in the ABI's order. */
#ifndef ATTN_OPERAND_H
#define ATTN_OPERAND_H

#include <stddef.h>

#include "spec/attest.h"

enum {
    ATTN_Q,
    ATTN_K,
    ATTN_V,
    ATTN_MASK,
    ATTN_SINKS,
    ATTN_SLOPES,
    ATTN_KEY_LENGTHS,
    ATTN_OFFSETS,
    ATTN_O,
    ATTN_LSE,
    ATTN_OPERANDS,
    ATTN_INPUTS = ATTN_O
};

static inline const char *attn_operand_name(int operand) {
    static const char *const names[ATTN_OPERANDS] = {
        "q", "k", "v", "mask", "sinks", "slopes", "key_lengths", "offsets", "o", "lse"};
    return names[operand];
}

static inline const attest_tensor *attn_operand(const attest_problem *p, int operand) {
    const attest_tensor *const tensors[ATTN_OPERANDS] = {
        &p->q,      &p->k,           &p->v,       &p->mask, &p->sinks,
        &p->slopes, &p->key_lengths, &p->offsets, &p->o,    &p->lse};
    return tensors[operand];
}

static inline attest_tensor *attn_operand_of(attest_problem *p, int operand) {
    return (attest_tensor *)(uintptr_t)attn_operand(p, operand);
}

#endif
