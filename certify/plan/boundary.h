/* SPDX-License-Identifier: GPL-3.0-or-later */
/* boundary.h - lengths at which a kernel was seen to do something else. discover.h finds them, a
 * plan puts cases beside them, a report prints them. */
#ifndef ATTEST_BOUNDARY_H
#define ATTEST_BOUNDARY_H

#include <stdint.h>

typedef enum attest_axis {
    ATTEST_AXIS_KEYS,
    ATTEST_AXIS_QUERIES,
    ATTEST_AXIS_HEAD_SIZE,
    ATTEST_AXIS_VALUE_SIZE,
    ATTEST_AXIS_HEADS,
    ATTEST_AXIS_BATCH,
    ATTEST_AXIS_GROUP,
    ATTEST_AXIS_THREADS,
    ATTEST_AXES
} attest_axis;

/* Ended by NULL. */
extern const char *const attest_axis_table[];

typedef struct attest_boundary {
    attest_axis axis;
    int64_t at;     /* the first length of the other behaviour */
    int64_t period; /* 0, or it comes again after every so many lengths */
} attest_boundary;

enum { ATTEST_MOST_BOUNDARIES = 6 }; /* an axis */

typedef struct attest_boundaries {
    attest_boundary found[ATTEST_AXES * ATTEST_MOST_BOUNDARIES];
    int count;
    int64_t probes; /* calls it took */
} attest_boundaries;

/* Keeps a boundary unless it is there already or its axis has its share. */
void attest_boundary_add(attest_boundaries *all, attest_axis axis, int64_t at, int64_t period);

/*
 * The lengths beside the boundaries of an axis: each one, the one before and the one after it, at
 * most `room` - 1 of them, ended by -1. Of one that repeats, its first, second, third and a far
 * place. Returns how many; `boundaries` may be NULL.
 */
int attest_boundary_lengths(const attest_boundaries *boundaries, attest_axis axis, int64_t *lengths,
                            int room);

/*
 * Reads boundaries off what was seen at each of the lengths first, first + 1, ...: equal numbers
 * are equal behaviour. Returns the period of the upper half: 1 if nothing changes there, 0 if it
 * has none.
 */
int64_t attest_boundaries_read(const uint64_t *seen, int64_t count, int64_t first, attest_axis axis,
                               attest_boundaries *all);

#endif
