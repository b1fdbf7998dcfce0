/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attn_forward on one small shape for a value analysis: every element, offset, key length, window
 * and mask is arbitrary, allocations may fail. The analysis follows all of it at once, so what it
 * does not flag cannot happen for this shape: no bad access, overflow, shift, conversion or use of
 * what was never written.
 */
#include "__fc_builtin.h"

#include <stdint.h>

#include "reference/kernel/forward.h"
#include "reference/problem/normal.h"

enum { BATCH = 1, Q_HEADS = 2, KV_HEADS = 1, QUERIES = 2, KEYS = 3, SIZE = 2 };

static float q[BATCH * Q_HEADS * QUERIES * SIZE], k[BATCH * KV_HEADS * KEYS * SIZE],
    v[BATCH * KV_HEADS * KEYS * SIZE], o[BATCH * Q_HEADS * QUERIES * SIZE],
    lse[BATCH * Q_HEADS * QUERIES], sinks[Q_HEADS], slopes[Q_HEADS];
static unsigned char mask[QUERIES * KEYS];
static int64_t lengths[BATCH], offsets[BATCH];
static char message[ATTEST_MESSAGE_BYTES];

static attest_tensor tensor(void *data, attest_dtype dtype, uint32_t rank, int64_t a, int64_t b,
                            int64_t c, int64_t d) {
    attest_tensor t = {.data = data, .dtype = dtype, .rank = rank, .shape = {a, b, c, d}};
    int64_t step = 1;
    for (int axis = (int)rank - 1; axis >= 0; axis--) {
        t.stride[axis] = step;
        step *= t.shape[axis];
    }
    return t;
}

int main(void) {
    Frama_C_make_unknown((char *)q, sizeof q);
    Frama_C_make_unknown((char *)k, sizeof k);
    Frama_C_make_unknown((char *)v, sizeof v);
    Frama_C_make_unknown((char *)sinks, sizeof sinks);
    Frama_C_make_unknown((char *)slopes, sizeof slopes);
    Frama_C_make_unknown((char *)mask, sizeof mask);
    lengths[0] = Frama_C_long_interval(0, KEYS);
    offsets[0] = Frama_C_long_interval(-ATTN_MAX_OFFSET, ATTN_MAX_OFFSET);
    attest_problem p = {.struct_bytes = sizeof p, .threads = 1};
    p.features = FEATURES;
    p.q = tensor(q, ATTEST_F32, 4, BATCH, Q_HEADS, QUERIES, SIZE);
    p.k = tensor(k, ATTEST_F32, 4, BATCH, KV_HEADS, KEYS, SIZE);
    p.v = tensor(v, ATTEST_F32, 4, BATCH, KV_HEADS, KEYS, SIZE);
    p.o = tensor(o, ATTEST_F32, 4, BATCH, Q_HEADS, QUERIES, SIZE);
    p.lse = tensor(lse, ATTEST_F32, 3, BATCH, Q_HEADS, QUERIES, 0);
    p.mask = tensor(mask, ATTEST_BOOL, 2, QUERIES, KEYS, 0, 0);
    p.sinks = tensor(sinks, ATTEST_F32, 1, Q_HEADS, 0, 0, 0);
    p.slopes = tensor(slopes, ATTEST_F32, 1, Q_HEADS, 0, 0, 0);
    p.key_lengths = tensor(lengths, ATTEST_I64, 1, BATCH, 0, 0, 0);
    p.offsets = tensor(offsets, ATTEST_I64, 1, BATCH, 0, 0, 0);
    p.scale = Frama_C_double_interval(-1e300, 1e300);
    p.softcap = Frama_C_double_interval(1e-300, 1e300);
    p.window_left = Frama_C_long_interval(INT64_MIN, INT64_MAX);
    p.window_right = Frama_C_long_interval(INT64_MIN, INT64_MAX);
    attest_status status = attn_forward(&p, &attn_profile_attest, message);
    return (int)status;
}
