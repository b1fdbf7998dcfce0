/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/host/launch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/worker/wire.h"

enum { MOST_ARGUMENTS = 16 };

attest_wait attest_launch(attest_process *process, const attest_host_options *options,
                          const char *mode, const char *const program[], const int files[2],
                          uint32_t *protections, char why[ATTEST_MESSAGE_BYTES]) {
    char memory[32];
    snprintf(memory, sizeof memory, "%" PRIu64, options->memory_bytes);
    const char *argv[MOST_ARGUMENTS + 1] = {options->worker, mode, memory,
                                            options->temporary ? options->temporary : "",
                                            options->grants.readable};
    for (int i = 5; i < MOST_ARGUMENTS && program[i - 5] != NULL; i++) {
        argv[i] = program[i - 5];
    }
    why[0] = '\0';
    if (!attest_process_start(process, (char *const *)(uintptr_t)argv, options->grants.environment,
                              files, strcmp(mode, "exec") == 0)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "%.180s: %s", options->worker, strerror(errno));
        return ATTEST_WAIT_ENDED;
    }
    /* No byte more: on a stream the program's own answers follow. */
    unsigned char bytes[sizeof(attest_wire)];
    size_t used = 0, got = 0;
    while (used < sizeof bytes) {
        const attest_wait wait = attest_process_receive(process, bytes + used, sizeof bytes - used,
                                                        &got, options->load_seconds, options->stop);
        if (wait != ATTEST_WAIT_GOT) {
            return wait;
        }
        used += got < sizeof bytes - used ? got : sizeof bytes - used;
    }
    attest_wire message;
    const char *reason = "";
    if (!attest_wire_accept(&message, bytes, sizeof bytes, &reason)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "attest-worker: %s", reason);
        return ATTEST_WAIT_ENDED;
    }
    if (message.kind != ATTEST_WIRE_READY) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "no sandbox: %.200s", message.text);
        return ATTEST_WAIT_ENDED;
    }
    *protections = (uint32_t)strtoul(message.text, NULL, 16);
    return ATTEST_WAIT_GOT;
}
