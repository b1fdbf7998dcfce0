/* SPDX-License-Identifier: Apache-2.0 */
/* The reference as a kernel, under every profile, in the strictest model that fits its width. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/core/fuzz_target.h"
#include "fuzz/core/reference_as_kernel.h"
#include "reference/kernel/forward.h"

static attest_fuzz_subject subject;

void attest_fuzz_input(const uint8_t *data, size_t size) {
    attest_fuzz_finding finding;
    if (subject.scope.kernel == NULL) {
        if (!attest_fuzz_open(&subject, &attest_fuzz_reference, &finding)) {
            fprintf(stderr, "reference: %s\n", finding.text);
            exit(2);
        }
        subject.wide_model = *attn_model_find("f64-strict");
        subject.scope.any_profile = 1;
        subject.forward = attn_forward;
    }
    attest_fuzz_test(&subject, data, size);
}
