/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output.h - files that are there whole or not at all: written beside, then renamed. */
#ifndef ATTEST_OUTPUT_H
#define ATTEST_OUTPUT_H

#include <stdio.h>

typedef struct attest_output {
    FILE *file;
    char *path, *beside; /* beside: NULL for what is no plain file, such as /dev/stdout */
} attest_output;

/* NULL if it cannot be written. attest_output_close() is called in any case. */
FILE *attest_output_open(attest_output *output, const char *path);

/* 1, or 0 if something could not be written: then a file that was there is as it was. */
int attest_output_close(attest_output *output);

#endif
