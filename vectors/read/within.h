/* SPDX-License-Identifier: Apache-2.0 */
/* within.h - is a value within a vector's radius, and how a radius is stored. */
#ifndef ATTEST_WITHIN_H
#define ATTEST_WITHIN_H

#include "spec/attest.h"

/* The smallest number with eight significant bits that is not below x, a little enlarged. */
double attest_round_up(double x, attest_dtype stored_as);

/*
 * 1 unless `actual` is wrong. high NaN: must be NaN, or with low = inf anything that is not finite;
 * high infinite: must be that; radius NaN: no verdict; else |actual - (high + low)| <= radius.
 */
int attest_within(double high, double low, double radius, double actual);

#endif
