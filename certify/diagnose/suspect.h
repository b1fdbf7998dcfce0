/* SPDX-License-Identifier: GPL-3.0-or-later */
/* suspect.h - which bug classes a failed run points to. */
#ifndef ATTEST_SUSPECT_H
#define ATTEST_SUSPECT_H

#include "certify/result/report.h"

/* A class that the evidence points to, how strongly (0 to 100), and what speaks for it. */
typedef struct attest_suspicion {
    int bug_class, strength;
    char why[160];
} attest_suspicion;

enum { ATTEST_MOST_SUSPICIONS = 2 };

/*
 * The classes that explain a report's failures best, strongest first; at most two, because bugs of
 * different classes can do the same to results. Returns how many.
 */
int attest_suspect(const attest_report *report, attest_suspicion found[ATTEST_MOST_SUSPICIONS]);

#endif
