/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bug_class.h - the classes of spec/classes.md, compiled in: CLASS_KV_HEAD is 26. */
#ifndef ATTEST_BUG_CLASS_H
#define ATTEST_BUG_CLASS_H

enum {
    CLASS_NONE,
#define BUG_CLASS(name, number, title, definition, examples) name = number,
#include "generated/classes.inc"
#undef BUG_CLASS
    ATTEST_CLASSES /* one past the last number */
};

typedef struct attest_bug_class {
    const char *title;      /* "KV head mapping" */
    const char *definition; /* a sentence */
    const char *examples;   /* lines of "project#number: what was wrong" */
} attest_bug_class;

/* NULL if no class has this number. */
const attest_bug_class *attest_class_at(int number);

#endif
