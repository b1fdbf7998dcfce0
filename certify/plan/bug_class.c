/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/bug_class.h"

#include <stddef.h>

static const attest_bug_class table[ATTEST_CLASSES] = {
#define BUG_CLASS(name, number, title, definition, examples) [name] = {title, definition, examples},
#include "generated/classes.inc"
#undef BUG_CLASS
};

const attest_bug_class *attest_class_at(int number) {
    return number > CLASS_NONE && number < ATTEST_CLASSES ? &table[number] : NULL;
}
