/* SPDX-License-Identifier: Apache-2.0 */
/* emulator_row.h - inside the emulator: its arithmetic and its scores. */
#ifndef EMULATOR_ROW_H
#define EMULATOR_ROW_H

#include "tests/support/emulator.h"

typedef long double wide;

/* One row in the making. Terms are the visible keys and, last, the sink. */
typedef struct row_state {
    const emulator *e;
    const attn_normal *normal;
    const emulator_target *target;
    int64_t keys, terms, first_column, columns;
    int64_t *key; /* index of each visible key */
    wide *score;  /* computed ones */
    wide *v;      /* keys * columns, as the kernel sees them */
    wide *scratch;
    int uniform; /* an empty row of a profile that takes the mean of all keys */
} row_state;

/* x with an error of at most `relative` |x|, or of `absolute` where that is more. */
wide em_perturb(const emulator *e, wide x, double relative, double absolute,
                emulator_operation operation, int push);
wide em_round(const emulator *e, wide x, const attn_format *format, emulator_operation operation,
              int push);
wide em_round_times(const emulator *e, wide x, const attn_format *format,
                    emulator_operation operation, int push, uint32_t times);

/* x + y; adding a zero is exact. */
wide em_add(const emulator *e, wide x, wide y, const attn_format *format,
            emulator_operation operation, int push);

/* Their sum, by some tree of additions that the model allows; n is at least 1. */
wide em_sum(const emulator *e, const wide *terms, int64_t n, const attn_format *format,
            emulator_operation operation, int push);

/* 1 where a value of this type must be rounded to the format. */
int em_wider(attest_dtype dtype, const attn_format *format);
wide em_load(const attest_tensor *tensor, int64_t b, int64_t h, int64_t s, int64_t c);

/* Where the weight of a term should go to move the target; 0 where it does not matter. */
int em_push(const row_state *r, int64_t term);

void em_score_row(row_state *r, int64_t b, int64_t h, int64_t i);

#endif
