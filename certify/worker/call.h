/* SPDX-License-Identifier: Apache-2.0 */
/* call.h - one call of a kernel in the worker: windows on the tensors, then the call itself. */
#ifndef ATTEST_CALL_H
#define ATTEST_CALL_H

#include "certify/worker/wire.h"
#include "spec/attest.h"

typedef struct attest_windows {
    int inputs; /* memory files */
    int outputs;
    attest_place mapped[ATTEST_SLOTS]; /* what each slot shows now */
} attest_windows;

/* Reserves the address space of every slot, without access. */
int attest_windows_reserve(attest_windows *windows);

/* Does what `call` asks and fills status, faults, text and times of the answer. */
void attest_call(const attest_kernel *kernel, attest_windows *windows, const attest_wire_call *call,
                 attest_wire *answer);

#endif
