/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uninterpreted.h - the reading in which arithmetic means nothing: a scalar is a word, an operation
 * an arbitrary function of its operands' bits. What holds here holds for every deterministic
 * arithmetic: any format, rounding, exp, order of NaN payloads.
 *
 * Why 16 bits are enough: the code only copies scalars and hands them to these functions (no
 * comparison or bit trick on a scalar; ci/check-scalars), so a property is a formula of equality
 * logic, and one that fails over some domain fails over any domain with at least as many elements
 * as the formula has distinct terms. A harness has a few thousand terms, the domain 65536 words.
 * The constants are functions of nothing, not literals, so that none is assumed to differ from
 * another; a comparison gives an arbitrary truth value.
 *
 * The shell passes scalars through attn_load and attn_store as double: with 64 bits the word is a
 * double, so that they carry it whole. A harness compares words with same_words, never with ==.
 */
#ifndef ATTN_READING_UNINTERPRETED_H
#define ATTN_READING_UNINTERPRETED_H

#ifndef PROOF_WORD
#define PROOF_WORD 16
#endif

#if PROOF_WORD == 64
typedef double attn_real;
#elif PROOF_WORD == 32
typedef uint32_t attn_real;
#else
typedef uint16_t attn_real;
#endif

attn_real __CPROVER_uninterpreted_constant(int which);
attn_real __CPROVER_uninterpreted_from_int(int64_t n);
attn_real __CPROVER_uninterpreted_add(attn_real x, attn_real y);
attn_real __CPROVER_uninterpreted_sub(attn_real x, attn_real y);
attn_real __CPROVER_uninterpreted_mul(attn_real x, attn_real y);
attn_real __CPROVER_uninterpreted_div(attn_real x, attn_real y);
attn_real __CPROVER_uninterpreted_fma(attn_real x, attn_real y, attn_real z);
attn_real __CPROVER_uninterpreted_max(attn_real x, attn_real y);
attn_real __CPROVER_uninterpreted_neg(attn_real x);
attn_real __CPROVER_uninterpreted_exp(attn_real x);
attn_real __CPROVER_uninterpreted_log(attn_real x);
attn_real __CPROVER_uninterpreted_tanh(attn_real x);
_Bool __CPROVER_uninterpreted_gt(attn_real x, attn_real y);
_Bool __CPROVER_uninterpreted_isninf(attn_real x);

#define ZERO __CPROVER_uninterpreted_constant(0)
#define ONE __CPROVER_uninterpreted_constant(1)
#define NEG_INF __CPROVER_uninterpreted_constant(2)
#define FROM_INT(n) __CPROVER_uninterpreted_from_int(n)
#define ADD(x, y) __CPROVER_uninterpreted_add(x, y)
#define SUB(x, y) __CPROVER_uninterpreted_sub(x, y)
#define MUL(x, y) __CPROVER_uninterpreted_mul(x, y)
#define DIV(x, y) __CPROVER_uninterpreted_div(x, y)
#define FMA(x, y, z) __CPROVER_uninterpreted_fma(x, y, z)
#define MAX(x, y) __CPROVER_uninterpreted_max(x, y)
#define NEG(x) __CPROVER_uninterpreted_neg(x)
#define EXP(x) __CPROVER_uninterpreted_exp(x)
#define LOG(x) __CPROVER_uninterpreted_log(x)
#define TANH(x) __CPROVER_uninterpreted_tanh(x)
#define GT(x, y) __CPROVER_uninterpreted_gt(x, y)
#define ISNINF(x) __CPROVER_uninterpreted_isninf(x)
#define SELECT(condition, x, y) ((condition) ? (x) : (y))

#endif
