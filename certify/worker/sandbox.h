/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - what a kernel may do to the machine. Entered by attest-worker before the kernel's
 * object is loaded, because constructors and IFUNC resolvers run there.
 *
 *   strict   system calls on an allow list, no file but readable ones; after loading no file at all
 *   relaxed  any system call but those on a list of refusals; files are writable below one
 * temporary directory alone. For interpreters and run-time systems.
 *
 * Both: files are readable by a list alone, no process is started, nothing is sent anywhere. In a
 * strict sandbox a call that is not allowed raises SIGSYS: it ends as a crash that names it. In a
 * relaxed one it fails with EPERM. spec/threats.md has the reasons.
 */
#ifndef ATTEST_SANDBOX_H
#define ATTEST_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

typedef struct attest_sandbox {
    int strict;
    uint64_t memory_bytes;
    const char *temporary; /* writable directory of a relaxed sandbox, or NULL */
    const char *readable;  /* what may be read besides the system's libraries, a path a line */
} attest_sandbox;

/* Fills the bits of protection.h that were seen to hold. 1, or 0 with a reason: then nothing may be
 * loaded. */
int attest_sandbox_enter(const attest_sandbox *sandbox, uint32_t *protections, const char **why);

/* After loading, for a strict sandbox: opening files ends too. */
int attest_sandbox_narrow(void);

#endif
