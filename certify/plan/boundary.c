/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/boundary.h"

#include <stddef.h>

const char *const attest_axis_table[] = {"keys",  "queries", "head size", "value size", "heads",
                                         "batch", "group",   "threads",   NULL};

void attest_boundary_add(attest_boundaries *all, attest_axis axis, int64_t at, int64_t period) {
    int of_axis = 0;
    for (int i = 0; i < all->count; i++) {
        const attest_boundary *b = &all->found[i];
        of_axis += b->axis == axis;
        if (b->axis == axis && b->at == at && b->period == period) {
            return;
        }
    }
    if (of_axis < ATTEST_MOST_BOUNDARIES) {
        all->found[all->count++] = (attest_boundary){.axis = axis, .at = at, .period = period};
    }
}

int attest_boundary_lengths(const attest_boundaries *all, attest_axis axis, int64_t *lengths,
                            int room) {
    enum { FAR = 16 };
    static const int64_t repeats[] = {0, 1, 2, FAR};
    int count = 0;
    for (int i = 0; all != NULL && i < all->count; i++) {
        const attest_boundary *b = &all->found[i];
        for (int k = 0; b->axis == axis && k < (b->period ? 4 : 1); k++) {
            for (int64_t n = b->at + repeats[k] * b->period - 1, end = n + 3; n < end; n++) {
                int known = n < 1;
                for (int l = 0; l < count; l++) {
                    known |= lengths[l] == n;
                }
                if (!known && count < room - 1) {
                    lengths[count++] = n;
                }
            }
        }
    }
    lengths[count] = -1;
    return count;
}

/* The smallest period of the upper half, each of which is compared; 0: none. */
static int64_t period_of(const uint64_t *seen, int64_t count) {
    for (int64_t period = 1; period <= count / 3; period++) {
        int64_t i = count - count / 2;
        while (i < count && seen[i] == seen[i - period]) {
            i++;
        }
        if (i == count) {
            return period;
        }
    }
    return 0;
}

/* Every change is a boundary; of too many, some that are spread. */
static void read_changes(const uint64_t *seen, int64_t count, int64_t first, attest_axis axis,
                         attest_boundaries *all) {
    int64_t changes = 0, number = 0;
    for (int64_t i = 1; i < count; i++) {
        changes += seen[i] != seen[i - 1];
    }
    const int64_t step = (changes + ATTEST_MOST_BOUNDARIES - 1) / ATTEST_MOST_BOUNDARIES;
    for (int64_t i = 1; i < count; i++) {
        if (seen[i] != seen[i - 1] && number++ % step == 0) {
            attest_boundary_add(all, axis, first + i, 0);
        }
    }
}

int64_t attest_boundaries_read(const uint64_t *seen, int64_t count, int64_t first, attest_axis axis,
                               attest_boundaries *all) {
    const int64_t period = period_of(seen, count);
    if (period <= 1) {
        read_changes(seen, count, first, axis, all);
        return period;
    }
    int64_t at = count - period; /* the last period has a change, else it would be 1 */
    while (seen[at] == seen[at - 1]) {
        at++;
    }
    attest_boundary_add(all, axis, period + (first + at) % period, period);
    /* What breaks the period is a boundary of its own; the first tiles have nothing to compare. */
    for (int64_t i = 2 * period, last = 2 * period - 1; i < count; i++) {
        if (seen[i] != seen[i - period]) {
            if (i - last > period) {
                attest_boundary_add(all, axis, first + i, 0);
            }
            last = i;
        }
    }
    return period;
}
