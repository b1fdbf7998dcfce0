/* SPDX-License-Identifier: Apache-2.0 */
/*
 * narrow.h - the reading in IEEE formats small enough to bit-blast: PROOF_FORMAT is
 *
 *   143   8 bits: sign, 4 exponent, 3 fraction, with infinities and NaN   least positive 2^-9
 *   152   8 bits: sign, 5 exponent, 2 fraction                            least positive 2^-16
 *   187   bfloat16                                                        least positive 2^-133
 *   1510  binary16                                                        least positive 2^-24
 *
 * exp is any function that keeps the contract of elementary.h, and a fresh choice at every call, so
 * what is proved needs nothing of exp but the clauses written here. The value is built to satisfy
 * them, never assumed to: no input is cut away. log and tanh are arbitrary.
 *
 * With PROOF_ANY_EXP the argument of exp is ignored and the result is anything in [0, 1]. That is
 * the cut between the two halves of C4: the first proves with the whole contract that every
 * argument is at most 0 and some exponential is 1, the second needs no more than that.
 *
 * The reading also keeps what a proof asks about and row.c does not return: the last exponential
 * (the sink's, where there is one) and the last argument of LOG (the denominator).
 */
#ifndef ATTN_READING_NARROW_H
#define ATTN_READING_NARROW_H

#if PROOF_FORMAT == 143
typedef __CPROVER_floatbv[8][3] attn_real;
#elif PROOF_FORMAT == 152
typedef __CPROVER_floatbv[8][2] attn_real;
#elif PROOF_FORMAT == 187
typedef __CPROVER_floatbv[16][7] attn_real;
#elif PROOF_FORMAT == 1510
typedef __CPROVER_floatbv[16][10] attn_real;
#else
#error "PROOF_FORMAT must name a format"
#endif

attn_real nondet_scalar(void);

#define ZERO ((attn_real)0)
#define ONE ((attn_real)1)
#define NEG_INF (-ONE / ZERO)
#define ADD(x, y) ((x) + (y))
#define SUB(x, y) ((x) - (y))
#define MUL(x, y) ((x) * (y))
#define DIV(x, y) ((x) / (y))
#define NEG(x) (-(x))
#define GT(x, y) ((x) > (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define ISNINF(x) ((x) == NEG_INF)
#define SELECT(condition, x, y) ((condition) ? (x) : (y))
#define FROM_INT(n) ((attn_real)(n))
#define EXP(x) narrow_exp(x)
#define LOG(x) narrow_log(x)
#define TANH(x) nondet_scalar()

extern attn_real narrow_last_exp, narrow_last_log_argument;
extern _Bool narrow_exp_in_domain; /* every argument of exp so far was at most 0 */

#ifdef PROOF_ANY_EXP
static attn_real narrow_exp(attn_real x) {
    attn_real any = nondet_scalar();
    (void)x;
    narrow_last_exp = any > ZERO && any <= ONE ? any : ZERO;
    return narrow_last_exp;
}
#else
/* exp(0) = 1; in [0, 1] below 0; 0 at -inf; at least 1 above 0; NaN for NaN and nothing else. */
static attn_real narrow_exp(attn_real x) {
    attn_real any = nondet_scalar(), result;
    if (x != x) {
        result = x;
    } else if (x == ZERO) {
        result = ONE;
    } else if (x == NEG_INF) {
        result = ZERO;
    } else if (x < ZERO) {
        result = any > ZERO && any <= ONE ? any : ZERO;
    } else {
        result = any >= ONE ? any : ONE;
    }
    narrow_exp_in_domain = narrow_exp_in_domain && x <= ZERO;
    narrow_last_exp = result;
    return result;
}
#endif

static attn_real narrow_log(attn_real x) {
    narrow_last_log_argument = x;
    return nondet_scalar();
}

#endif
