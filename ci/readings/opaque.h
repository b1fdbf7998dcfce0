/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opaque.h - a reading of scalar.h in which a scalar is a struct and each operation a function.
 * Proved code that compiles with it uses no operator, cast, comparison or literal on a scalar.
 * It is only compiled, never linked; ci/check-scalars does so.
 */
#ifndef ATTN_READING_OPAQUE_H
#define ATTN_READING_OPAQUE_H

#include <stdint.h>

typedef struct attn_opaque {
    unsigned char hidden_from_proved_code;
} attn_real;

attn_real attn_opaque_constant(int which);
attn_real attn_opaque_unary(attn_real x);
attn_real attn_opaque_binary(attn_real x, attn_real y);
attn_real attn_opaque_ternary(attn_real x, attn_real y, attn_real z);
attn_real attn_opaque_select(int condition, attn_real x, attn_real y);
attn_real attn_opaque_from_int(int64_t n);
int attn_opaque_test(attn_real x);
int attn_opaque_compare(attn_real x, attn_real y);

#define ZERO attn_opaque_constant(0)
#define ONE attn_opaque_constant(1)
#define NEG_INF attn_opaque_constant(2)
#define FROM_INT(n) attn_opaque_from_int(n)
#define EXP(x) attn_opaque_unary(x)
#define LOG(x) attn_opaque_unary(x)
#define TANH(x) attn_opaque_unary(x)
#define NEG(x) attn_opaque_unary(x)
#define ADD(x, y) attn_opaque_binary(x, y)
#define SUB(x, y) attn_opaque_binary(x, y)
#define MUL(x, y) attn_opaque_binary(x, y)
#define DIV(x, y) attn_opaque_binary(x, y)
#define MAX(x, y) attn_opaque_binary(x, y)
#define FMA(x, y, z) attn_opaque_ternary(x, y, z)
#define GT(x, y) attn_opaque_compare(x, y)
#define ISNINF(x) attn_opaque_test(x)
#define SELECT(condition, x, y) attn_opaque_select(condition, x, y)

#endif
