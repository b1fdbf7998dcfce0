/* SPDX-License-Identifier: GPL-3.0-or-later */
/* requirement.h - the requirements of spec/attention.md, compiled in, and sets of them. */
#ifndef ATTEST_REQUIREMENT_H
#define ATTEST_REQUIREMENT_H

#include <stddef.h>
#include <stdint.h>

#define ATTEST_MOST_REQUIREMENTS 128

typedef struct attest_requirement {
    const char *id;    /* "MASK-01" */
    const char *title; /* "Causal" */
    const char *text;
} attest_requirement;

typedef struct attest_ids {
    uint64_t bits[ATTEST_MOST_REQUIREMENTS / 64];
} attest_ids;

int attest_requirement_count(void);
const attest_requirement *attest_requirement_at(int index);
/* -1 if there is none of this name. */
int attest_requirement_index(const char *id);

/* Adds ids separated by spaces; an unknown one is a mistake in attest and aborts. */
void attest_ids_add(attest_ids *ids, const char *list);
void attest_ids_remove(attest_ids *ids, const char *list);
int attest_ids_has(const attest_ids *ids, int index);
void attest_ids_merge(attest_ids *ids, const attest_ids *others);
int attest_ids_empty(const attest_ids *ids);
/* "SEM-01 SEM-04", cut off at size. */
void attest_ids_print(const attest_ids *ids, char *text, size_t size);

#endif
