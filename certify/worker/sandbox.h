/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - what a kernel may do to the machine. Entered by attest-worker before the kernel's
 * object is loaded, because constructors and IFUNC resolvers run there.
 *
 *   strict   system calls on an allow list, no file but readable ones; after loading no file at all
 *   relaxed  any system call but network, tracing, new processes and administration; files are
 *            writable below one temporary directory alone. For interpreters and run-time systems.
 *
 * In a strict sandbox a call that is not allowed raises SIGSYS: it ends as a crash that names it. In
 * a relaxed one it fails with EPERM. What the running system cannot enforce is said in
 * `notes`, which ends up in the certificate.
 */
#ifndef ATTEST_SANDBOX_H
#define ATTEST_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

typedef struct attest_sandbox {
    int strict;
    uint64_t memory_bytes;
    const char *temporary; /* writable directory of a relaxed sandbox, or NULL */
    const char *object;    /* the kernel's file: its directory stays readable */
} attest_sandbox;

/* 1, or 0 with a reason in `notes`: then nothing may be loaded. */
int attest_sandbox_enter(const attest_sandbox *sandbox, char *notes, size_t size);

/* After loading, for a strict sandbox: opening files ends too. */
int attest_sandbox_narrow(void);

/* Name of a system call, for crash reports; "?" if there is none. */
void attest_system_call_name(char *name, size_t size, int number);

#endif
