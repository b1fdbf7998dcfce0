/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points of an engine for inputs that decode.h reads; one object, so all come together. */
#include "fuzz/core/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    attest_fuzz_input(data, size);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
    return attest_fuzz_mutate(data, size, room, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t room, unsigned seed) {
    return attest_fuzz_cross(a, a_size, b, b_size, out, room, seed);
}
