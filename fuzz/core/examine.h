/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examine.h - one problem, everything that can be asked of a kernel about it: the oracle's
 * enclosure under the model it declares, memory it may touch, and the bitwise relations it claims
 * (poison, prefix, chunk, batch, threads, repeat).
 */
#ifndef ATTEST_FUZZ_EXAMINE_H
#define ATTEST_FUZZ_EXAMINE_H

#include "fuzz/core/decode.h"
#include "reference/oracle/model.h"
#include "reference/problem/normal.h"

typedef attest_status attest_fuzz_forward(const attest_problem *problem,
                                          const attn_profile *profile,
                                          char message[ATTEST_MESSAGE_BYTES]);

typedef struct attest_fuzz_subject {
    attest_fuzz_scope scope;
    attn_model model;             /* of problems without binary64 */
    attn_model wide_model;        /* of the others */
    attest_fuzz_forward *forward; /* in place of the kernel's, or NULL */
} attest_fuzz_subject;

typedef struct attest_fuzz_finding {
    const char *id; /* the requirement that is broken; NULL: none */
    char text[640];
} attest_fuzz_finding;

/*
 * What a kernel declares, made ready. 1, or 0 with a reason in the finding. The environment
 * variable ATTEST_FUZZ_WORK sets the size of the largest problem (default 4000 multiplications).
 */
int attest_fuzz_open(attest_fuzz_subject *subject, const attest_kernel *kernel,
                     attest_fuzz_finding *finding);

/* 1 if the kernel broke a requirement on this input. */
int attest_fuzz_examine(const attest_fuzz_subject *subject, const unsigned char *bytes, size_t size,
                        attest_fuzz_finding *finding);

/* shrink.c: makes an input that is found smaller while the same requirement is broken. */
size_t attest_fuzz_shrink(const attest_fuzz_subject *subject, unsigned char *bytes, size_t size,
                          attest_fuzz_finding *finding);

/* The problem in words, the finding, and the bytes to show it again, on standard error. */
void attest_fuzz_report(const attest_fuzz_subject *subject, const unsigned char *bytes, size_t size,
                        const attest_fuzz_finding *finding);

/* The problem as a C program (program.h), in the file that ATTEST_FUZZ_OUTPUT names. 1 if
 * written. */
int attest_fuzz_write(const attest_fuzz_subject *subject, const unsigned char *bytes, size_t size,
                      const char *comment);

/* mutate.c: changes that keep the structure. */
size_t attest_fuzz_mutate(unsigned char *bytes, size_t size, size_t room, unsigned seed);
size_t attest_fuzz_cross(const unsigned char *a, size_t a_size, const unsigned char *b,
                         size_t b_size, unsigned char *out, size_t room, unsigned seed);

/* ----------------------------------------------------------------- between the parts of examine */

typedef struct attest_fuzz_run {
    const attest_fuzz_subject *subject;
    attest_fuzz_problem *made;
    attn_normal normal;
    attest_fuzz_finding *finding;
} attest_fuzz_run;

/* Fills the finding, unless it is filled already; returns 1. */
__attribute__((format(printf, 3, 4))) int attest_fuzz_fail(attest_fuzz_finding *finding,
                                                           const char *id, const char *format, ...);

/* supports(), workspace, forward(). 0, or 1 if the kernel did not answer `wanted`. */
int attest_fuzz_call(const attest_fuzz_run *run, const attest_problem *problem,
                     attest_status wanted, unsigned char dirt);

/* Equal bits, any NaN being equal to any NaN. */
int attest_fuzz_same(attest_dtype dtype, const void *a, const void *b);

/* relations.c: 1 if one that the kernel claims does not hold. made->problem was computed. */
int attest_fuzz_relations(const attest_fuzz_run *run);

/* observe.c: lets the engine see what kind of problem it made, and how near the edge it came. */
void attest_fuzz_observe_problem(const attest_fuzz_problem *made);
void attest_fuzz_observe_ratio(double ratio);

#endif
