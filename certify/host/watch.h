/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * watch.h - whether a worker itself waits for the next question, or a kernel that took over its
 * socket. Seen from outside: the system call it is in, with its arguments, stack and instruction
 * pointer, which are those of the first time it waited, before any code of the kernel was there.
 */
#ifndef ATTEST_WATCH_H
#define ATTEST_WATCH_H

#include "certify/host/process.h"

typedef struct attest_watch {
    unsigned long long place[6]; /* number, descriptor, buffer, size, stack, instruction */
    int watching;                /* 0: the system does not show it */
} attest_watch;

/* The worker is about to wait for the first time: remembers where it does. */
void attest_watch_begin(attest_watch *watch, const attest_process *process);

/* 0 if it does not wait there within `seconds`. */
int attest_watch_waits(const attest_watch *watch, const attest_process *process, double seconds);

#endif
