/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulator.h - a kernel that makes every rounding error its model allows: each operation gives
 * x(1+d)+e with |d| <= u and |e| <= eta, the signs random or chosen to do the most harm, the order
 * of sums, the tiling and the form of the softmax drawn at random. It shares no code with the
 * oracle but the normal form, and works in long double so that its own arithmetic does not count.
 */
#ifndef EMULATOR_H
#define EMULATOR_H

#include "reference/oracle/model.h"
#include "reference/problem/normal.h"
#include "tests/support/random_problem.h"

typedef enum emulator_mode { EMULATE_UNIFORM, EMULATE_SIGNS, EMULATE_WORST } emulator_mode;

typedef enum emulator_operation {
    NO_OPERATION,
    OPERAND,     /* an input rounded to the operand format */
    DOT_PRODUCT, /* q * k */
    DOT_ADD,
    SCALE,
    SOFTCAP,
    BIAS,
    ARGUMENT, /* score - maximum */
    EXPONENTIAL,
    WEIGHT,      /* rounding of a weight */
    MIX_PRODUCT, /* weight * v */
    MIX_ADD,
    SUM_ADD, /* the denominator */
    RESCALE,
    DIVIDE,
    LOGARITHM,
    STORE,
    EMULATOR_OPERATIONS
} emulator_operation;

extern const char *const emulator_operation_name[EMULATOR_OPERATIONS];

typedef struct emulator {
    const attn_model *model;
    random_source *source;
    emulator_mode mode;
    emulator_operation faulty; /* its errors are `fault` times what the model allows */
    double fault;
    /* 1: the caller stores results, which rounds them. Then the last operation errs by what the
     * store leaves of its share: a number that was rounded already does not round again. */
    int stores;
    int plain_order; /* 1: keys in their order, one at a time, online where the model rescales */
} emulator;

/* What EMULATE_WORST is to push: a column of the output, or -1 for the log-sum-exp. */
typedef struct emulator_target {
    int64_t column;
    int direction; /* +1 or -1 */
    double centre; /* the exact value there */
} emulator_target;

/* One row. o has value_size elements; where the mode is EMULATE_WORST only the target's is set. */
void emulate_row(const emulator *emulator, const attn_normal *normal, int64_t b, int64_t h,
                 int64_t i, const emulator_target *target, long double *o, long double *lse);

#endif
