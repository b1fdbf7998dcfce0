/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.h - the life of a kernel under test: the memory it is given, the worker it runs in, what
 * became of a call. host.h starts workers and calls them.
 */
#ifndef ATTEST_SESSION_H
#define ATTEST_SESSION_H

#include "certify/host/options.h"
#include "certify/host/process.h"
#include "certify/host/target.h"
#include "certify/host/watch.h"
#include "certify/memory/stage.h"
#include "certify/worker/wire.h"

typedef enum attest_ending {
    ATTEST_ENDING_RETURNED, /* status, faults and text are valid */
    ATTEST_ENDING_CRASHED,
    ATTEST_ENDING_TIMED_OUT,
    ATTEST_ENDING_STOPPED, /* too many threads, or too much of the shared memory */
    ATTEST_ENDING_BROKEN,  /* it lives, but what it says makes no sense */
    ATTEST_ENDING_INTERRUPTED,
    ATTEST_ENDING_NOT_STARTED, /* the kernel could not be loaded */
    ATTEST_ENDING_TROUBLE      /* no worker or no sandbox: not the kernel's fault */
} attest_ending;

/* What a kernel says about itself may be as long: exceptions give their reason last. */
#define ATTEST_REASON_BYTES 1024

typedef struct attest_outcome {
    attest_ending ending;
    attest_status status;
    uint32_t faults;
    uint64_t workspace_bytes;
    uint64_t nanoseconds;
    char text[ATTEST_REASON_BYTES]; /* the kernel's message, or what is known of its end */
    const char *requirement;        /* broken by that end, or NULL */
} attest_outcome;

typedef struct attest_session {
    const attest_target *target;
    const attest_host_options *options;
    attest_arena arena;
    attest_process process;
    attest_watch watch;
    int alive;
    uint64_t sequence;
    attest_kernel_info info;
    int loaded;             /* info is valid */
    int conditional;        /* it says more than info can: what it refuses is its right */
    double waited_seconds;  /* the limit of the last answer */
    uint32_t protections;   /* bits of protection.h: what was in force every time */
    uint64_t symbol_offset; /* of the last crash, and its source line */
    char symbol[192];
    char *line; /* received part of a protocol line */
    size_t line_used;
} attest_session;

/* Opens the memory; no worker yet. 1, or 0 with errno set. */
int attest_session_open(attest_session *session, const attest_target *target,
                        const attest_host_options *options);
void attest_session_close(attest_session *session);

/* Ends the worker: the next call finds a kernel that was just loaded. */
void attest_session_restart(attest_session *session);

/* For the transports: starts a worker by attest_launch(). 1, or 0 with the outcome. */
int attest_session_launch(attest_session *session, const char *mode, const char *const program[],
                          attest_outcome *outcome);

/* For the transports: ends the worker and says in the outcome what became of it. */
void attest_session_reap(attest_session *session, attest_wait wait, const attest_stage *stage,
                         attest_outcome *outcome);

/* What is known of the end, or the kernel's message: the outcome's text. */
__attribute__((format(printf, 2, 3))) void attest_tell(attest_outcome *outcome, const char *format,
                                                       ...);

#endif
