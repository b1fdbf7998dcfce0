/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point of an engine for inputs that are files. */
#include "fuzz/core/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    attest_fuzz_input(data, size);
    return 0;
}
