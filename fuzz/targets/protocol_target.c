/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a program that speaks spec/protocol.md may answer: the input, after one byte that says how
 * much of it each read gets. There is no process: the functions that would talk to it are here.
 */
#include <stdlib.h>
#include <string.h>

#include "certify/host/protocol.h"
#include "fuzz/core/fuzz_target.h"

static struct {
    const uint8_t *data;
    size_t size, step;
} script;

int attest_session_launch(attest_session *session, const char *mode, const char *const program[],
                          attest_outcome *outcome) {
    (void)mode, (void)program, (void)outcome;
    session->alive = 1;
    return 1;
}

attest_wait attest_process_receive(attest_process *process, void *buffer, size_t size, size_t *got,
                                   double seconds, const volatile sig_atomic_t *stop) {
    (void)process, (void)seconds, (void)stop;
    size_t count = script.size < script.step ? script.size : script.step;
    count = count < size ? count : size;
    if (count == 0) {
        return ATTEST_WAIT_ENDED;
    }
    memcpy(buffer, script.data, count);
    script.data += count;
    script.size -= count;
    *got = count;
    return ATTEST_WAIT_GOT;
}

int attest_process_send(attest_process *process, const void *bytes, size_t size) {
    (void)process;
    const char *text = bytes;
    if (size == 0 || (size > 1 && (text[0] != '{' || memchr(text, '\n', size) != NULL))) {
        attest_fuzz_stop("protocol: a message that is not one JSON object on one line");
    }
    return 1;
}

double attest_clock(void) { return 0; }

void attest_session_reap(attest_session *session, attest_wait wait, const attest_stage *stage,
                         attest_outcome *outcome) {
    (void)wait, (void)stage;
    session->alive = 0;
    outcome->ending = ATTEST_ENDING_BROKEN;
}

static attest_stage small_stage(void) {
    attest_stage stage = {.problem = {.struct_bytes = sizeof stage.problem,
                                      .threads = 1,
                                      .features = ATTEST_CAUSAL | ATTEST_SCALE | ATTEST_WINDOW,
                                      .scale = 0.5}};
    for (int slot = 0; slot < ATTEST_SLOT_WORKSPACE; slot++) {
        attest_tensor *t = attest_slot_tensor(&stage.problem, slot);
        if (slot <= ATTEST_SLOT_V || slot == ATTEST_SLOT_O) {
            *t = (attest_tensor){NULL, {1, 1, 2, 3}, {6, 6, 3, 1}, ATTEST_F32, 4};
            stage.place[slot] = (attest_place){0, 4096, 0, 24, 1, 0};
        }
    }
    return stage;
}

static void check_outcome(const attest_outcome *outcome) {
    if (memchr(outcome->text, 0, sizeof outcome->text) == NULL || outcome->status < ATTEST_OK ||
        outcome->status > ATTEST_INTERNAL) {
        attest_fuzz_stop("protocol: an outcome that makes no sense");
    }
}

void attest_fuzz_input(const uint8_t *data, size_t size) {
    const attest_target target = {.kind = ATTEST_TARGET_PROGRAM, .path = "program"};
    const attest_host_options options = {.worker = "worker", .validate = size > 0 && data[0] & 1};
    const attest_stage stage = small_stage();
    attest_session session = {.target = &target, .options = &options};
    attest_outcome outcome = {0};
    script.step = size > 0 ? 1 + (size_t)data[0] * 4 : 1;
    script.data = size > 0 ? data + 1 : data;
    script.size = size > 0 ? size - 1 : 0;
    if (attest_protocol_start(&session, &outcome)) {
        if (!session.loaded || session.info.name[0] == '\0') {
            attest_fuzz_stop("protocol: started without a kernel");
        }
        for (int kind = ATTEST_CALL_SUPPORTS; kind <= ATTEST_CALL_TOGETHER; kind++) {
            outcome = (attest_outcome){0};
            if (session.alive) {
                attest_protocol_call(&session, (enum attest_call_kind)kind, &stage, &outcome);
                check_outcome(&outcome);
            }
        }
    }
    free(session.line);
}
