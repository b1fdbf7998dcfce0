/* SPDX-License-Identifier: Apache-2.0 */
/* attest_printable on any bytes in an allocation of exactly their size, ended or not. */
#include <stdlib.h>

#include "proofs/harness/proof.h"
#include "certify/worker/wire.h"

int main(void) {
    const size_t size = nondet_size(), at = nondet_size();
    __CPROVER_assume(size <= LONGEST);
    char *text = malloc(size);
    __CPROVER_assume(text);
    attest_printable(text, size);
    if (at < size) {
        PROVE(text[at] == '\0' || (text[at] >= ' ' && text[at] <= '~'),
              "C14 every byte is harmless");
        PROVE(text[size - 1] == '\0', "C14 the text ends");
        REACHED(at + 2 == size && text[at] == '?', "a long text");
    }
    free(text);
}
