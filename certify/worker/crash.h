/* SPDX-License-Identifier: Apache-2.0 */
/* crash.h - the worker's last words: a signal handler that leaves address, access and instruction
 * in shared memory before the process dies of the same signal. */
#ifndef ATTEST_CRASH_H
#define ATTEST_CRASH_H

#include <stdint.h>

/* Maps the crash record of the output file and installs handlers on a stack of their own. */
int attest_crash_handlers(int outputs);

void attest_crash_set_base(uint64_t object_base);

#endif
