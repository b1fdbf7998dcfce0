/* SPDX-License-Identifier: Apache-2.0 */
#include "vectors/read/within.h"

#include <math.h>
#include <string.h>

double attest_round_up(double x, attest_dtype stored_as) {
    const uint64_t dropped = (UINT64_C(1) << 45) - 1;
    uint64_t bits;
    if (!(x > 0) || isinf(x)) {
        return x == 0 ? 0 : (double)NAN;
    }
    /* Covers the rounding of actual - high - low where a vector is judged. */
    x *= 1 + 0x1p-30;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + dropped) & ~dropped;
    memcpy(&x, &bits, sizeof x);
    if (stored_as == ATTEST_F32) {
        const double step = 0x1p-149; /* below 2^-141 a binary32 has fewer than eight bits */
        x = x < 0x1p-141 ? step * ceil(x / step) : x;
        return x > 0x1p127 ? (double)NAN : x;
    }
    return isinf(x) ? (double)NAN : x;
}

int attest_within(double high, double low, double radius, double actual) {
    if (isnan(radius)) {
        return 1;
    }
    if (isnan(high)) {
        return low == 0 ? isnan(actual) : !isfinite(actual);
    }
    return isinf(high) ? actual == high : fabs(actual - high - low) <= radius;
}
