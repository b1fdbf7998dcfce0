/* SPDX-License-Identifier: Apache-2.0 */
/* The entry points of an engine, for the kernel this is linked with. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/core/fuzz_target.h"

static attest_fuzz_subject subject; /* an engine passes no context */

static void open_once(void) {
    attest_fuzz_finding finding;
    if (subject.scope.kernel == NULL &&
        !attest_fuzz_open(&subject, attest_kernel_v1(ATTEST_ABI_VERSION), &finding)) {
        fprintf(stderr, "no kernel to fuzz: %s: %s\n", finding.id, finding.text);
        exit(2);
    }
}

void attest_fuzz_input(const uint8_t *data, size_t size) {
    open_once();
    attest_fuzz_test(&subject, data, size);
}
