/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any problem at all, valid or not: a valid one with some words of its metadata overwritten. The
 * reference answers it without touching what it may not, and what it accepts it computes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/core/fuzz_target.h"
#include "fuzz/core/reference_as_kernel.h"
#include "reference/kernel/forward.h"

/* A word of the problem, as wide as eight bytes, takes an odd value; pointers stay as they are. */
static void spoil(attest_problem *problem, const unsigned char *bytes) {
    static const int64_t odd[] = {0,
                                  1,
                                  -1,
                                  2,
                                  3,
                                  5,
                                  6,
                                  7,
                                  INT64_MAX,
                                  INT64_MIN,
                                  INT64_MAX - 1,
                                  INT64_C(1) << 31,
                                  INT64_C(1) << 32,
                                  INT64_C(1) << 40,
                                  (INT64_C(1) << 40) + 1,
                                  INT64_C(1) << 62};
    size_t words = sizeof *problem / sizeof(int64_t), word = bytes[0] % words;
    char *at = (char *)problem + word * sizeof(int64_t);
    for (int which = 0; which < ATTN_OPERANDS; which++) {
        if (at == (char *)&attn_operand_of(problem, which)->data) {
            return;
        }
    }
    if (at == (char *)&problem->workspace) {
        return;
    }
    int64_t value;
    memcpy(&value, at, sizeof value);
    value = bytes[1] & 0x80 ? (int64_t)((uint64_t)value + bytes[2] - 128u) : odd[bytes[1] % 16];
    value = bytes[1] & 0x40 ? value ^ (INT64_C(1) << bytes[2] % 63) : value;
    memcpy(at, &value, sizeof value);
}

/* A tensor may begin an element late in its block: alignment is to be no accident. */
static size_t room_before(const attest_tensor *t, const attest_fuzz_block *block) {
    return block->memory ? (size_t)((const char *)t->data - (const char *)block->memory) : 0;
}

/* What was accepted may be larger than the memory behind it, or too much work (stride 0). */
static int fits(attest_problem *problem, const attest_fuzz_problem *made) {
    for (int which = 0; which < ATTN_OPERANDS; which++) {
        const attest_tensor *t = attn_operand(problem, which);
        for (uint32_t axis = 0; t->dtype && axis < t->rank; axis++) {
            if (t->shape[axis] > 1000) {
                return 0;
            }
        }
        const attest_fuzz_block *block = &made->block[which];
        if (t->dtype && attest_fuzz_extent(t) > block->bytes - room_before(t, block)) {
            return 0;
        }
    }
    return (attest_fuzz_count(&problem->q) + attest_fuzz_count(&problem->o)) *
               problem->k.shape[2] <=
           100000;
}

void attest_fuzz_input(const uint8_t *data, size_t size) {
    const attest_fuzz_scope scope = {
        .kernel = &attest_fuzz_reference, .any_profile = 1, .most_work = 600, .most_keys = 100};
    attest_fuzz_problem made;
    char message[ATTEST_MESSAGE_BYTES];
    size_t spoils = size > FUZZ_FIELDS ? (size - FUZZ_FIELDS) / FUZZ_PATCH_BYTES : 0;
    size_t fields = size < FUZZ_FIELDS ? size : FUZZ_FIELDS;
    if (attest_fuzz_decode(&made, &scope, data, fields)) {
        struct {
            attest_problem problem;
            unsigned char later[64]; /* what a later version may add */
        } given = {.problem = made.problem};
        attest_problem *problem = &given.problem;
        attn_normal normal;
        for (size_t n = 0; n < spoils && n < 8; n++) {
            spoil(problem, data + FUZZ_FIELDS + n * FUZZ_PATCH_BYTES);
        }
        given.later[0] = made.field[FUZZ_EXTRA] == 1;
        if (problem->struct_bytes > sizeof given) {
            problem->struct_bytes = sizeof given;
        }
        memset(message, 0x7f, sizeof message);
        attest_status bare = attn_normalise(&normal, problem, &made.profile, 1, message);
        if (bare == ATTEST_OK && fits(problem, &made)) {
            (void)attn_forward(problem, &made.profile, message);
        }
        if (bare != ATTEST_OK && !memchr(message, 0, sizeof message)) {
            fprintf(stderr, "MISMATCH ERR-01: status %d without a message\n", (int)bare);
            abort();
        }
        if (bare != ATTEST_OK && spoils == 0) {
            fprintf(stderr, "MISMATCH decode: a problem that is not valid: %s\n", message);
            abort();
        }
    }
    attest_fuzz_release(&made);
}
