/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/host/symbol.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "certify/host/launch.h"
#include "certify/memory/arena.h"

void attest_source_line(const attest_host_options *options, const char *object, uint64_t offset,
                        char *text, size_t size) {
    char address[32], answer[1024] = "", why[ATTEST_MESSAGE_BYTES];
    size_t used = 0, got = 0;
    uint32_t protections;
    text[0] = '\0';
    snprintf(address, sizeof address, "0x%" PRIx64, offset);
    const char *const program[] = {"addr2line", "-f", "-s", "-e", object, address, NULL};
    attest_arena arena;
    attest_process process = {0};
    if (!attest_arena_open(&arena)) {
        return;
    }
    const int files[2] = {arena.inputs, arena.outputs};
    if (attest_launch(&process, options, "exec", program, files, &protections, why) ==
        ATTEST_WAIT_GOT) {
        while (used + 1 < sizeof answer &&
               attest_process_receive(&process, answer + used, sizeof answer - 1 - used, &got, 2,
                                      options->stop) == ATTEST_WAIT_GOT) {
            used += got;
        }
    }
    attest_process_end(&process, 0);
    attest_arena_close(&arena);
    answer[used] = '\0';
    char *line = strchr(answer, '\n');
    if (line == NULL || answer[0] == '?' || line[1] == '?') {
        return;
    }
    *line++ = '\0';
    line[strcspn(line, "\n ")] = '\0';
    snprintf(text, size, "%.80s at %.100s", answer, line);
    attest_printable(text, size);
}
