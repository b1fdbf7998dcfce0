/* SPDX-License-Identifier: GPL-3.0-or-later */
/* misreadings.h - what a kernel may have understood instead of its question (question.h). */
#ifndef ATTEST_MISREADINGS_H
#define ATTEST_MISREADINGS_H

#include "certify/diagnose/question.h"

typedef struct attest_misreading {
    const char *text; /* "the causal mask is not applied" */
    const char *ids;  /* requirements it breaks */
    int classes[4];   /* bug classes it belongs to, the likeliest first; 0 past the last */
    int whole_row;    /* it is about all keys or none */
    /* Changes the question; 0 where this problem leaves nothing to misread. */
    int (*change)(attest_question *question, int64_t argument);
    int64_t argument;
} attest_misreading;

/* 1 if others that say more give the same: keys may be left out for any reason. */
int attest_misreading_is_loose(const attest_misreading *misreading);

/* NULL past the last. */
const attest_misreading *attest_misreading_at(int index);

#endif
