/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/host/host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "certify/host/protocol.h"

static int receive(attest_session *session, attest_wire *message, double seconds,
                   const attest_stage *stage, attest_outcome *outcome) {
    attest_wire bytes;
    size_t size = 0;
    const char *why = "";
    attest_wait wait = attest_process_receive(&session->process, &bytes, sizeof bytes, &size,
                                              seconds, session->options->stop);
    if (wait == ATTEST_WAIT_GOT && attest_wire_accept(message, &bytes, size, &why)) {
        return 1;
    }
    attest_session_bury(session, wait, stage, outcome);
    if (wait == ATTEST_WAIT_GOT) {
        attest_tell(outcome, "%s", why);
    }
    return 0;
}

static int start_object(attest_session *session, attest_outcome *outcome) {
    char memory[32];
    snprintf(memory, sizeof memory, "%" PRIu64, session->options->memory_bytes);
    char *argv[] = {(char *)(uintptr_t)session->options->worker,
                    (char *)(uintptr_t)(session->options->strict ? "strict" : "relaxed"),
                    memory,
                    (char *)(uintptr_t)(session->options->temporary ? session->options->temporary
                                                                    : ""),
                    (char *)(uintptr_t)session->target->path,
                    NULL};
    const int files[2] = {session->arena.inputs, session->arena.outputs};
    if (!attest_process_start(&session->process, argv, files, 0)) {
        outcome->ending = ATTEST_ENDING_TROUBLE;
        attest_tell(outcome, "%s: %s", session->options->worker, strerror(errno));
        return 0;
    }
    session->alive = 1;
    for (int ready = 0;;) {
        attest_wire message;
        if (!receive(session, &message, session->options->load_seconds, NULL, outcome)) {
            char end[sizeof outcome->text];
            memcpy(end, outcome->text, sizeof end);
            attest_tell(outcome, "while it was loaded: %.480s", end);
            return 0;
        }
        if (message.kind == ATTEST_WIRE_READY) {
            memcpy(session->notes, message.text, sizeof session->notes);
            ready = 1;
            continue;
        }
        if (message.kind == ATTEST_WIRE_LOADED) {
            session->info = message.u.info;
            session->loaded = 1;
            return 1;
        }
        attest_process_end(&session->process, 0.2);
        session->alive = 0;
        outcome->ending = ready ? ATTEST_ENDING_NOT_STARTED : ATTEST_ENDING_TROUBLE;
        attest_tell(outcome, "%s",
                    message.kind == ATTEST_WIRE_REFUSED ? message.text : "no introduction");
        return 0;
    }
}

int attest_session_start(attest_session *session, attest_outcome *outcome) {
    *outcome = (attest_outcome){.ending = ATTEST_ENDING_RETURNED};
    if (session->alive) {
        return 1;
    }
    memset(attest_arena_crash(&session->arena), 0, sizeof(attest_crash));
    session->line_used = 0;
    return session->target->kind == ATTEST_TARGET_OBJECT ? start_object(session, outcome)
                                                         : attest_protocol_start(session, outcome);
}

static void call_object(attest_session *session, enum attest_call_kind kind, unsigned callers,
                        const attest_stage *stage, attest_outcome *outcome) {
    attest_wire message = {.magic = ATTEST_WIRE_MAGIC, .kind = ATTEST_WIRE_CALL};
    message.sequence = ++session->sequence;
    message.u.call.kind = kind;
    message.u.call.callers = callers;
    message.u.call.problem = stage->problem;
    for (int slot = 0; slot < ATTEST_SLOT_WORKSPACE; slot++) {
        attest_slot_tensor(&message.u.call.problem, slot)->data = NULL;
    }
    message.u.call.problem.workspace = NULL;
    memcpy(message.u.call.place, stage->place, sizeof stage->place);
    if (!attest_process_send(&session->process, &message, sizeof message)) {
        attest_session_bury(session, ATTEST_WAIT_ENDED, stage, outcome);
        return;
    }
    attest_wire answer;
    if (!receive(session, &answer, session->options->call_seconds, stage, outcome)) {
        return;
    }
    if (answer.kind != ATTEST_WIRE_DONE || answer.sequence != message.sequence) {
        attest_session_bury(session, ATTEST_WAIT_GOT, stage, outcome);
        attest_tell(outcome, "the answer does not belong to the question");
        return;
    }
    outcome->status = answer.u.done.status;
    outcome->faults = answer.u.done.faults;
    outcome->workspace_bytes = answer.u.done.workspace_bytes;
    outcome->nanoseconds = answer.u.done.nanoseconds;
    attest_tell(outcome, "%s", answer.text);
}

void attest_session_call(attest_session *session, enum attest_call_kind kind, unsigned callers,
                         const attest_stage *stage, attest_outcome *outcome) {
    if (!attest_session_start(session, outcome)) {
        return;
    }
    if (session->target->kind == ATTEST_TARGET_OBJECT) {
        call_object(session, kind, callers, stage, outcome);
    } else {
        attest_protocol_call(session, kind, stage, outcome);
    }
}
