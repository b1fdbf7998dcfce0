/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launch.h - starts attest-worker, and learns from it what protects the machine. */
#ifndef ATTEST_LAUNCH_H
#define ATTEST_LAUNCH_H

#include "certify/host/options.h"
#include "certify/host/process.h"

/*
 * Runs `program` (ended by NULL) in the sandbox that `mode` names: strict, relaxed or exec
 * (worker.c). Returns ATTEST_WAIT_GOT once the sandbox is in force and nothing of the program has
 * run yet, with the bits of protection.h. Else what came instead, with a reason in `why`, perhaps
 * empty; nothing runs if process->pid is 0.
 */
attest_wait attest_launch(attest_process *process, const attest_host_options *options,
                          const char *mode, const char *const program[], const int files[2],
                          uint32_t *protections, char why[ATTEST_MESSAGE_BYTES]);

#endif
