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
#include "certify/result/exhibit.h"

#define ATTEST_SUITE_VERSION "0.1.0"
#define ATTEST_SPEC_VERSION "1.0"

typedef struct attest_entry {
    char id[ATTEST_ID_BYTES];
    char check[24];
    char line[ATTEST_LINE_BYTES];
    attest_result result;
    char waiver[256];        /* reason, for ATTEST_WAIVED */
    attest_exhibit *exhibit; /* of the smallest case of a cause; owned; or NULL */
} attest_entry;

/* A bug class that failures point to, how strongly (0 to 100), and what speaks for it. */
typedef struct attest_suspicion {
    int bug_class, strength;
    char why[160];
} attest_suspicion;

/* At most two, because bugs of different classes can do the same to results. */
enum { ATTEST_MOST_SUSPICIONS = 2 };

/* Failures that come from one defect, as far as a run can tell. */
typedef struct attest_cause {
    attest_suspicion suspicion; /* class 0: nothing speaks for any */
    char what[200];             /* of the smallest case */
    int requirement;            /* index of the one most of its cases break, or -1 */
    attest_verdict verdict;     /* of the smallest case */
    int64_t cases;
    size_t smallest;  /* index of the entry */
    char needs[200];  /* what all its cases have and not all other cases; may be empty */
    char broken[200]; /* requirements, with blanks between */
} attest_cause;

enum { ATTEST_MOST_CAUSES = 32, ATTEST_MOST_CONVENTIONS = 24, ATTEST_MOST_WAIVERS = 64 };

/* A waiver that was given to the run, and how many cases it waived. */
typedef struct attest_waiver {
    char scope[160], reason[160], link[200], expires[16];
    int expired;
    int64_t cases;
} attest_waiver;

/* What a kernel was seen to do where frameworks differ. */
typedef struct attest_convention {
    char question[40], answer[160];
} attest_convention;

/* Where the seconds of a run went: loading the kernel, looking for boundaries, the cases, failed
 * cases once more. */
typedef struct attest_spent {
    double load, discovery, cases, again;
} attest_spent;

typedef struct attest_report {
    char suite[16], specification[16]; /* versions that made it */
    char target[512];
    char digest[65];   /* BLAKE2b of the kernel's file, in digits; empty: no one file */
    char options[512]; /* what else the command line said of limits and of what may be read */
    attest_kernel_info kernel;
    char profile[ATTEST_NAME_BYTES], model[ATTEST_NAME_BYTES];
    char level[16];
    uint64_t seed;
    int shard, shards; /* 1/1: all of it */
    char sandbox[16];
    uint32_t protections; /* bits of certify/worker/protection.h: seen to be in force */
    char incomplete[ATTEST_MESSAGE_BYTES]; /* why no certificate can follow; empty: complete */
    char load_error[1280];                 /* the kernel could not be loaded; empty: it could */
    attest_boundaries boundaries;          /* found before the plan was made */
    size_t planned;                        /* cases of the whole level */
    attest_entry *entries;                 /* those of this run, in the order of the plan */
    size_t count;
    attest_suspicion
        diagnosis[ATTEST_MOST_SUSPICIONS]; /* strongest first; none if nothing failed */
    int suspicions;
    attest_cause causes[ATTEST_MOST_CAUSES]; /* most cases first */
    int cause_count;
    attest_convention conventions[ATTEST_MOST_CONVENTIONS]; /* found by probes; none if not asked */
    int convention_count;
    char fitting[256]; /* profiles that have all of them */
    attest_waiver waivers[ATTEST_MOST_WAIVERS];
    int waiver_count;
    double seconds; /* from the start of the program */
    attest_spent spent;
} attest_report;

void attest_report_free(attest_report *report);

typedef struct attest_requirement_state {
    int64_t passed, bad, neutral, waived;
    int64_t doubted;        /* failed cases that exercise it, though what they broke is another */
    int64_t not_applicable; /* cases that could not be asked over this transport */
} attest_requirement_state;

typedef struct attest_certificate {
    int certified;
    char restricted[512]; /* what is less than full; empty: nothing */
    char reason[512];     /* why not certified; empty if it is */
    attest_requirement_state state[ATTEST_MOST_REQUIREMENTS];
    int64_t verdicts[ATTEST_VERDICTS];
} attest_certificate;

/* "failed", "in question", "passed", "waived", "no pass", "not applicable"; NULL: no case spoke for
 * it. */
const char *attest_requirement_word(const attest_requirement_state *state);

/* The requirements every certificate needs a pass of (CAP-05). */
extern const char attest_core_set[];

attest_certificate attest_certificate_of(const attest_report *report);

#endif
