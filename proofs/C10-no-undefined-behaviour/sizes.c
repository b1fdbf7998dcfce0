/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the shell reserves for a product of two sizes has room for it, also where the product does
 * not fit in 64 bits. calloc refuses what wraps around when it is multiplied by the size of an
 * element, as the C standard has it; the product of the sizes is the shell's own. One of the two is
 * at most 15: no solver decides products of two arbitrary 64-bit numbers.
 */
#include <stdlib.h>

#include "proofs/harness/proof.h"

static size_t count;
static _Bool asked;

static void *observe(size_t elements, size_t element_bytes) {
    (void)element_bytes;
    count = elements;
    asked = 1;
    return NULL;
}

#define calloc observe
#include PROOF_SOURCE
#undef calloc

int main(void) {
    const int64_t a = nondet_long() & INT64_MAX, b = nondet_byte() & 15;
    array(a, b, sizeof(attn_real));
    PROVE(!asked || (unsigned __int128)count >= (unsigned __int128)a * (unsigned __int128)b,
          "C10 room for a product of sizes");
    REACHED(asked && a > 1000000 && b > 3, "a product of sizes");
    REACHED(!asked, "a product that is refused");
}
