/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/core/fuzz_target.h"

void attest_fuzz_test(const attest_fuzz_subject *subject, const uint8_t *data, size_t size) {
    attest_fuzz_finding finding;
    unsigned char small[FUZZ_MOST_BYTES] = {0};
    size = size < sizeof small ? size : sizeof small;
    /* Before anything can go wrong: a sanitizer does not come back. */
    attest_fuzz_write(subject, data, size, "An input of the fuzzer.");
    if (!attest_fuzz_examine(subject, data, size, &finding)) {
        return;
    }
    if (size > 0) {
        memcpy(small, data, size);
    }
    size = attest_fuzz_shrink(subject, small, size, &finding);
    attest_fuzz_report(subject, small, size, &finding);
    abort();
}
