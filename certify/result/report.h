/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.h - everything a run found out, before it is printed, and the certificate that follows.
 * A report can be written as JSON (spec/report.schema.json) and read back, so that shards can be
 * merged and runs compared.
 */
#ifndef ATTEST_REPORT_H
#define ATTEST_REPORT_H

#include <stdio.h>

#include "certify/plan/plan.h"

#define ATTEST_SUITE_VERSION "0.1.0"
#define ATTEST_SPEC_VERSION "1.0"

typedef struct attest_entry {
    char id[ATTEST_ID_BYTES];
    char check[24];
    char line[ATTEST_LINE_BYTES];
    attest_result result;
    char waiver[256]; /* reason, for ATTEST_WAIVED */
} attest_entry;

/* A bug class that failures point to, how strongly (0 to 100), and what speaks for it. */
typedef struct attest_suspicion {
    int bug_class, strength;
    char why[160];
} attest_suspicion;

/* At most two, because bugs of different classes can do the same to results. */
enum { ATTEST_MOST_SUSPICIONS = 2 };

typedef struct attest_report {
    char target[512];
    attest_kernel_info kernel;
    char profile[ATTEST_NAME_BYTES], model[ATTEST_NAME_BYTES];
    char level[16];
    uint64_t seed;
    int shard, shards; /* 1/1: all of it */
    char sandbox[16];
    char notes[ATTEST_MESSAGE_BYTES];
    char incomplete[ATTEST_MESSAGE_BYTES]; /* why no certificate can follow; empty: complete */
    char load_error[512];                  /* the kernel could not be loaded; empty: it could */
    attest_boundaries boundaries;          /* found before the plan was made */
    size_t planned;                        /* cases of the whole level */
    attest_entry *entries;                 /* those of this run, in the order of the plan */
    size_t count;
    attest_suspicion diagnosis[ATTEST_MOST_SUSPICIONS]; /* strongest first; none if nothing failed */
    int suspicions;
    double seconds;
} attest_report;

void attest_report_free(attest_report *report);

typedef struct attest_requirement_state {
    int64_t passed, bad, neutral, waived;
} attest_requirement_state;

typedef struct attest_certificate {
    int certified;
    char restricted[512]; /* what is less than full; empty: nothing */
    char reason[512];     /* why not certified; empty if it is */
    attest_requirement_state state[ATTEST_MOST_REQUIREMENTS];
    int64_t verdicts[ATTEST_VERDICTS];
} attest_certificate;

/* The requirements every certificate needs a pass of (CAP-05). */
extern const char attest_core_set[];

attest_certificate attest_certify(const attest_report *report);

#endif
