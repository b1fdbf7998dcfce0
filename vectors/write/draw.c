/* SPDX-License-Identifier: Apache-2.0 */
#include "vectors/write/draw.h"

uint32_t attest_map_below(uint32_t draw, uint32_t count) {
    return (uint32_t)((uint64_t)draw * count >> 32);
}

double attest_dyadic(int64_t n, int exponent) {
    double value = (double)n;
    for (; exponent > 0; exponent--) {
        value *= 2.0;
    }
    for (; exponent < 0; exponent++) {
        value *= 0.5;
    }
    return value;
}

double attest_map_grid(uint32_t draw, uint32_t half, int exponent) {
    return attest_dyadic((int64_t)attest_map_below(draw, 2 * half + 1) - half, exponent);
}
