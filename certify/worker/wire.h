/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - what attest and attest-worker say to each other: datagrams of one fixed size over a
 * socket pair. A message from the worker is untrusted: attest_wire_accept() looks at every field
 * before any other code does.
 */
#ifndef ATTEST_WIRE_H
#define ATTEST_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "certify/worker/slots.h"
#include "spec/attest.h"

#define ATTEST_WIRE_MAGIC UINT32_C(0x41545731) /* "ATW1" */
#define ATTEST_NAME_BYTES 64

/* A descriptor by value: what a kernel says about itself. */
typedef struct attest_kernel_info {
    char name[ATTEST_NAME_BYTES];
    char vendor[ATTEST_NAME_BYTES];
    char version[ATTEST_NAME_BYTES];
    char profile[ATTEST_NAME_BYTES];
    char model[ATTEST_NAME_BYTES];
    uint64_t features, shapes, dtypes;
    int64_t max_head_size, max_queries, max_keys;
    double max_abs_score, exp_ulps;
    uint64_t determinism;
    uint32_t finite_only, isolation, reentrant, alignment;
} attest_kernel_info;

enum attest_wire_kind {
    ATTEST_WIRE_READY = 1, /* worker: sandbox in force, about to load; text says what is missing */
    ATTEST_WIRE_LOADED,    /* worker: info */
    ATTEST_WIRE_REFUSED,   /* worker: text says why the object is not a kernel */
    ATTEST_WIRE_CALL,      /* host: call */
    ATTEST_WIRE_DONE       /* worker: done */
};

enum attest_call_kind {
    ATTEST_CALL_SUPPORTS = 1, /* metadata alone: supports(), twice, and workspace_bytes() */
    ATTEST_CALL_FORWARD,
    ATTEST_CALL_TOGETHER /* forward() from several threads at once; all but the first write to
                            private copies of the outputs, which must come out the same */
};

typedef struct attest_wire_call {
    uint32_t kind;
    uint32_t callers;       /* threads of ATTEST_CALL_TOGETHER, 1..16 */
    attest_problem problem; /* every pointer NULL: the worker fills them from the places */
    attest_place place[ATTEST_SLOTS];
} attest_wire_call;

/* A problem whose struct_bytes says this much more than version 1 has is passed with bytes of value
 * 1 behind its known fields: a later version's struct, as far as a kernel can know. */
#define ATTEST_LATER_BYTES UINT64_C(64)

#define ATTEST_FAULT_SUPPORTS_VARIES 1u /* supports() gave two answers to one question */
#define ATTEST_FAULT_ENVIRONMENT 2u     /* rounding, FTZ or DAZ changed across the call */
#define ATTEST_FAULT_TOGETHER 4u        /* concurrent calls gave different bits */
#define ATTEST_FAULT_WROTE_METADATA 8u  /* the problem itself changed */

typedef struct attest_wire_done {
    int32_t status;
    uint32_t faults;
    uint64_t workspace_bytes;
    uint64_t nanoseconds;
} attest_wire_done;

typedef struct attest_wire {
    uint32_t magic;
    uint32_t kind;
    uint64_t sequence; /* an answer repeats the question's */
    char text[ATTEST_MESSAGE_BYTES];
    union {
        attest_kernel_info info;
        attest_wire_call call;
        attest_wire_done done;
    } u;
} attest_wire;

/* Left in shared memory by the worker's signal handler; as untrusted as any message. */
typedef struct attest_crash {
    uint32_t signal; /* 0: none */
    int32_t code;
    uint64_t address;
    uint64_t instruction;
    uint64_t object_base; /* where the kernel's object was loaded */
    uint32_t access;      /* 0 not known, 1 read, 2 write */
    uint32_t system_call; /* of SIGSYS */
    char call_name[32];
} attest_crash;
#define ATTEST_CRASH_OFFSET ((uint64_t)ATTEST_OUTPUT_SLOTS << ATTEST_SLOT_SHIFT)
#define ATTEST_CRASH_BYTES UINT64_C(4096)

/*
 * Copies `bytes` into *message if they are one well-formed message: right size, magic and kind,
 * text and names ended and printable (made so), numbers inside their ranges. 1, or 0 with a
 * constant sentence in *why.
 */
int attest_wire_accept(attest_wire *message, const void *bytes, size_t size, const char **why);

/* Whether the places of a call stay inside their slots and match its tensors. */
int attest_wire_places_fit(const attest_wire_call *call, uint64_t page);

/* Makes a text of `size` bytes end, and replaces what is not printable ASCII. */
void attest_printable(char *text, size_t size);

#endif
