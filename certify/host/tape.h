/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tape.h - what a kernel answered, call by call, so that a run can be judged again without it. A
 * check asks the same questions in the same order whenever it runs a case (check.h), so a tape that
 * gives the recorded answers leads to the same verdict, or to the finding that it does not.
 */
#ifndef ATTEST_TAPE_H
#define ATTEST_TAPE_H

#include "certify/host/session.h"

/* What attest itself sees of a call, once the outputs are collected. */
typedef struct attest_observation {
    uint64_t inputs_hash;   /* of every input byte, before the call */
    uint8_t inputs_changed; /* during it */
    uint8_t unsettled;      /* an output changed after the return */
    uint8_t stray;          /* a byte was written that belongs to no output element: where */
    int32_t stray_slot;
    int64_t stray_distance;
} attest_observation;

typedef enum attest_event_kind {
    ATTEST_EVENT_START = 16, /* loading the kernel, where it failed; others: attest_call_kind */
    ATTEST_EVENT_SETTLED     /* outputs looked at once more: `unsettled` */
} attest_event_kind;

typedef struct attest_event {
    uint32_t kind, callers;
    attest_outcome outcome;
    attest_observation seen;
} attest_event;

typedef struct attest_tape attest_tape;
struct attest_tape {
    int playing; /* answers instead of the kernel */
    /* Recording: notes an event of a case, with the outputs of the stage (NULL: it has none). */
    void (*record)(attest_tape *tape, size_t number, const attest_event *event,
                   const attest_stage *stage);
    /* Playing: the next event of the case, which must be of this kind and these inputs; writes its
     * outputs into the stage's shared memory. A tape that cannot answer says so in the outcome. */
    void (*play)(attest_tape *tape, size_t number, attest_event *event, const attest_stage *stage);
};

#endif
