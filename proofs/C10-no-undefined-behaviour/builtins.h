/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The overflow builtins of the compilers, for an analyser that does not know them. A product that
 * goes to a size_t (shell.c) counts as overflow from 2^63 on: no allocation of that size succeeds.
 */
#ifndef ATTN_PROOF_BUILTINS_H
#define ATTN_PROOF_BUILTINS_H

#include <stdint.h>

static int proof_mul(int64_t a, int64_t b, int64_t *result) {
    if (a > 0    ? b > INT64_MAX / a || b < INT64_MIN / a
        : a < -1 ? b > INT64_MIN / a || b < INT64_MAX / a
                 : a == -1 && b == INT64_MIN) {
        return 1;
    }
    *result = a * b;
    return 0;
}

static int proof_add(int64_t a, int64_t b, int64_t *result) {
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) {
        return 1;
    }
    *result = a + b;
    return 0;
}

#define __builtin_mul_overflow(a, b, result) proof_mul(a, b, (int64_t *)(result))
#define __builtin_add_overflow(a, b, result) proof_add(a, b, (int64_t *)(result))

#endif
