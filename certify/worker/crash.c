/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "certify/worker/crash.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "certify/worker/filter.h"
#include "certify/worker/wire.h"

/* The one place with static state: a signal handler has no argument of its own. */
static attest_crash *record;
static unsigned char handler_stack[1 << 16];

static void describe_context(attest_crash *crash, const ucontext_t *context) {
#if defined(__x86_64__)
    const greg_t *registers = context->uc_mcontext.gregs;
    crash->instruction = (uint64_t)registers[REG_RIP];
    /* Bit 1 of the page fault's error code: set for a write. */
    crash->access = crash->signal == SIGSEGV || crash->signal == SIGBUS
                        ? ((registers[REG_ERR] & 2) ? 2u : 1u)
                        : 0u;
#elif defined(__aarch64__)
    crash->instruction = context->uc_mcontext.pc;
#else
    (void)context;
#endif
}

static void last_words(int number, siginfo_t *info, void *context) {
    if (record != NULL && record->signal == 0) {
        attest_crash crash = *record;
        crash.signal = (uint32_t)number;
        crash.code = info->si_code;
        crash.address = (uint64_t)(uintptr_t)info->si_addr;
        describe_context(&crash, context);
        if (number == SIGSYS) {
            crash.system_call = (uint32_t)info->si_syscall;
            attest_system_call_name(crash.call_name, sizeof crash.call_name, info->si_syscall);
        }
        *record = crash;
    }
    signal(number, SIG_DFL);
    raise(number);
}

int attest_crash_handlers(int outputs) {
    void *page = mmap(NULL, ATTEST_CRASH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, outputs,
                      (off_t)ATTEST_CRASH_OFFSET);
    if (page == MAP_FAILED) {
        return 0;
    }
    record = page;
    const stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    if (sigaltstack(&stack, NULL) != 0) {
        return 0;
    }
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = last_words;
    sigemptyset(&action.sa_mask);
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (sigaction(signals[i], &action, NULL) != 0) {
            return 0;
        }
    }
    return 1;
}

void attest_crash_set_base(uint64_t object_base) { record->object_base = object_base; }
