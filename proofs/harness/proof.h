/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proof.h - what every CBMC harness shares. REACHED(what) marks a place that a proof must reach:
 * the runner repeats the run with PROOF_REACH and demands that each of these assertions fails, so a
 * contradictory assumption or a call that never returns cannot pass for a proof.
 */
#ifndef ATTN_PROOF_H
#define ATTN_PROOF_H

#define PROVE(condition, name) __CPROVER_assert(condition, name)

#ifdef PROOF_REACH
#define REACHED(condition, what) __CPROVER_assert(!(condition), "reached: " what)
#else
#define REACHED(condition, what) ((void)0)
#endif

_Bool nondet_bool(void);
unsigned char nondet_byte(void);
int nondet_int(void);
unsigned nondet_unsigned(void);
long nondet_long(void);
unsigned long nondet_size(void);

#endif
