/* SPDX-License-Identifier: GPL-3.0-or-later */
/* classes.h - the taxonomy of attention bugs by number, and what a failed run most likely has. */
#ifndef ATTEST_CLASSES_H
#define ATTEST_CLASSES_H

#include "report.h"

#define ATTEST_CLASSES 39

/* A few words for class 1 to 39; NULL for any other number. */
const char *attest_class_title(int number);

/*
 * The most likely class of a report's failures, 0 if there are none to go by; `why` says in a
 * sentence what speaks for it. A known defect that reproduces the wrong outputs outweighs what the
 * failing checks look for in general.
 */
int attest_likely_class(const attest_report *report, char *why, size_t size);

#endif
