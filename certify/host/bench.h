/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench.h - where a check works: one kernel under test, one staged case, the profile and the
 * arithmetic model it is judged by. A typical check:
 *
 *     if (!attest_bench_build(bench, c, result)) return;           // case in memory, kernel asked
 *     if (!attest_bench_forward(bench, ATTEST_PATTERN_NAN, result)) return;  // called, collected
 *     attest_judge(bench, 0, result);                               // judge.h
 *
 * Every function that returns 0 has filled the result.
 */
#ifndef ATTEST_BENCH_H
#define ATTEST_BENCH_H

#include "certify/host/host.h"
#include "certify/memory/stage.h"
#include "certify/plan/check.h"
#include "reference/oracle/model.h"
#include "reference/problem/normal.h"
#include "reference/problem/profile.h"

struct attest_bench;

/* Looks into a failure while its problem and outputs are staged. `used` is the mask that was read
 * back, one byte a cell of [B,Hq,Sq,Sk], 1 where a key was used; NULL if outputs were judged. */
typedef void attest_examiner(struct attest_bench *bench, const unsigned char *used,
                             attest_result *result);

typedef struct attest_bench {
    attest_session session;
    attest_stage stage; /* stage.problem: inputs may be changed between calls, by attest_put() */
    attn_normal normal; /* of stage.problem */
    attn_profile profile;
    attn_model model;      /* as declared */
    attn_model wide_model; /* for problems in binary64 */
    attest_fence fence;
    attest_outcome outcome; /* of the last call */
    int64_t work;           /* of this case: multiplications of its calls, and of the oracle */
    attest_examiner *examiner; /* of failures; NULL: nobody wants to know more */
} attest_bench;

/* Stages a case and asks supports(). Failures: CAP-02, CAP-03, or a verdict from the worker. */
int attest_bench_build(attest_bench *bench, const attest_case *c, attest_result *result);

/* The same without asking: for cases a kernel must refuse. */
int attest_bench_stage(attest_bench *bench, const attest_case *c, attest_result *result);

/* Calls forward() and collects the outputs; whatever holds of every call is checked here: only
 * outputs written (MEM-02), environment kept (DET-08), problem and inputs unchanged (MEM-03), no
 * writing after the return (MEM-05). Anything but ATTEST_OK is a failure (CAP-02). */
int attest_bench_forward(attest_bench *bench, attest_pattern pattern, attest_result *result);

/* The same, from `callers` threads at once. */
int attest_bench_forward_together(attest_bench *bench, unsigned callers, attest_result *result);

/* Calls without judging; outcome.ending is RETURNED, or the result is filled. */
int attest_bench_call(attest_bench *bench, enum attest_call_kind kind, unsigned callers,
                      attest_pattern pattern, attest_result *result);

const attn_model *attest_bench_model(const attest_bench *bench);

/* Outputs of the last call, kept for a comparison: dense, bits in 64-bit words, any NaN alike. */
typedef struct attest_kept {
    uint64_t *o, *lse;
    int64_t o_count, lse_count;
} attest_kept;

attest_kept attest_keep(const attest_bench *bench);
void attest_kept_free(attest_kept *kept);

/*
 * Compares outputs bit for bit; where they differ the result is FAIL for requirement `id`. `rows`,
 * if not NULL, holds one byte per [b,h,i]: rows with 0 are left out. Returns 1 if all agree.
 */
int attest_compare(const attest_bench *bench, const attest_kept *kept, const unsigned char *rows,
                   const char *id, int bug_class, const char *what, attest_result *result);

/* Shows what was judged to the examiner, if there is one and it failed. */
void attest_bench_examine(attest_bench *bench, const unsigned char *used, attest_result *result);

/* One case on a bench; the result is initialised here. */
void attest_run_case(attest_bench *bench, const attest_check *check, const attest_case *c,
                     attest_result *result);

#endif
