/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * workbench.h - where a check works: one kernel under test, one staged case, the profile and the
 * arithmetic model it is judged by. A typical check:
 *
 *     if (!attest_workbench_build(bench, c, result)) return;           // case in memory, kernel
 * asked if (!attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) return;  // called,
 * collected attest_judge(bench, 0, result);                               // judge.h
 *
 * Every function that returns 0 has filled the result.
 */
#ifndef ATTEST_WORKBENCH_H
#define ATTEST_WORKBENCH_H

#include "certify/host/host.h"
#include "certify/host/tape.h"
#include "certify/memory/stage.h"
#include "certify/plan/check.h"
#include "reference/oracle/model.h"
#include "reference/problem/normal.h"
#include "reference/problem/profile.h"

struct attest_workbench;

/* Looks into a failure while its problem and outputs are staged. `used` is the mask that was read
 * back, one byte a cell of [B,Hq,Sq,Sk], 1 where a key was used; NULL if outputs were judged. */
typedef void attest_examiner(struct attest_workbench *bench, const unsigned char *used,
                             attest_result *result);

typedef struct attest_workbench {
    attest_session session;
    attest_stage stage; /* stage.problem: inputs may be changed between calls, by attest_put() */
    attn_normal normal; /* of stage.problem */
    attn_profile profile;
    attn_model model;      /* as declared */
    attn_model wide_model; /* for problems in binary64 */
    attest_fence fence;
    attest_outcome outcome;    /* of the last call */
    attest_observation seen;   /* the same */
    int64_t work;              /* of this case: multiplications of its calls, and of the oracle */
    attest_examiner *examiner; /* of failures; NULL: nobody wants to know more */
    void *examination;         /* the examiner's own */
    attest_tape *tape;         /* records calls, or answers them; NULL: neither */
    size_t number;             /* of the case, on the tape */
    int second_oracle;         /* judge by the second oracle too: */
    int64_t second_judged;     /* so many calls, */
    int64_t first_alone;       /* but these were too large for it */
} attest_workbench;

/* Loads the kernel unless a worker is running. 1, or 0 with the outcome. */
int attest_workbench_start(attest_workbench *bench, attest_outcome *outcome);

/* Whether the shared outputs and the workspace still hold what was collected. */
int attest_workbench_settled(attest_workbench *bench);

/* Stages a case and asks supports(). Failures: CAP-02, CAP-03, or a verdict from the worker. */
int attest_workbench_build(attest_workbench *bench, const attest_case *c, attest_result *result);

/* The same without asking: for cases a kernel must refuse. */
int attest_workbench_stage(attest_workbench *bench, const attest_case *c, attest_result *result);

/* Calls forward() and collects the outputs; whatever holds of every call is checked here: only
 * outputs written (MEM-02), environment kept (DET-08), problem and inputs unchanged (MEM-03), no
 * writing after the return (MEM-05). Anything but ATTEST_OK is a failure (CAP-02). */
int attest_workbench_forward(attest_workbench *bench, attest_pattern pattern,
                             attest_result *result);

/* The same, from `callers` threads at once. */
int attest_workbench_forward_together(attest_workbench *bench, unsigned callers,
                                      attest_result *result);

/* Calls without judging; outcome.ending is RETURNED, or the result is filled. */
int attest_workbench_call(attest_workbench *bench, enum attest_call_kind kind, unsigned callers,
                          attest_pattern pattern, attest_result *result);

/* 1 if memory outside the tensors does not exist for the kernel: a worker of ours maps their pages
 * alone, a program that speaks the protocol maps the whole files. */
int attest_workbench_guarded(const attest_workbench *bench);

const attn_model *attest_workbench_model(const attest_workbench *bench);

/* Outputs of the last call, kept for a comparison: dense, bits in 64-bit words, any NaN alike. */
typedef struct attest_kept {
    uint64_t *o, *lse;
    int64_t o_count, lse_count;
} attest_kept;

attest_kept attest_keep(const attest_workbench *bench);
void attest_kept_free(attest_kept *kept);

/*
 * Compares outputs bit for bit; where they differ the result is FAIL for requirement `id`. `rows`,
 * if not NULL, holds one byte per [b,h,i]: rows with 0 are left out. Returns 1 if all agree.
 */
int attest_compare(const attest_workbench *bench, const attest_kept *kept,
                   const unsigned char *rows, const char *id, int bug_class, const char *what,
                   attest_result *result);

/* Shows what was judged to the examiner, if there is one and it failed. */
void attest_workbench_examine(attest_workbench *bench, const unsigned char *used,
                              attest_result *result);

/* One case on a bench; the result is initialised here. */
void attest_run_case(attest_workbench *bench, const attest_check *check, const attest_case *c,
                     attest_result *result);

#endif
