/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "protocol.h"
#include "symbol.h"

int attest_session_open(attest_session *session, const attest_target *target,
                        const attest_host_options *options) {
    *session = (attest_session){.target = target, .options = options};
    session->process = (attest_process){
        .control = -1, .log = -1, .most_shared_bytes = options->memory_bytes};
    return attest_arena_open(&session->arena);
}

void attest_session_close(attest_session *session) {
    if (session->alive) {
        attest_process_end(&session->process, 0.5);
    }
    free(session->line);
    attest_arena_close(&session->arena);
    session->alive = 0;
}

__attribute__((format(printf, 2, 3))) static void tell(attest_outcome *outcome, const char *format,
                                                       ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(outcome->text, sizeof outcome->text, format, arguments);
    va_end(arguments);
}

/* The address alone decides which tensor it was: slots do not move. */
static void attribute_address(const attest_crash *crash, const attest_stage *stage,
                              attest_outcome *outcome) {
    static const char *const verbs[] = {"access to", "read of", "write to"};
    const char *verb = verbs[crash->access <= 2 ? crash->access : 0];
    const uint64_t offset = crash->address - ATTEST_WORKER_BASE;
    const int slot = (int)(offset >> ATTEST_SLOT_SHIFT);
    if (crash->address < ATTEST_WORKER_BASE || slot >= ATTEST_SLOTS) {
        tell(outcome, "%s unmapped address 0x%" PRIx64 "%s", verb, crash->address,
             crash->address < 4096 ? " (a NULL pointer?)" : "");
        return;
    }
    const char *name = attest_slot_name(slot);
    const attest_place *p = &stage->place[slot];
    const uint64_t at = offset & (ATTEST_SLOT_BYTES - 1);
    outcome->requirement = slot == ATTEST_SLOT_WORKSPACE ? "MEM-05" : "MEM-01";
    if (!p->present) {
        tell(outcome, "%s %s, which is not an operand of this problem", verb, name);
    } else if (at >= p->data_offset + p->data_bytes) {
        tell(outcome, "%s %s, %" PRIu64 " bytes past its last", verb, name,
             at - p->data_offset - p->data_bytes + 1);
    } else if (at < p->data_offset) {
        tell(outcome, "%s %s, %" PRIu64 " bytes before its first", verb, name, p->data_offset - at);
    } else if (slot < ATTEST_INPUT_SLOTS) {
        outcome->requirement = "MEM-03";
        tell(outcome, "write to the input %s, byte %" PRIu64, name, at - p->data_offset);
    } else {
        tell(outcome, "%s %s, byte %" PRIu64, verb, name, at - p->data_offset);
    }
}

/* Where it happened; the last place is remembered, because a bug tends to crash in one place. */
static void add_instruction(attest_session *session, const attest_crash *crash,
                            attest_outcome *outcome) {
    const uint64_t offset = crash->instruction - crash->object_base;
    if (crash->object_base == 0 || crash->instruction < crash->object_base || offset >> 32) {
        return;
    }
    if (offset != session->symbol_offset) {
        session->symbol_offset = offset;
        attest_source_line(session->options, session->target->path, offset, session->symbol,
                           sizeof session->symbol);
    }
    size_t used = strlen(outcome->text);
    snprintf(outcome->text + used, sizeof outcome->text - used, ", in %s (object+0x%" PRIx64 ")",
             session->symbol[0] ? session->symbol : "the kernel", offset);
}

static void describe_death(attest_session *session, const attest_stage *stage,
                           attest_outcome *outcome) {
    const int status = session->process.status;
    attest_crash crash = *attest_arena_crash(&session->arena);
    attest_printable(crash.call_name, sizeof crash.call_name);
    if (WIFEXITED(status)) {
        tell(outcome, "the process ended by itself with status %d", WEXITSTATUS(status));
        return;
    }
    const int number = WTERMSIG(status);
    if (crash.signal != (uint32_t)number) {
        tell(outcome, "ended by signal %d (%s)", number, strsignal(number));
        return;
    }
    if (number == SIGSYS) {
        tell(outcome, "system call %s (%" PRIu32 ") is not allowed in the sandbox",
             crash.call_name, crash.system_call);
        return;
    }
    if ((number == SIGSEGV || number == SIGBUS) && crash.code > 0 && stage != NULL) {
        attribute_address(&crash, stage, outcome);
    } else {
        tell(outcome, "ended by signal %d (%s)", number, strsignal(number));
    }
    add_instruction(session, &crash, outcome);
}

void attest_session_bury(attest_session *session, attest_wait wait, const attest_stage *stage,
                         attest_outcome *outcome) {
    attest_process_end(&session->process, wait == ATTEST_WAIT_ENDED ? 1.0 : 0.0);
    session->alive = 0;
    switch (wait) {
    case ATTEST_WAIT_ENDED:
        outcome->ending = ATTEST_ENDING_CRASHED;
        describe_death(session, stage, outcome);
        break;
    case ATTEST_WAIT_EXPIRED:
        outcome->ending = ATTEST_ENDING_TIMED_OUT;
        tell(outcome, "no answer within %g s", session->options->call_seconds);
        break;
    case ATTEST_WAIT_CROWDED:
        outcome->ending = ATTEST_ENDING_STOPPED;
        tell(outcome, "stopped: more than %d threads", ATTEST_MOST_THREADS);
        break;
    case ATTEST_WAIT_FILLED: /* its pages stay with the files: run.c opens new ones */
        outcome->ending = ATTEST_ENDING_STOPPED;
        session->arena.touched = UINT64_MAX;
        tell(outcome, "stopped: it filled the shared memory of the tensors");
        break;
    case ATTEST_WAIT_INTERRUPTED:
        outcome->ending = ATTEST_ENDING_INTERRUPTED;
        tell(outcome, "interrupted");
        break;
    default:
        outcome->ending = ATTEST_ENDING_BROKEN;
        break;
    }
}

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
        tell(outcome, "%s", why);
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
        tell(outcome, "%s: %s", session->options->worker, strerror(errno));
        return 0;
    }
    session->alive = 1;
    for (int ready = 0;;) {
        attest_wire message;
        if (!receive(session, &message, session->options->load_seconds, NULL, outcome)) {
            char end[sizeof outcome->text];
            memcpy(end, outcome->text, sizeof end);
            tell(outcome, "while it was loaded: %.480s", end);
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
        tell(outcome, "%s", message.kind == ATTEST_WIRE_REFUSED ? message.text : "no introduction");
        return 0;
    }
}

void attest_session_restart(attest_session *session) {
    if (session->alive) {
        attest_process_end(&session->process, 0.5);
        session->alive = 0;
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
        tell(outcome, "the answer does not belong to the question");
        return;
    }
    outcome->status = answer.u.done.status;
    outcome->faults = answer.u.done.faults;
    outcome->workspace_bytes = answer.u.done.workspace_bytes;
    outcome->nanoseconds = answer.u.done.nanoseconds;
    tell(outcome, "%s", answer.text);
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
