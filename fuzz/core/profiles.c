/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/core/profiles.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    attn_profile profile;
} profiles[] = {
#include "generated/profiles.inc"
};

const attn_profile *attest_fuzz_profile(const char *name) {
    name = name ? name : "attest";
    for (size_t k = 0; k < sizeof profiles / sizeof *profiles; k++) {
        if (strcmp(profiles[k].name, name) == 0) {
            return &profiles[k].profile;
        }
    }
    return NULL;
}
