/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * process.h - one child process: started with a socket and two memory files, listened to with a
 * time limit, always ended. What it prints is read and thrown away beyond the first lines, so no
 * child can block attest or fill its output.
 */
#ifndef ATTEST_PROCESS_H
#define ATTEST_PROCESS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ATTEST_LOG_BYTES 2048
#define ATTEST_MOST_THREADS 512

typedef struct attest_process {
    pid_t pid;   /* 0: none */
    int control; /* attest's end of the socket */
    int log;
    int files[2];               /* the caller's, watched: shared pages count against no limit */
    uint64_t most_shared_bytes; /* 0: not watched */
    double next_look;           /* when to look again at what it uses */
    char log_text[ATTEST_LOG_BYTES]; /* the first bytes of what it printed, printable */
    size_t log_used;
    int status; /* as waitpid() gave it, once it has ended */
} attest_process;

typedef enum attest_wait {
    ATTEST_WAIT_GOT,        /* something was received */
    ATTEST_WAIT_ENDED,      /* the child ended, or closed its end: kill and look at status */
    ATTEST_WAIT_EXPIRED,    /* the time limit passed */
    ATTEST_WAIT_CROWDED,    /* it started more than ATTEST_MOST_THREADS threads */
    ATTEST_WAIT_FILLED,     /* it filled the shared files beyond their limit */
    ATTEST_WAIT_GROWN,      /* it took as much memory of a kind that no limit counts */
    ATTEST_WAIT_INTERRUPTED /* *stop was set */
} attest_wait;

/*
 * Starts argv[0] in a session of its own, without a terminal. With `lines` the socket is a stream
 * on its standard input and output too, else datagrams on descriptor 3; `files` become descriptors
 * 4 and 5. 1, or 0 with errno set.
 */
int attest_process_start(attest_process *process, char *const argv[], char *const environment[],
                         const int files[2], int lines);

/* Waits for bytes on the socket, at most `seconds`; `stop` may be NULL. */
attest_wait attest_process_receive(attest_process *process, void *buffer, size_t size, size_t *got,
                                   double seconds, const volatile sig_atomic_t *stop);

int attest_process_send(attest_process *process, const void *bytes, size_t size);

/* Gives it `seconds` to end by itself after its socket is closed, then kills its group. */
void attest_process_end(attest_process *process, double seconds);

double attest_clock(void); /* seconds, monotonic */

/* What --memory limits: private writable memory of the running child; 0 if that is not known. */
uint64_t attest_process_data_bytes(const attest_process *process);

#endif
