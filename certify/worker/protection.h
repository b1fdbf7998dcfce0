/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protection.h - what keeps a kernel from the machine, by name. The worker tries each in its own
 * process after entering the sandbox, before any code of the kernel is there, and says which held:
 * its first message has their bits in hexadecimal. spec/threats.md says what each is good for.
 */
#ifndef ATTEST_PROTECTION_H
#define ATTEST_PROTECTION_H

enum attest_protection {
    ATTEST_PROTECTED_SESSION,    /* a session of its own, without a terminal */
    ATTEST_PROTECTED_PRIVILEGES, /* no capability, and no way to gain one */
    ATTEST_PROTECTED_LIMITS,     /* on memory, open files, size of a file; no way to raise them */
    ATTEST_PROTECTED_CALLS,      /* system calls are filtered */
    ATTEST_PROTECTED_FILES,      /* Landlock: reads by list, writes below the temporary folder */
    ATTEST_PROTECTED_SIGNALS,    /* Landlock: no signal leaves the sandbox */
    ATTEST_PROTECTED_NAMESPACES, /* network, System V objects and host name of its own */
    ATTEST_PROTECTED_WATCH, /* attest sees from outside that the worker itself waits for calls */
    ATTEST_PROTECTIONS
};

static inline const char *attest_protection_name(int protection) {
    static const char *const names[ATTEST_PROTECTIONS] = {
        "session", "privileges", "limits", "calls", "files", "signals", "namespaces", "watch",
    };
    return protection >= 0 && protection < ATTEST_PROTECTIONS ? names[protection] : (char *)0;
}

#endif
