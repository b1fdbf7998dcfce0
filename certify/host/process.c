/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/host/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double attest_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The child's ends sit above the numbers they will be copied to. */
static int lift(int file) {
    int lifted = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 32);
    if (file >= 0) {
        close(file);
    }
    return lifted;
}

/* The child gets no descriptor from 6 on. */
static void keep_from_child(posix_spawn_file_actions_t *actions) {
#if __GLIBC_PREREQ(2, 34)
    posix_spawn_file_actions_addclosefrom_np(actions, 6);
#else
    (void)actions;
    DIR *folder = opendir("/proc/self/fd");
    for (const struct dirent *one; folder != NULL && (one = readdir(folder)) != NULL;) {
        const int number = atoi(one->d_name);
        if (number >= 6) {
            fcntl(number, F_SETFD, FD_CLOEXEC);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
#endif
}

static int spawn(attest_process *process, char *const argv[], char *const environment[],
                 const int ends[4], int lines) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigfillset(&defaults);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    if (lines) {
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
        posix_spawn_file_actions_adddup2(&actions, ends[0], 1);
    } else {
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 3);
    posix_spawn_file_actions_adddup2(&actions, ends[2], 4);
    posix_spawn_file_actions_adddup2(&actions, ends[3], 5);
    keep_from_child(&actions);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    int error = posix_spawn(&process->pid, argv[0], &actions, &attributes, argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) {
        process->pid = 0;
        errno = error;
    }
    return error == 0;
}

int attest_process_start(attest_process *process, char *const argv[], char *const environment[],
                         const int files[2], int lines) {
    int control[2] = {-1, -1}, log[2] = {-1, -1};
    *process = (attest_process){.control = -1,
                                .log = -1,
                                .files = {files[0], files[1]},
                                .most_shared_bytes = process->most_shared_bytes};
    int type = lines ? SOCK_STREAM : SOCK_SEQPACKET;
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, control) == 0 && pipe2(log, O_CLOEXEC) == 0) {
        process->control = control[0];
        process->log = log[0];
        fcntl(log[0], F_SETFL, O_NONBLOCK);
        const int size = 1 << 20;
        setsockopt(control[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    }
    int ends[4] = {lift(control[1]), lift(log[1]), lift(dup(files[0])), lift(dup(files[1]))};
    int started = process->control >= 0 && ends[0] >= 0 && ends[1] >= 0 && ends[2] >= 0 &&
                  ends[3] >= 0 && spawn(process, argv, environment, ends, lines);
    int saved = errno;
    for (int i = 0; i < 4; i++) {
        if (ends[i] >= 0) {
            close(ends[i]);
        }
    }
    if (!started) {
        attest_process_end(process, 0);
        errno = saved;
    }
    return started;
}

static void drain_log(attest_process *process) {
    char bytes[4096];
    ssize_t got = read(process->log, bytes, sizeof bytes);
    if (got <= 0) {
        if (got == 0 || errno != EAGAIN) { /* it closed its standard output */
            close(process->log);
            process->log = -1;
        }
        return;
    }
    for (ssize_t i = 0; i < got && process->log_used + 1 < sizeof process->log_text; i++) {
        char c = bytes[i];
        /* One line: a kernel shall not write lines of a report. */
        const int plain = c >= ' ' && c <= '~';
        process->log_text[process->log_used++] = (char)(plain ? c : c == '\n' ? ' ' : '?');
    }
}

/* What /proc says of a process: threads, and KiB by the names that the system gives them. */
typedef struct usage {
    unsigned long long data, tables, shared;
    int threads;
} usage;

static usage usage_of(const attest_process *process) {
    char path[64], line[128];
    usage u = {0};
    snprintf(path, sizeof path, "/proc/%d/status", (int)process->pid);
    FILE *file = process->pid > 0 ? fopen(path, "re") : NULL;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "VmData: %llu kB", &u.data);
        (void)sscanf(line, "VmPTE: %llu kB", &u.tables);
        (void)sscanf(line, "RssShmem: %llu kB", &u.shared);
        (void)sscanf(line, "Threads: %d", &u.threads);
    }
    if (file != NULL) {
        fclose(file);
    }
    return u;
}

