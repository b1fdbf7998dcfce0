/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/host/host.h"

#include <stdio.h>
#include <string.h>

#include "certify/host/protocol.h"
#include "certify/worker/protection.h"

static int receive(attest_session *session, attest_wire *message, double seconds,
                   const attest_stage *stage, attest_outcome *outcome) {
    attest_wire bytes;
    size_t size = 0;
    const char *why = "";
    session->waited_seconds = seconds;
    attest_wait wait = attest_process_receive(&session->process, &bytes, sizeof bytes, &size,
                                              seconds, session->options->stop);
    if (wait == ATTEST_WAIT_GOT && attest_wire_accept(message, &bytes, size, &why)) {
        return 1;
    }
    attest_session_reap(session, wait, stage, outcome);
    if (wait == ATTEST_WAIT_GOT) {
        attest_tell(outcome, "%s", why);
    }
    return 0;
}

static int not_loaded(attest_outcome *outcome) {
    char end[sizeof outcome->text];
    memcpy(end, outcome->text, sizeof end);
    attest_tell(outcome, "while it was loaded: %.480s", end);
    return 0;
}

static int start_object(attest_session *session, attest_outcome *outcome) {
    const char *const program[] = {session->target->path, NULL};
    if (!attest_session_launch(session, session->options->strict ? "strict" : "relaxed", program,
                               outcome)) {
        return 0;
    }
    attest_watch_begin(&session->watch, &session->process);
    session->protections |= (uint32_t)session->watch.watching << ATTEST_PROTECTED_WATCH;
    attest_wire message = {.magic = ATTEST_WIRE_MAGIC, .kind = ATTEST_WIRE_READY};
    if (!attest_process_send(&session->process, &message, sizeof message)) {
        attest_session_reap(session, ATTEST_WAIT_ENDED, NULL, outcome);
        return not_loaded(outcome);
    }
    if (!receive(session, &message, session->options->load_seconds, NULL, outcome)) {
        return not_loaded(outcome);
    }
    if (message.kind == ATTEST_WIRE_LOADED) {
        session->info = message.u.info;
        session->loaded = 1;
        return 1;
    }
    attest_process_end(&session->process, 0.2);
    session->alive = 0;
    outcome->ending = ATTEST_ENDING_NOT_STARTED;
    attest_tell(outcome, "%s",
                message.kind == ATTEST_WIRE_REFUSED ? message.text : "no introduction");
    return 0;
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
    if (!attest_watch_waits(&session->watch, &session->process, 2)) {
        attest_session_reap(session, ATTEST_WAIT_GOT, stage, outcome);
        outcome->ending = ATTEST_ENDING_STOPPED;
        attest_tell(outcome, "the kernel waits for calls in its worker's place");
        return;
    }
    if (!attest_process_send(&session->process, &message, sizeof message)) {
        attest_session_reap(session, ATTEST_WAIT_ENDED, stage, outcome);
        return;
    }
    attest_wire answer;
    if (!receive(session, &answer, session->options->call_seconds, stage, outcome)) {
        return;
    }
    if (answer.kind != ATTEST_WIRE_DONE || answer.sequence != message.sequence) {
        attest_session_reap(session, ATTEST_WAIT_GOT, stage, outcome);
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
