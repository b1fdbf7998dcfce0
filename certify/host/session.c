/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/host/session.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "certify/host/launch.h"
#include "certify/host/symbol.h"

int attest_session_open(attest_session *session, const attest_target *target,
                        const attest_host_options *options) {
    *session = (attest_session){.target = target, .options = options};
    session->process =
        (attest_process){.control = -1, .log = -1, .most_shared_bytes = options->memory_bytes};
    return attest_arena_open(&session->arena);
}

int attest_session_launch(attest_session *session, const char *mode, const char *const program[],
                          attest_outcome *outcome) {
    const int files[2] = {session->arena.inputs, session->arena.outputs};
    char why[ATTEST_MESSAGE_BYTES];
    uint32_t protections = 0;
    const attest_wait wait =
        attest_launch(&session->process, session->options, mode, program, files, &protections, why);
    if (wait == ATTEST_WAIT_GOT) {
        session->protections = session->loaded ? session->protections & protections : protections;
        session->alive = 1;
        return 1;
    }
    if (session->process.pid != 0) {
        attest_session_reap(session, wait, NULL, outcome);
    }
    if (outcome->ending != ATTEST_ENDING_INTERRUPTED) {
        outcome->ending = ATTEST_ENDING_TROUBLE;
        attest_tell(outcome, "%s", why[0] ? why : "attest-worker does not start");
    }
    return 0;
}

void attest_session_close(attest_session *session) {
    if (session->alive) {
        attest_process_end(&session->process, 0.5);
    }
    free(session->line);
    attest_arena_close(&session->arena);
    session->alive = 0;
}

void attest_session_restart(attest_session *session) {
    if (session->alive) {
        attest_process_end(&session->process, 0.5);
        session->alive = 0;
    }
}

void attest_tell(attest_outcome *outcome, const char *format, ...) {
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
        attest_tell(outcome, "%s unmapped address 0x%" PRIx64 "%s", verb, crash->address,
                    crash->address < 4096 ? " (a NULL pointer?)" : "");
        return;
    }
    const attest_place *p = &stage->place[slot];
    const uint64_t at = offset & (ATTEST_SLOT_BYTES - 1), last = p->data_offset + p->data_bytes;
    /* Far behind one tensor is before the next: an offset that overflowed. */
    const int next = slot + 1;
    const attest_place *after = next < ATTEST_SLOTS ? &stage->place[next] : NULL;
    if (after != NULL && after->present && at > last && ATTEST_SLOT_BYTES - at < at - last) {
        outcome->requirement = next == ATTEST_SLOT_WORKSPACE ? "MEM-05" : "MEM-01";
        attest_tell(outcome, "%s %s, %" PRIu64 " bytes before its first", verb,
                    attest_slot_name(next), ATTEST_SLOT_BYTES - at + after->data_offset);
        return;
    }
    const char *name = attest_slot_name(slot);
    outcome->requirement = slot == ATTEST_SLOT_WORKSPACE ? "MEM-05" : "MEM-01";
    if (!p->present) {
        attest_tell(outcome, "%s %s, which is not an operand of this problem", verb, name);
    } else if (at >= p->data_offset + p->data_bytes) {
        attest_tell(outcome, "%s %s, %" PRIu64 " bytes past its last", verb, name,
                    at - p->data_offset - p->data_bytes + 1);
    } else if (at < p->data_offset) {
        attest_tell(outcome, "%s %s, %" PRIu64 " bytes before its first", verb, name,
                    p->data_offset - at);
    } else if (slot < ATTEST_INPUT_SLOTS) {
        outcome->requirement = "MEM-03";
        attest_tell(outcome, "write to the input %s, byte %" PRIu64, name, at - p->data_offset);
    } else {
        attest_tell(outcome, "%s %s, byte %" PRIu64, verb, name, at - p->data_offset);
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
        attest_tell(outcome, "the process ended by itself with status %d", WEXITSTATUS(status));
        return;
    }
    const int number = WTERMSIG(status);
    if (crash.signal != (uint32_t)number) {
        attest_tell(outcome, "ended by signal %d (%s)", number, strsignal(number));
        return;
    }
    if (number == SIGSYS) {
        attest_tell(outcome, "system call %s (%" PRIu32 ") is not allowed in the sandbox",
                    crash.call_name, crash.system_call);
        return;
    }
    if ((number == SIGSEGV || number == SIGBUS) && crash.code > 0 && stage != NULL) {
        attribute_address(&crash, stage, outcome);
    } else {
        attest_tell(outcome, "ended by signal %d (%s)", number, strsignal(number));
    }
    add_instruction(session, &crash, outcome);
}

void attest_session_reap(attest_session *session, attest_wait wait, const attest_stage *stage,
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
        attest_tell(outcome, "no answer within %g s (%s)", session->waited_seconds,
                    stage != NULL ? "--call-time" : "--load-time: imports count, too");
        break;
    case ATTEST_WAIT_CROWDED:
        outcome->ending = ATTEST_ENDING_STOPPED;
        attest_tell(outcome, "stopped: more than %d threads", ATTEST_MOST_THREADS);
        break;
    case ATTEST_WAIT_FILLED: /* its pages stay with the files: run.c opens new ones */
        outcome->ending = ATTEST_ENDING_STOPPED;
        session->arena.touched = UINT64_MAX;
        attest_tell(outcome, "stopped: it filled the shared memory of the tensors");
        break;
    case ATTEST_WAIT_GROWN:
        outcome->ending = ATTEST_ENDING_STOPPED;
        attest_tell(outcome, "stopped: shared memory or page tables beyond --memory");
        break;
    case ATTEST_WAIT_INTERRUPTED:
        outcome->ending = ATTEST_ENDING_INTERRUPTED;
        attest_tell(outcome, "interrupted");
        break;
    default:
        outcome->ending = ATTEST_ENDING_BROKEN;
        break;
    }
}
