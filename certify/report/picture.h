/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picture.h - what the HTML report draws, as inline SVG; colours are classes of its style sheet. */
#ifndef ATTEST_PICTURE_H
#define ATTEST_PICTURE_H

#include <stdio.h>

#include "certify/report/tally.h"

/* The mask as it should be, the one in use if it is known, and error/radius, side by side. */
void attest_draw_map(FILE *out, const attest_map *map, int mask_known);

void attest_draw_histogram(FILE *out, const attest_report *report);

#endif
