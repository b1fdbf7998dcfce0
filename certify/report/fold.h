/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fold.h - text made as wide as a terminal: lines break at spaces and go on below, indented. */
#ifndef ATTEST_FOLD_H
#define ATTEST_FOLD_H

#include <stdio.h>

typedef struct attest_fold {
    FILE *out;
    int width;
    char *text;
    size_t size;
} attest_fold;

/* Where to write to instead of `out`: itself if nothing is folded (width 0, or no memory). */
FILE *attest_fold_begin(attest_fold *fold, FILE *out, int width);
void attest_fold_end(attest_fold *fold, FILE *file);

#endif
