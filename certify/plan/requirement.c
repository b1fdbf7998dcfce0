/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/requirement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const attest_requirement table[] = {
#include "generated/requirements.inc"
};
#define COUNT ((int)(sizeof table / sizeof *table))
_Static_assert(sizeof table / sizeof *table <= ATTEST_MOST_REQUIREMENTS, "raise the limit");

int attest_requirement_count(void) { return COUNT; }

const attest_requirement *attest_requirement_at(int index) {
    return index >= 0 && index < COUNT ? &table[index] : NULL;
}

static int find(const char *id, size_t length) {
    for (int i = 0; i < COUNT; i++) {
        if (strlen(table[i].id) == length && memcmp(table[i].id, id, length) == 0) {
            return i;
        }
    }
    return -1;
}

int attest_requirement_index(const char *id) { return find(id, strlen(id)); }

static void change(attest_ids *ids, const char *list, int add) {
    while (*list != '\0') {
        size_t length = strcspn(list, " ");
        int index = find(list, length);
        if (index < 0) {
            fprintf(stderr, "attest: requirement \"%.*s\" does not exist\n", (int)length, list);
            abort();
        }
        const uint64_t bit = UINT64_C(1) << (index % 64);
        ids->bits[index / 64] = add ? ids->bits[index / 64] | bit : ids->bits[index / 64] & ~bit;
        list += length;
        list += *list == ' ';
    }
}

void attest_ids_add(attest_ids *ids, const char *list) { change(ids, list, 1); }

void attest_ids_remove(attest_ids *ids, const char *list) { change(ids, list, 0); }

int attest_ids_has(const attest_ids *ids, int index) {
    return (int)(ids->bits[index / 64] >> (index % 64) & 1);
}

void attest_ids_merge(attest_ids *ids, const attest_ids *others) {
    for (size_t i = 0; i < sizeof ids->bits / sizeof *ids->bits; i++) {
        ids->bits[i] |= others->bits[i];
    }
}

int attest_ids_empty(const attest_ids *ids) { return ids->bits[0] == 0 && ids->bits[1] == 0; }

void attest_ids_print(const attest_ids *ids, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < COUNT && used < size; i++) {
        if (attest_ids_has(ids, i)) {
            const char *space = used ? " " : "";
            used += (size_t)snprintf(text + used, size - used, "%s%s", space, table[i].id);
        }
    }
}
