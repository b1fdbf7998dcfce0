/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - the reading for memory safety: a scalar is a word of the width it has in the build, so
 * that every access covers the same bytes, and the operators only have to be cheap. What is proved
 * here is about addresses; nothing is claimed about values.
 */
#ifndef ATTN_READING_MEMORY_H
#define ATTN_READING_MEMORY_H

#if ATTN_BITS == 64
typedef uint64_t attn_real;
#else
typedef uint32_t attn_real;
#endif

#define ZERO ((attn_real)0)
#define ONE ((attn_real)1)
#define NEG_INF ((attn_real)2)
#define ADD(x, y) ((x) ^ (y))
#define SUB(x, y) ((x) ^ (y))
#define MUL(x, y) ((x) ^ (y))
#define DIV(x, y) ((x) ^ (y))
#define FMA(x, y, z) ((x) ^ (y) ^ (z))
#define NEG(x) (~(x))
#define EXP(x) (x)
#define LOG(x) (x)
#define TANH(x) (x)
#define GT(x, y) ((x) > (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define ISNINF(x) ((x) == NEG_INF)
#define ISFINITE(x) ((x) > 3)
#define SELECT(condition, x, y) ((condition) ? (x) : (y))
#define FROM_INT(n) ((attn_real)(n))

#endif
