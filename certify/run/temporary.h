/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * temporary.h - the folder that a relaxed kernel may write to. It is locked while its run lives, so
 * the next run knows those of runs that were killed, and removes them.
 */
#ifndef ATTEST_TEMPORARY_H
#define ATTEST_TEMPORARY_H

#include "certify/host/target.h"

typedef struct attest_temporary {
    char path[ATTEST_PATH_BYTES]; /* empty: there is none */
    int lock;
} attest_temporary;

/* Removes what dead runs of this user left in TMPDIR or /tmp. */
void attest_temporary_sweep(void);

/* 1, or 0 with errno set. */
int attest_temporary_open(attest_temporary *temporary);
void attest_temporary_close(attest_temporary *temporary);

#endif
