/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exhibit.h - one failing case looked at closely, for those who read a report: which keys each row
 * used and should have used, how wrong each element is, and programs that show it again.
 */
#ifndef ATTEST_EXHIBIT_H
#define ATTEST_EXHIBIT_H

#include <stdint.h>

enum { ATTEST_MOST_MAPS = 4, ATTEST_MAP_SIDE = 64 };

/* What is known of a cell of a mask. */
#define ATTEST_CELL_SEEN '#'
#define ATTEST_CELL_HIDDEN '.'
#define ATTEST_CELL_ADDED '+' /* used, though it must be hidden */
#define ATTEST_CELL_LOST '-'  /* not used, though it must be seen */

/* One head. Longer axes are cut: the first ATTEST_MAP_SIDE rows, keys and columns are shown. */
typedef struct attest_map {
    int64_t entry, head;
    int rows, keys, columns;
    char *mask; /* rows * keys cells */
    float
        *ratio; /* rows * columns: error/radius; < 0: no verdict; infinite: a wrong kind of value */
} attest_map;

typedef struct attest_exhibit {
    attest_map maps[ATTEST_MOST_MAPS];
    int map_count;
    int mask_known;  /* the mask in use was read back; otherwise cells are what they should be */
    char *c_program; /* or NULL: the case is too large to print */
    char *numpy_program;
} attest_exhibit;

void attest_exhibit_free(attest_exhibit *exhibit);

#endif
