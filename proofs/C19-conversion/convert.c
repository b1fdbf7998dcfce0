/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every word of each storage type and every binary64 number, against CBMC's own IEEE arithmetic in
 * that format. A NaN must stay one; which one it is does not matter.
 */
#include <stdint.h>
#include <string.h>

#include "reference/problem/convert.h"
#include "proofs/harness/proof.h"

#if STORAGE == 16
#define TYPE ATTEST_F16
typedef __CPROVER_floatbv[16][10] number;
typedef uint16_t word;
#elif STORAGE == 17
#define TYPE ATTEST_BF16
typedef __CPROVER_floatbv[16][7] number;
typedef uint16_t word;
#elif STORAGE == 32
#define TYPE ATTEST_F32
typedef float number;
typedef uint32_t word;
#else
#define TYPE ATTEST_F64
typedef double number;
typedef uint64_t word;
#endif

double nondet_double(void);
word nondet_word(void);

/* The bits of a number, and the other way round. */
typedef union cell {
    word bits;
    number value;
} cell;

static _Bool same(double x, double y) {
    return (x == y && __builtin_signbit(x) == __builtin_signbit(y)) || (x != x && y != y);
}

int main(void) {
    const cell in = {.bits = nondet_word()};
    const double loaded = attn_load(TYPE, &in.bits), wide = nondet_double();
    cell out = {.bits = nondet_word()};
    attn_store(TYPE, &out.bits, wide);
    const number nearest = (number)wide;
    PROVE(same(loaded, (double)in.value), "C19 a word is read as the number it stands for");
    PROVE(same((double)out.value, (double)nearest), "C19 a number is stored as the nearest one");
    PROVE(same(attn_round_to(TYPE, wide), (double)nearest), "C19 rounding is storing and reading");
    REACHED(loaded > 1 && wide > 1, "ordinary numbers");
}
