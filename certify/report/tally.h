/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tally.h - what several views count: where cases fail, how near to the radius, the ladder. */
#ifndef ATTEST_TALLY_H
#define ATTEST_TALLY_H

#include "certify/result/report.h"

/* What a case is like, in words that a kernel author looks for. */
typedef enum attest_facet {
    ATTEST_FACET_MASK,
    ATTEST_FACET_QUERIES,
    ATTEST_FACET_KEYS,
    ATTEST_FACET_TYPE,
    ATTEST_FACET_VALUES,
    ATTEST_FACETS
} attest_facet;

enum { ATTEST_MOST_OF_A_FACET = 8 };

extern const char *const attest_facet_names[ATTEST_FACETS];
extern const char *const attest_facet_values[ATTEST_FACETS][ATTEST_MOST_OF_A_FACET]; /* then NULL */

/* 1, or 0 if the line cannot be read. */
int attest_facets_of(const attest_entry *entry, int facets[ATTEST_FACETS]);

/* Cases by two facets. Neutral verdicts are in neither number. */
typedef struct attest_table {
    int64_t bad[ATTEST_MOST_OF_A_FACET][ATTEST_MOST_OF_A_FACET];
    int64_t ran[ATTEST_MOST_OF_A_FACET][ATTEST_MOST_OF_A_FACET];
} attest_table;
attest_table attest_table_of(const attest_report *report, attest_facet rows, attest_facet columns);

/* Passes by error/radius: exactly 0, then by halves, the last one up to 1. */
enum { ATTEST_RATIO_BINS = 12 };
void attest_ratio_bins(const attest_report *report, int64_t bins[ATTEST_RATIO_BINS]);

/* A rung of the determinism ladder (names.h): cases that held, and those where bits moved. */
typedef struct attest_rung {
    int claimed;
    int64_t held, moved;
} attest_rung;
attest_rung attest_rung_of(const attest_report *report, int rung);

/* Requirements by their prefix. */
typedef struct attest_group {
    const char *prefix, *meaning;
    int total, passed, failed, doubted, without, absent;
} attest_group;
enum { ATTEST_GROUPS = 9 };
attest_group attest_group_of(const attest_certificate *c, int number);
int attest_in_group(const char *id, const attest_group *group);

/* As attest_requirement_word(); "not run" where that has none. */
const char *attest_state_word(const attest_requirement_state *state);

double attest_worst_pass(const attest_report *report);

#endif
