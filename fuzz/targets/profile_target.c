/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile file, by path and by name: refused with a reason and no effect, or each field has one
 * of its values, and the profile is what its numbers say.
 */
#include <string.h>

#include "fuzz/core/fuzz_target.h"
#include "vectors/read/profile_read.h"

/* There and back; a number that no value has is refused. */
static void check_numbers(const attn_profile *profile, size_t place) {
    int numbers[ATTEST_PROFILE_FIELDS];
    attn_profile back;
    memset(&back, 0x5a, sizeof back);
    attest_profile_numbers(profile, numbers);
    if (attest_profile_of_numbers(&back, numbers) != 0 ||
        memcmp(&back, profile, sizeof back) != 0) {
        attest_fuzz_stop("profile: another one by its numbers");
    }
    numbers[place % ATTEST_PROFILE_FIELDS] = place % 2 ? -1 : 5;
    if (attest_profile_of_numbers(&back, numbers) == 0) {
        attest_fuzz_stop("profile: a number without a value is accepted");
    }
}

void attest_fuzz_input(const uint8_t *data, size_t size) {
    char message[ATTEST_MESSAGE_BYTES] = "";
    attn_profile read, before;
    memset(&before, 0x5a, sizeof before);
    read = before;
    const char *path = attest_fuzz_file("p.json", data, size);
    const int refused = attest_profile_file(&read, path, message);
    char named_message[ATTEST_MESSAGE_BYTES] = "";
    attn_profile named = before;
    if (attest_profile_read(&named, attest_fuzz_directory(), "p", named_message) != refused ||
        memcmp(&named, &read, sizeof read) != 0) {
        attest_fuzz_stop("profile: read by name it is another: %s%s", message, named_message);
    }
    if (refused != 0) {
        if (message[0] == '\0') {
            attest_fuzz_stop("profile: refused without a reason");
        }
        if (memcmp(&read, &before, sizeof read) != 0) {
            attest_fuzz_stop("profile: refused, and yet changed: %s", message);
        }
        return;
    }
    if (read.corner > ATTN_CORNER_BOTTOM_RIGHT_LENGTHS || read.window_form > ATTN_WINDOW_BOTH_W ||
        read.default_scale > ATTN_SCALE_REQUIRED || read.gqa_order > ATTN_GQA_TILED ||
        read.lse_base > ATTN_LSE_BASE_2 || read.lse_empty > ATTN_LSE_EMPTY_UNSPECIFIED ||
        read.empty_row > ATTN_EMPTY_UNSPECIFIED || read.mask_with_causal > ATTN_CAUSAL_IGNORED) {
        attest_fuzz_stop("profile: accepted with a value that does not exist");
    }
    check_numbers(&read, size);
}
