/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact.h - the exact result of a problem, correctly rounded: high is the binary64 nearest to it,
 * low the one nearest to what is left. Written from spec/attention.md on MPFR, apart from the
 * oracles, and slow: a row is evaluated with more and more bits until both roundings are certain.
 */
#ifndef ATTEST_EXACT_H
#define ATTEST_EXACT_H

#include "reference/problem/normal.h"

typedef enum attest_expected_kind {
    ATTEST_EXPECT_NUMBER,    /* high + low */
    ATTEST_EXPECT_NAN,       /* a NaN */
    ATTEST_EXPECT_INFINITY,  /* high, which is an infinity */
    ATTEST_EXPECT_NONFINITE, /* an infinity or a NaN: rounding decides, or both are right (SPV-02)
                              */
    ATTEST_EXPECT_ANYTHING   /* the profile leaves it open */
} attest_expected_kind;

typedef struct attest_expected {
    double high, low;
    attest_expected_kind kind;
} attest_expected;

/*
 * Fills o, dense [B,Hq,Sq,Dv], and lse, dense [B,Hq,Sq]. ATTEST_OK; ATTEST_NO_MEMORY; or
 * ATTEST_INTERNAL where 20,000 bits do not decide a rounding.
 */
attest_status attest_exact(const attn_normal *normal, attest_expected *o, attest_expected *lse);

#endif
