/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine sees beside code coverage: pairs of options, kinds of shapes, types and data, and
 * how near results come to their radius. So a kernel without instrumentation is fuzzed with
 * feedback too, and errors are driven towards the edge. libFuzzer reads the section; others ignore
 * it.
 */
#include <math.h>

#include "fuzz/core/examine.h"

enum { PAIRS = 12 * 12, SHAPES = 256, TYPES = 64, RATIOS = 16, SIZES = 128, FILLS = 3 * 16 };

__attribute__((
    section("__libfuzzer_extra_counters"),
    used)) static unsigned char counters[PAIRS + SHAPES + TYPES + RATIOS + SIZES + FILLS];

static unsigned size_class(int64_t n) { return n == 0 ? 0 : n == 1 ? 1 : n < 32 ? 2 : 3; }

/* 0 to `most`: below 8, 16, 32 and so on. */
static unsigned magnitude(int64_t n, unsigned most) {
    unsigned result = 0;
    for (n /= 8; n > 0 && result < most; n /= 2) {
        result++;
    }
    return result;
}

void attest_fuzz_observe_problem(const attest_fuzz_problem *made) {
    const attest_problem *p = &made->problem;
    for (unsigned a = 0; a < 12; a++) {
        for (unsigned b = 0; b <= a; b++) {
            counters[a * 12 + b] |= (p->features >> a & 1) && (p->features >> b & 1);
        }
    }
    unsigned group = p->k.shape[1] > 0 && p->q.shape[1] > p->k.shape[1];
    unsigned shape = size_class(p->q.shape[2]) | size_class(p->k.shape[2]) << 2 |
                     (unsigned)(p->q.shape[0] > 1) << 4 | group << 5 |
                     (unsigned)(p->q.shape[3] != p->v.shape[3]) << 6 |
                     (unsigned)(p->k.shape[2] % 8 != 0) << 7;
    counters[PAIRS + shape] = 1;
    counters[PAIRS + SHAPES + ((p->q.dtype - 1) | (p->k.dtype - 1) << 2 | (p->o.dtype - 1) << 4)] =
        1;
    unsigned char *rest = counters + PAIRS + SHAPES + TYPES + RATIOS;
    rest[magnitude(p->k.shape[2], 7) | magnitude(p->q.shape[3], 3) << 3 |
         magnitude(p->v.shape[3], 3) << 5] = 1;
    for (unsigned k = 0; k < 3; k++) {
        rest[SIZES + k * 16 + made->field[FUZZ_FILL_Q + k] % 16] = 1;
    }
}

/* Halves below 1, on a logarithmic scale: 2^-15 and less is the first. */
void attest_fuzz_observe_ratio(double ratio) {
    int exponent = 0;
    if (ratio > 0 && ratio <= 1) {
        frexp(ratio, &exponent);
        exponent = exponent + RATIOS - 2;
        counters[PAIRS + SHAPES + TYPES + (exponent < 0 ? 0 : exponent)] = 1;
    }
}
