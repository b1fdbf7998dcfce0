/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host.h - a kernel under test as attest sees it: something that can be asked and called, and that
 * may crash, hang or lie. A session owns one worker at a time and starts a new one after a crash.
 * Verdicts are never taken from what a worker says: an outcome can only be worse than the outputs.
 */
#ifndef ATTEST_HOST_H
#define ATTEST_HOST_H

#include "process.h"
#include "stage.h"
#include "target.h"
#include "wire.h"

typedef struct attest_host_options {
    const char *worker; /* path of attest-worker */
    const char *temporary;
    int strict;
    int validate; /* check every message of the protocol against its schema */
    uint64_t memory_bytes;
    double load_seconds, call_seconds;
    const volatile sig_atomic_t *stop;
} attest_host_options;

typedef enum attest_ending {
    ATTEST_ENDING_RETURNED, /* status, faults and text are valid */
    ATTEST_ENDING_CRASHED,
    ATTEST_ENDING_TIMED_OUT,
    ATTEST_ENDING_STOPPED, /* too many threads, or too much of the shared memory */
    ATTEST_ENDING_BROKEN, /* it lives, but what it says makes no sense */
    ATTEST_ENDING_INTERRUPTED,
    ATTEST_ENDING_NOT_STARTED, /* the kernel could not be loaded */
    ATTEST_ENDING_TROUBLE      /* no worker or no sandbox: not the kernel's fault */
} attest_ending;

typedef struct attest_outcome {
    attest_ending ending;
    attest_status status;
    uint32_t faults;
    uint64_t workspace_bytes;
    uint64_t nanoseconds;
    char text[ATTEST_MESSAGE_BYTES * 2]; /* the kernel's message, or what is known of its end */
    const char *requirement;             /* broken by that end, or NULL */
} attest_outcome;

typedef struct attest_session {
    const attest_target *target;
    const attest_host_options *options;
    attest_arena arena;
    attest_process process;
    int alive;
    uint64_t sequence;
    attest_kernel_info info;
    int loaded; /* info is valid */
    char notes[ATTEST_MESSAGE_BYTES]; /* what the sandbox could not enforce */
    uint64_t symbol_offset; /* of the last crash, and its source line */
    char symbol[192];
    char *line; /* received part of a protocol line */
    size_t line_used;
} attest_session;

/* Opens the memory; no worker yet. 1, or 0 with errno set. */
int attest_session_open(attest_session *session, const attest_target *target,
                        const attest_host_options *options);
void attest_session_close(attest_session *session);

/* Loads the kernel and fills info, unless a worker is running. 1, or 0 with the outcome. */
int attest_session_start(attest_session *session, attest_outcome *outcome);

/* Ends the worker: the next call finds a kernel that was just loaded. */
void attest_session_restart(attest_session *session);

/* One call on a staged case. Restarts the worker first where needed. */
void attest_session_call(attest_session *session, enum attest_call_kind kind, unsigned callers,
                         const attest_stage *stage, attest_outcome *outcome);

/* For the transports: ends the worker and says in the outcome what became of it. */
void attest_session_bury(attest_session *session, attest_wait wait, const attest_stage *stage,
                         attest_outcome *outcome);

#endif
