/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a tensor whose shape lies in an array of exactly its rank: an accepted shape takes
 * exactly the product of its axes, worked out here in wide integers, and that is at most the limit
 * even where axes of 0 are left out.
 *
 * Axes are all int64_t, or with DIGITS those with that many significant bits, at any place: a
 * product of two arbitrary 64-bit numbers is too much for a solver.
 */
#include <stdlib.h>

#include "vectors/read/bounds.h"
#include "proofs/harness/proof.h"

__extension__ typedef unsigned __int128 wide;

static int64_t any_axis(void) {
#ifdef DIGITS
    const uint64_t digits = nondet_byte() & ((1u << DIGITS) - 1);
    return (int64_t)(digits << (nondet_byte() & 63));
#else
    return nondet_long();
#endif
}

int main(void) {
    int64_t *shape = malloc(RANK * sizeof *shape);
    const uint64_t element = UINT64_C(1) << (nondet_byte() & 3);
    uint64_t bytes = 0;
    __CPROVER_assume(shape);
    for (size_t axis = 0; axis < RANK; axis++) {
        shape[axis] = any_axis();
    }
    if (attest_shape_bytes(element, shape, RANK, &bytes)) {
        wide all = element, nonzero = element;
        for (size_t axis = 0; axis < RANK; axis++) {
            PROVE(shape[axis] >= 0, "C14 no axis is negative");
            all *= (uint64_t)shape[axis];
            nonzero *= shape[axis] ? (uint64_t)shape[axis] : 1;
            PROVE(nonzero <= ATTEST_FILE_LIMIT, "C14 strides are within the limit");
        }
        PROVE(bytes == all, "C14 bytes are the product");
        REACHED(bytes == 4 * element, "a shape of four elements");
    }
    free(shape);
}
