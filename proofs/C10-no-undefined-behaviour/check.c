/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attn_check on a problem whose metadata is arbitrary: no overflow, no bad access, no undefined
 * shift or division. Shapes and strides are all int64_t where ONE_TENSOR asks about one tensor,
 * else -1..SIZE_MASK - 1: ten tensors of 64-bit products are too much for a solver. The caller's
 * part is that struct_bytes bytes are there, as far as the harness allocates them.
 *
 * The source is included, not linked, so that its static functions can be asked one by one.
 * vsnprintf is replaced by a function that writes one arbitrary byte of the message.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "proofs/harness/proof.h"

#include PROOF_SOURCE

#define TAIL_BYTES 8

int vsnprintf(char *text, size_t size, const char *format, va_list arguments) {
    (void)format;
    (void)arguments;
    const size_t place = nondet_size();
    if (place < size) {
        text[place] = (char)nondet_byte();
    }
    return nondet_int();
}

static int64_t any_size(void) {
#ifdef ONE_TENSOR
    return nondet_long();
#else
    return (int64_t)(nondet_byte() & SIZE_MASK) - 1; /* -1: a bad value is included */
#endif
}

static attest_tensor any_tensor(void) {
    attest_tensor tensor = {.data = NULL, .dtype = nondet_unsigned(), .rank = nondet_unsigned()};
    for (int axis = 0; axis < ATTEST_MAX_RANK; axis++) {
        tensor.shape[axis] = any_size();
        tensor.stride[axis] = any_size();
    }
    return tensor;
}

#ifdef ONE_TENSOR
int main(void) {
    static char message[ATTEST_MESSAGE_BYTES];
    const checker check = {.message = message, .metadata_only = 1};
    const attest_tensor tensor = any_tensor();
    const attest_status status = check_tensor(&check, &tensor, "tensor");
    if (status == ATTEST_OK) {
        PROVE(tensor.rank <= ATTEST_MAX_RANK, "C10 an accepted tensor has a rank");
        REACHED(tensor.rank == 4 && tensor.shape[3] > 1000000, "a large valid tensor");
    }
    REACHED(status == ATTEST_INVALID, "an invalid tensor");
}
#else
attest_problem nondet_problem(void);

/* Not allocated: a typed object keeps its fields apart in the formula. */
static struct {
    attest_problem problem;
    unsigned char tail[TAIL_BYTES];
} given;

int main(void) {
    static char message[ATTEST_MESSAGE_BYTES];
    attest_problem *problem = &given.problem;
    given.problem = nondet_problem();
    for (int byte = 0; byte < TAIL_BYTES; byte++) {
        given.tail[byte] = nondet_byte();
    }
    __CPROVER_assume(problem->struct_bytes <= sizeof *problem + TAIL_BYTES);
    problem->q = any_tensor();
    problem->k = any_tensor();
    problem->v = any_tensor();
    problem->mask = any_tensor();
    problem->sinks = any_tensor();
    problem->slopes = any_tensor();
    problem->key_lengths = any_tensor();
    problem->offsets = any_tensor();
    problem->o = any_tensor();
    problem->lse = any_tensor();
#ifdef FEATURES
    problem->features = FEATURES;
#endif
    const attest_status status = attn_check(problem, 1, message);
    PROVE(status == ATTEST_OK || status == ATTEST_INVALID || status == ATTEST_UNSUPPORTED,
          "C10 check answers");
    REACHED(status == ATTEST_OK, "a valid problem");
    REACHED(status == ATTEST_UNSUPPORTED, "an unsupported problem");
}
#endif
