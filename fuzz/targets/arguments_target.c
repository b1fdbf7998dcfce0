/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line of attest, one argument a line; and each argument as a case, which must come
 * back from its canonical line as it was.
 */
#include <stdlib.h>
#include <string.h>

#include "certify/plan/case.h"
#include "certify/run/settings.h"
#include "fuzz/core/fuzz_target.h"

enum { MOST = 300 };

static void try_case(const char *line) {
    char why[ATTEST_MESSAGE_BYTES] = "", printed[ATTEST_LINE_BYTES], again[ATTEST_LINE_BYTES];
    attest_case first, second;
    if (!attest_case_parse(&first, line, why)) {
        if (why[0] == '\0') {
            attest_fuzz_stop("case: refused without a reason");
        }
        return;
    }
    if (attest_case_print(&first, printed) >= sizeof printed) {
        return; /* a line that does not fit has no canonical form */
    }
    if (!attest_case_parse(&second, printed, why)) {
        attest_fuzz_stop("case: its own line is refused: %s", why);
    }
    attest_case_print(&second, again);
    if (strcmp(printed, again) != 0) {
        attest_fuzz_stop("case: \"%s\" became \"%s\"", printed, again);
    }
}

void attest_fuzz_input(const uint8_t *data, size_t size) {
    char why[ATTEST_MESSAGE_BYTES] = "", command[] = "certify";
    char *text = malloc(size + 1), *argv[MOST + 1] = {command};
    attest_settings settings;
    int argc = 1;
    if (text == NULL) {
        return;
    }
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    for (char *line = text; line && argc < MOST; argc++) {
        argv[argc] = line;
        line = strchr(line, '\n');
        if (line) {
            *line++ = '\0';
        }
    }
    if (attest_settings_parse(&settings, argc, argv, why)) {
        if (settings.jobs < 1 || settings.shard < 1 || settings.shard > settings.shards ||
            !(settings.call_seconds > 0) || settings.word_count > ATTEST_MOST_WORDS) {
            attest_fuzz_stop("arguments: a setting out of range was accepted");
        }
        attn_profile profile;
        const char *name = settings.profile_name;
        if (name && attest_is_bare_name(name) && !attest_profile_find(name, &profile, why) &&
            why[0] == '\0') {
            attest_fuzz_stop("arguments: a profile was refused without a reason");
        }
    } else if (why[0] == '\0') {
        attest_fuzz_stop("arguments: refused without a reason");
    }
    for (int n = 1; n < argc; n++) {
        try_case(argv[n]);
    }
    free(text);
}
