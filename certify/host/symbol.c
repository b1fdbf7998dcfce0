/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/host/symbol.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "certify/host/process.h"
#include "certify/memory/arena.h"

void attest_source_line(const char *worker, const volatile sig_atomic_t *stop, const char *object,
                        uint64_t offset, char *text, size_t size) {
    char address[32], answer[1024] = "";
    size_t used = 0, got = 0;
    text[0] = '\0';
    snprintf(address, sizeof address, "0x%" PRIx64, offset);
    const char *argv[] = {worker, "exec", "1073741824", "",   "addr2line", "-f",
                          "-s",   "-e",   object,       address, NULL};
    attest_arena arena;
    attest_process process = {0};
    if (!attest_arena_open(&arena)) {
        return;
    }
    const int files[2] = {arena.inputs, arena.outputs};
    if (attest_process_start(&process, (char *const *)(uintptr_t)argv, files, 1)) {
        while (used + 1 < sizeof answer &&
               attest_process_receive(&process, answer + used, sizeof answer - 1 - used, &got, 2,
                                      stop) == ATTEST_WAIT_GOT) {
            used += got;
        }
        attest_process_end(&process, 0);
    }
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
