/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile file, read by both readers there are: they must agree on what it says. */
#include <string.h>

#include "certify/run/settings.h"
#include "fuzz/core/fuzz_target.h"
#include "vectors/read/profile_read.h"

void attest_fuzz_input(const uint8_t *data, size_t size) {
    char message[ATTEST_MESSAGE_BYTES] = "", why[ATTEST_MESSAGE_BYTES] = "";
    attn_profile one, other;
    memset(&one, 0, sizeof one);
    memset(&other, 0, sizeof other);
    const char *path = attest_fuzz_file("p.json", data, size);
    int first = attest_profile_read(&one, attest_fuzz_directory(), "p", message) == 0;
    int second = attest_profile_find(path, &other, why);
    if (first != second || memcmp(&one, &other, sizeof one) != 0) {
        attest_fuzz_stop("profile: read in two ways: \"%s\" and \"%s\"", message, why);
    }
    if ((!first && message[0] == '\0') || (!second && why[0] == '\0')) {
        attest_fuzz_stop("profile: refused without a reason");
    }
}
