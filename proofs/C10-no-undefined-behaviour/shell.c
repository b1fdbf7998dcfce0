/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shell on tensors that are exactly as large as their shapes and strides say, for one small
 * shape, any strides of 0..2 in inputs, any mask, key length and offset that attn_check lets
 * through: every access is inside its tensor, all that is allocated is freed, also where an
 * allocation fails. attn_normal is filled as attn_normalise does. The reading is memory.h: no claim
 * about values.
 */
#include <stdlib.h>

#include "reference/problem/normal.h"
#include "proofs/harness/proof.h"
#include "reference/kernel/shell.h"

#define BATCH 1
#define Q_HEADS 2
#define KV_HEADS 1

static int64_t any_stride(void) { return nondet_byte() % 3; }

static void place(attest_tensor *t, attest_dtype dtype, uint32_t rank) {
    int64_t last = 0;
    t->dtype = dtype;
    t->rank = rank;
    for (uint32_t axis = 0; axis < rank; axis++) {
        last += (t->shape[axis] - 1) * t->stride[axis];
    }
    t->data = malloc((size_t)((last + 1) * attn_dtype_bytes(dtype)));
    __CPROVER_assume(t->data);
}

static attest_tensor input(attest_dtype dtype, uint32_t rank, int64_t a, int64_t b, int64_t c,
                           int64_t d) {
    attest_tensor t = {.shape = {a, b, c, d}};
    for (uint32_t axis = 0; axis < rank; axis++) {
        t.stride[axis] = any_stride();
    }
    place(&t, dtype, rank);
    return t;
}

static attest_tensor output(attest_dtype dtype, uint32_t rank, int64_t a, int64_t b, int64_t c,
                            int64_t d) {
    attest_tensor t = {.shape = {a, b, c, d}};
    int64_t step = 1 + nondet_bool();
    for (uint32_t axis = rank; axis-- > 0;) {
        t.stride[axis] = step;
        step *= t.shape[axis];
    }
    place(&t, dtype, rank);
    return t;
}

int main(void) {
    static attest_problem p;
    p.features = FEATURES;
    p.q = input(DTYPE, 4, BATCH, Q_HEADS, QUERIES, HEAD_SIZE);
    p.k = input(DTYPE, 4, BATCH, KV_HEADS, KEYS, HEAD_SIZE);
    p.v = input(DTYPE, 4, BATCH, KV_HEADS, KEYS, VALUE_SIZE);
    p.o = output(DTYPE, 4, BATCH, Q_HEADS, QUERIES, VALUE_SIZE);
    p.lse = output(ATTEST_F32, 3, BATCH, Q_HEADS, QUERIES, 0);
    /* Broadcast: each axis of the mask is 1 or that of [B, Hq, Sq, Sk]. */
    p.mask = input(FEATURES & ATTEST_MASK_BOOL ? ATTEST_BOOL : ATTEST_F32, 3,
                   nondet_bool() ? 1 : Q_HEADS, nondet_bool() ? 1 : QUERIES,
                   nondet_bool() ? 1 : KEYS, 0);
    p.sinks = input(ATTEST_F32, 1, Q_HEADS, 0, 0, 0);
    p.slopes = input(ATTEST_F32, 1, Q_HEADS, 0, 0, 0);
    p.key_lengths = input(ATTEST_I64, 1, BATCH, 0, 0, 0);
    p.offsets = input(ATTEST_I64, 1, BATCH, 0, 0, 0);
    const int64_t length = *(int64_t *)p.key_lengths.data, offset = *(int64_t *)p.offsets.data;
    __CPROVER_assume(0 <= length && length <= KEYS);
    __CPROVER_assume(-ATTN_MAX_OFFSET <= offset && offset <= ATTN_MAX_OFFSET);
    attn_normal normal = {
        .problem = &p,
        .features = FEATURES,
        .batch = BATCH,
        .q_heads = Q_HEADS,
        .kv_heads = KV_HEADS,
        .queries = QUERIES,
        .keys = KEYS,
        .head_size = HEAD_SIZE,
        .value_size = VALUE_SIZE,
        .scale = 1,
        .left = nondet_long(),
        .right = nondet_long(),
        .profile = {.empty_row = EMPTY_ROW},
    };
    __CPROVER_assume(normal.left >= ATTEST_UNBOUNDED && normal.right >= ATTEST_UNBOUNDED);
    const attest_status status = attn_shell_f32(&normal);
    PROVE(status == ATTEST_OK || status == ATTEST_NO_MEMORY, "C10 shell answers");
    REACHED(status == ATTEST_OK, "a result");
    REACHED(status == ATTEST_NO_MEMORY, "an allocation that fails");
    const attest_tensor all[] = {p.q,    p.k,     p.v,      p.o,           p.lse,
                                 p.mask, p.sinks, p.slopes, p.key_lengths, p.offsets};
    for (size_t index = 0; index < sizeof all / sizeof all[0]; index++) {
        free(all[index].data); /* what is left then, the shell has leaked */
    }
}