uint64_t attest_process_data_bytes(const attest_process *process) {
    return (uint64_t)usage_of(process).data << 10;
}

static uint64_t file_bytes(int file) {
    struct stat status;
    return fstat(file, &status) == 0 ? (uint64_t)status.st_blocks * 512 : 0;
}

/* Looks at what no resource limit counts: threads, the tensors' pages, shared pages that are not
 * theirs, page tables of a mapping that is only read. ATTEST_WAIT_GOT if all is well. */
static attest_wait look(const attest_process *process) {
    const usage u = usage_of(process);
    const uint64_t limit = process->most_shared_bytes ? process->most_shared_bytes : UINT64_MAX;
    const uint64_t tensors = file_bytes(process->files[0]) + file_bytes(process->files[1]);
    const uint64_t shared = (uint64_t)u.shared << 10;
    const uint64_t hidden = ((uint64_t)u.tables << 10) + (shared > tensors ? shared - tensors : 0);
    return u.threads > ATTEST_MOST_THREADS ? ATTEST_WAIT_CROWDED
           : tensors > limit               ? ATTEST_WAIT_FILLED
           : hidden > limit                ? ATTEST_WAIT_GROWN
                                           : ATTEST_WAIT_GOT;
}

attest_wait attest_process_receive(attest_process *process, void *buffer, size_t size, size_t *got,
                                   double seconds, const volatile sig_atomic_t *stop) {
    const double end = attest_clock() + seconds;
    for (;;) {
        /* By the clock of the process, not of this wait: calls may be shorter than that. */
        if (attest_clock() >= process->next_look) {
            const attest_wait seen = look(process);
            if (seen != ATTEST_WAIT_GOT) {
                return seen;
            }
            process->next_look = attest_clock() + 0.02;
        }
        struct pollfd waiting[2] = {{.fd = process->control, .events = POLLIN},
                                    {.fd = process->log, .events = POLLIN}};
        int ready = poll(waiting, 2, 20);
        if (ready > 0 && waiting[1].revents) {
            drain_log(process);
        }
        if (ready > 0 && waiting[0].revents) {
            ssize_t count = recv(process->control, buffer, size, MSG_DONTWAIT | MSG_TRUNC);
            if (count > 0) {
                *got = (size_t)count;
                return ATTEST_WAIT_GOT;
            }
            if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
                return ATTEST_WAIT_ENDED;
            }
        }
        if (stop != NULL && *stop) {
            return ATTEST_WAIT_INTERRUPTED;
        }
        if (attest_clock() >= end) {
            return ATTEST_WAIT_EXPIRED;
        }
    }
}

int attest_process_send(attest_process *process, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t sent = send(process->control, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) { /* a child that does not read is as good as dead */
            return 0;
        }
        at += sent;
        size -= (size_t)sent;
    }
    return 1;
}

static int reap(attest_process *process, int options) {
    pid_t got;
    do {
        got = waitpid(process->pid, &process->status, options);
    } while (got < 0 && errno == EINTR);
    return got != 0;
}

void attest_process_end(attest_process *process, double seconds) {
    if (process->control >= 0) {
        close(process->control);
        process->control = -1;
    }
    if (process->pid > 0) {
        const double end = attest_clock() + seconds;
        int gone = reap(process, WNOHANG);
        while (!gone && attest_clock() < end) {
            struct pollfd waiting = {.fd = process->log, .events = POLLIN};
            if (poll(&waiting, 1, 2) > 0 && process->log >= 0) {
                drain_log(process);
            }
            gone = reap(process, WNOHANG);
        }
        /* The group first: what the child may have started goes with it. */
        kill(-process->pid, SIGKILL);
        if (!gone) {
            kill(process->pid, SIGKILL);
            reap(process, 0);
        }
        process->pid = 0;
    }
    if (process->log >= 0) {
        drain_log(process);
    }
    if (process->log >= 0) {
        close(process->log);
        process->log = -1;
    }
}
