/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * derive.h - a second problem made of parts of the first: some of its rows, its first keys, its
 * batch entries turned round. Its results are known from the first one's, row by row.
 */
#ifndef ATTEST_DERIVE_H
#define ATTEST_DERIVE_H

#include "certify/host/workbench.h"

/* Inputs of a staged case, copied; `problem` has pointers to the copies and no outputs. */
typedef struct attest_source {
    attest_problem problem;
    attn_normal normal;
    void *owned[ATTEST_INPUT_SLOTS];
} attest_source;

int attest_source_take(attest_source *source, const attest_workbench *bench);
void attest_source_free(attest_source *source);

/* Row i of entry b of the part is row i + row of entry (b + entry) mod B of the source. */
typedef struct attest_part {
    int64_t entry, entries;
    int64_t row, rows;
    int64_t keys;
} attest_part;

/*
 * Stages the part. The position of its rows is kept by explicit offsets where the kernel takes
 * them, else by the profile's default if that happens to fit. 1, or 0 with the result filled (a
 * verdict, or mistrusted where the part cannot be said to this kernel).
 */
int attest_derive(attest_workbench *bench, const attest_case *c, const attest_source *source,
                  const attest_part *part, attest_result *result);

/* How many rows of the part differ in a bit from the source's outputs; the first is at *first. */
int64_t attest_part_differs(const attest_workbench *bench, const attest_kept *whole,
                            const attest_source *source, const attest_part *part, int64_t *first);

#endif
