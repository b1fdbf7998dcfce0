/* SPDX-License-Identifier: GPL-3.0-or-later */
/* target.h - what TARGET on the command line names, and where attest's own files are. */
#ifndef ATTEST_TARGET_H
#define ATTEST_TARGET_H

#include "spec/attest.h"

#define ATTEST_PATH_BYTES 4096

typedef enum attest_target_kind {
    ATTEST_TARGET_OBJECT,  /* a shared object, or builtin:NAME */
    ATTEST_TARGET_PROGRAM, /* exec:PROGRAM: speaks spec/protocol.md */
    ATTEST_TARGET_PYTHON   /* py:FILE:FUNCTION */
} attest_target_kind;

typedef struct attest_target {
    attest_target_kind kind;
    char text[ATTEST_PATH_BYTES]; /* as given */
    char path[ATTEST_PATH_BYTES]; /* of the object, the program or the Python file */
    char function[128];
    char worker_script[ATTEST_PATH_BYTES]; /* attest_attention/worker.py */
    char interpreter[ATTEST_PATH_BYTES];
} attest_target;

/* 1, or 0 with a reason. Looks for bundled files beside the running program. */
int attest_target_parse(attest_target *target, const char *text, char why[ATTEST_MESSAGE_BYTES]);

/* A file of attest's own, given relative to the program: the first of the places that has it. */
int attest_find_own(char path[ATTEST_PATH_BYTES], const char *const *places);

#endif
