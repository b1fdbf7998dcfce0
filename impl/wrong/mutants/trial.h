/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - one problem from one line of text, in fenced memory. Fields are key=value, separated by
 * spaces, in any order; what is left out has the default in parentheses.
 *
 *   b hq hkv sq sk d dv   sizes (1 2 =hq 4 7 8 =d)
 *   type kv o             f32 f16 bf16 (f32 =type =type)
 *   causal lse            0 or 1 (0, 1)
 *   offsets lengths       a value for each batch entry, the last one repeated: 3/1 (none)
 *   window wsize          left/right; a single number (none)
 *   mask                  bool or add (none)
 *   mshape mtype          bhqk with 1 for an axis of one, from the right: b1qk, qk, k; "-" for rank
 *                         0 (bhqk); f32 or q's type (f32)
 *   mvalues               random sparse tri head none bytes lowest single (random)
 *   scale softcap         numbers (none)
 *   sinks                 their size; -inf (none)
 *   slopes                rank 1 or 2 (none)
 *   layout                dense padded tokens spread repeat (dense)
 *   far                   q k v o mask lse: batch entries of that operand 2^32 + 8 elements apart
 *   amp vamp vshift       factors on q and on v, added to v (1 1 0)
 *   signs                 1: q positive, k negative (0)
 *   normal                1: q, k, v, mask about normal; else multiples of 1/64 in [-2, 2] (0)
 *   late                  factor on the last key (1)
 *   bad                   q k v mask, or a sum q+k: one NaN in row 0 or at key `at` (none)
 *   badvalue at           nan inf -inf; a key (nan, 0)
 *   threads seed          (1, 1)
 */
#ifndef ATTN_MUTANT_TRIAL_H
#define ATTN_MUTANT_TRIAL_H

#include <stddef.h>

#include "reference/problem/operand.h"
#include "spec/attest.h"

enum { TRIAL_MOST_BATCH = 64 };

typedef struct trial_buffer {
    unsigned char *map, *data;
    size_t map_bytes, bytes;
} trial_buffer;

typedef struct trial {
    char line[512];
    attest_problem p;
    trial_buffer buffer[ATTN_OPERANDS];
    trial_buffer workspace;
    int at_start; /* tensors begin at a fence; else they end at one */
    double amp, vamp, vshift, late;
    int signs, normal;
    int64_t lengths[TRIAL_MOST_BATCH], offsets[TRIAL_MOST_BATCH];
} trial;

/* 1, or 0 with a reason. */
int trial_build(trial *t, const char *line, int at_start, char why[ATTEST_MESSAGE_BYTES]);
void trial_free(trial *t);

/* Workspace of a size, between fences. */
int trial_workspace(trial *t, uint64_t bytes);

/* Every byte of outputs and workspace. */
void trial_dirty(trial *t, unsigned char pattern);

/* Inputs writable or not. */
void trial_protect(trial *t, int writable);

/* Value of a field of the line, or NULL. */
const char *trial_field(const char *line, const char *key, char value[64]);

/* Dense copies of o, then lse: n values; NULL without memory. */
double *trial_results(const attest_problem *p, size_t *n);

/* Equal bits, any NaN equal to any NaN. */
int trial_same(double a, double b);

uint64_t trial_draw(uint64_t *state); /* splitmix64 */

#endif
