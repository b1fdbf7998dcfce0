/* SPDX-License-Identifier: Apache-2.0 */
/* trigger.h - whether a defect shows: its conditions, looked at as soon as their subject is
 * known. */
#ifndef ATTN_WRONG_TRIGGER_H
#define ATTN_WRONG_TRIGGER_H

#include "impl/wrong/generated/defect.h"

/* Values of subjects, filled in level by level. */
typedef struct facts {
    int64_t value[SUBJECTS];
} facts;

/* Whether every condition of one level holds; conditions of other levels are not looked at. */
static inline int holds(const defect *d, level at, const facts *f) {
    for (uint64_t i = 0; i < d->conditions && i < MOST_CONDITIONS; i++) {
        const condition *c = &d->condition[i];
        if (c->subject >= SUBJECTS || subject_levels[c->subject] != at) {
            continue;
        }
        const int64_t value = f->value[c->subject];
        if (value < c->low || value > c->high ||
            (c->modulus > 0 && (value < 0 || value % c->modulus != c->residue))) {
            return 0;
        }
    }
    return 1;
}

#endif
