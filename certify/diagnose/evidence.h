/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * evidence.h - what the failures of a run have in common and the rest has not: options, sizes,
 * types and layouts of the cases, requirements broken, places of wrong elements, known errors.
 */
#ifndef ATTEST_EVIDENCE_H
#define ATTEST_EVIDENCE_H

#include "certify/result/report.h"

typedef enum attest_attribute {
    ATTEST_WITH_CAUSAL,
    ATTEST_WITH_OFFSETS,
    ATTEST_WITH_WINDOW,
    ATTEST_WITH_BAND, /* causal or a window */
    ATTEST_WITH_LENGTHS,
    ATTEST_WITH_BOOL_MASK,
    ATTEST_WITH_ADDED_MASK,
    ATTEST_WITH_MASK,
    ATTEST_WITH_REPEATED_MASK, /* an axis of length 1, or fewer axes */
    ATTEST_WITH_OTHER_MASK_TYPE,
    ATTEST_WITH_BIAS, /* an additive mask or ALiBi */
    ATTEST_WITH_SCALE,
    ATTEST_WITH_SOFTCAP,
    ATTEST_WITH_SINKS,
    ATTEST_WITH_ALIBI,
    ATTEST_WITH_LSE,
    ATTEST_WITH_F16,
    ATTEST_WITH_BF16,
    ATTEST_WITH_NARROW_TYPE,
    ATTEST_WITH_STRIDES,
    ATTEST_WITH_REPEATED_KEYS,
    ATTEST_WITH_SPREAD_ROWS,
    ATTEST_WITH_HUGE_STRIDES,
    ATTEST_WITH_GROUPS,
    ATTEST_WITH_HEADS,
    ATTEST_WITH_ENTRIES,
    ATTEST_WITH_OTHER_VALUE_SIZE,
    ATTEST_WITH_ONE_QUERY,
    ATTEST_WITH_QUERIES,      /* more than one */
    ATTEST_WITH_MANY_QUERIES, /* more than 8 */
    ATTEST_WITH_MANY_KEYS,    /* more than 256 */
    ATTEST_WITH_THREADS,
    ATTEST_WITH_EMPTY_AXIS,
    ATTEST_ATTRIBUTES
} attest_attribute;

enum { ATTEST_MOST_KNOWN = 128, ATTEST_MOST_CHECKS = 64 };

typedef struct attest_evidence {
    int bad, good;
    int bad_with[ATTEST_ATTRIBUTES], good_with[ATTEST_ATTRIBUTES];
    int bad_of[ATTEST_MOST_CHECKS], good_of[ATTEST_MOST_CHECKS]; /* by index of the check */
    int clued;               /* failed cases with wrong elements */
    int some[ATTEST_CLUES];  /* of those, where the clue holds of some wrong element */
    int every[ATTEST_CLUES]; /* and where of all */
    int examined, known[ATTEST_MOST_KNOWN];
    int alone_same, alone_other;
    /* The sweep over key lengths of the check `sizes`: the shortest that fails, 0 if none does, and
     * how many longer ones fail and pass. */
    int64_t shortest;
    int longer_bad, longer_good;
} attest_evidence;

extern const char *const attest_attribute_names[ATTEST_ATTRIBUTES];

/* Which attributes a case has. */
void attest_attributes_of(const attest_case *c, int has[ATTEST_ATTRIBUTES]);

void attest_evidence_take(attest_evidence *evidence, const attest_report *report);

/* Failures that broke this requirement; in one check alone, or NULL for all. */
int attest_evidence_broke(const attest_report *report, const char *id, const char *check);

#endif
