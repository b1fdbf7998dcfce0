/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generated_row.h - one row of the generated kernel on its way, and the parts that are spoiled. An
 * argument `e` is the effect on one key: that of the row where the key is marked, else none.
 */
#ifndef ATTN_GENERATED_ROW_H
#define ATTN_GENERATED_ROW_H

#include "impl/wrong/generated/trigger.h"
#include "impl/wrong/mutants/access.h"
#include "reference/problem/convert.h"
#include "reference/problem/normal.h"

enum { HIDDEN, SEEN, MARKED }; /* bits of a key's state; MARKED: the effect applies to it */

typedef struct call {
    const attn_normal *n;
    defect defect;
    int fires; /* the conditions on the call hold */
    facts facts;
    attest_tensor q, k, v, mask; /* with the strides of the effect */
    float scale_before, sum_before;
    int unlucky; /* of EFFECT_RACE */
} call;

typedef struct row {
    const call *c;
    int64_t b, h, i;
    effect effect;              /* of the row; of a key only if it is marked */
    float *q, *k, *v, *s, *out; /* D, D, Dv, Sk, Dv */
    unsigned char *state;       /* Sk */
} row;

static inline float narrow(attest_dtype type, float x) {
    return (float)attn_round_to(type, (double)x);
}

/* Row s of head h of entry b as binary32: in place where it lies so, else in `room`. */
const float *generated_fetch(const attest_tensor *t, int64_t b, int64_t h, int64_t s, float *room);
void generated_flush_denormals(float *to, const float *from, int64_t count);

int generated_sees(const row *r, int64_t j, effect e);
float generated_product(const row *r, const float *q, int64_t j, effect e);
float generated_score(const row *r, const float *q, int64_t j, effect e);
int64_t generated_kv_head(const row *r, effect e);
int64_t generated_entry(const row *r, effect e);

/* Sum of the weights. */
float generated_row(row *r);

#endif
