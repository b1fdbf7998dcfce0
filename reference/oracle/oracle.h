/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle.h - the right answer as an interval. For every output element: the exact value of the
 * normal form (centre), how far that centre may itself be off (own error), and how far a kernel
 * that computes as its model says may be from the exact value (radius; spec/error-model.md).
 */
#ifndef ATTN_ORACLE_H
#define ATTN_ORACLE_H

#include <stdint.h>

#include "reference/oracle/model.h"
#include "reference/problem/normal.h"

typedef enum attn_kind {
    ATTN_FINITE,    /* high + low +- radius */
    ATTN_NAN,       /* must be a NaN */
    ATTN_POS_INF,   /* must be +inf */
    ATTN_NEG_INF,   /* must be -inf */
    ATTN_NONFINITE, /* an infinity or a NaN: which of them depends on rounding */
    /* An LSE whose row is NaN without a NaN in it: the limit of log Z, or the formula's NaN. */
    ATTN_NAN_OR_POS_INF,
    ATTN_NAN_OR_NEG_INF,
    ATTN_ANY,          /* the profile or the spec leaves it open */
    ATTN_NO_RADIUS,    /* the model bounds nothing useful here: no verdict (MISTRUSTED) */
    ATTN_OUT_OF_DOMAIN /* an intermediate may overflow in this model: no verdict */
} attn_kind;

typedef struct attn_enclosure {
    double high, low; /* the centre is high + low */
    double own_error; /* |centre - exact| is at most this */
    double radius;    /* |kernel - exact| is at most this, store to the output's type included */
    uint8_t kind;     /* attn_kind; the four numbers are 0 unless it is ATTN_FINITE */
    uint8_t path;     /* attn_path that gave the centre */
} attn_enclosure;

typedef enum attn_path { ATTN_PATH_DOUBLE, ATTN_PATH_DOUBLE_DOUBLE, ATTN_PATH_MPFR } attn_path;

/* An element escalates while its own error is more than this part of its radius. */
#define ATTN_OWN_ERROR_PART 0.0625

typedef struct attn_oracle_options {
    int threads;          /* at least 1 */
    attn_path least_path; /* start here: ATTN_PATH_DOUBLE for the cheapest that will do */
} attn_oracle_options;

/*
 * Fills o, dense [B,Hq,Sq,Dv], and lse, dense [B,Hq,Sq] (NULL: not wanted), from the inputs of a
 * problem that attn_normalise accepted with its data. Its outputs are not looked at, beyond their
 * types; K and V of keys that a row does not see are not read on its behalf. ATTEST_OK, or
 * ATTEST_NO_MEMORY with a message.
 */
attest_status attn_oracle(const attn_normal *normal, const attn_model *model, int threads,
                          attn_enclosure *o, attn_enclosure *lse,
                          char message[ATTEST_MESSAGE_BYTES]);

attest_status attn_oracle_with(const attn_normal *normal, const attn_model *model,
                               const attn_oracle_options *options, attn_enclosure *o,
                               attn_enclosure *lse, char message[ATTEST_MESSAGE_BYTES]);

/* One row: o has value_size elements, lse one or is NULL. */
attest_status attn_oracle_row(const attn_normal *normal, const attn_model *model, int64_t b,
                              int64_t h, int64_t i, attn_enclosure *o, attn_enclosure *lse,
                              char message[ATTEST_MESSAGE_BYTES]);

#define ATTN_OUTSIDE 0
#define ATTN_INSIDE 1
#define ATTN_NO_VERDICT (-1) /* ATTN_NO_RADIUS, ATTN_OUT_OF_DOMAIN, a reach that is not finite */

/*
 * Is a kernel's value possible? *ratio (may be NULL) is |actual - centre| / (radius + own error):
 * at most 1 inside; infinity where a finite value was due and none came, or the other way round;
 * 0 for kinds that have no distance.
 */
int attn_judge(const attn_enclosure *enclosure, double actual, double *ratio);

#endif
