/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the steps of attn_check after check_tensor accept is a problem as SEM-01, SEM-02, MASK-07,
 * ERR-02, ERR-03 and ERR-06 have it. Of each tensor is assumed what check_tensor promises
 * (tensor.c); lengths and strides are 0 to 3, the rest is arbitrary. What lengths and offsets hold
 * is in C17 (entry), where data lie in whole.c. The source is included, so that its static
 * functions can be asked.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "proofs/harness/proof.h"
#include "reference/problem/validate.h"

#include PROOF_SOURCE

attest_problem nondet_problem(void);

int vsnprintf(char *text, size_t size, const char *format, va_list arguments) {
    (void)text;
    (void)size;
    (void)format;
    (void)arguments;
    return nondet_int();
}

int __builtin_isfinite(double x) { return x - x == 0; }

static attest_tensor any_tensor(void) {
    attest_tensor tensor = {.dtype = nondet_unsigned(), .rank = nondet_unsigned()};
    __CPROVER_assume(tensor.rank <= ATTEST_MAX_RANK);
    for (uint32_t axis = 0; axis < ATTEST_MAX_RANK; axis++) {
        tensor.shape[axis] = axis < tensor.rank ? nondet_byte() & 3 : 0;
        tensor.stride[axis] = axis < tensor.rank ? nondet_byte() & 3 : 0;
    }
    return tensor;
}

static _Bool is(const attest_tensor *t, attest_dtype dtype, uint32_t rank, int64_t a, int64_t b,
                int64_t c, int64_t d) {
    return t->dtype == dtype && t->rank == rank && t->shape[0] == a &&
           (rank < 2 || t->shape[1] == b) && (rank < 3 || t->shape[2] == c) &&
           (rank < 4 || t->shape[3] == d);
}

static _Bool floating(attest_dtype t) {
    return t == ATTEST_F32 || t == ATTEST_F64 || t == ATTEST_F16 || t == ATTEST_BF16;
}

/* Right-aligned against [B, Hq, Sq, Sk], each axis equal or 1. */
static _Bool fits(const attest_tensor *mask, const int64_t full[4]) {
    _Bool good = mask->rank <= 4;
    for (uint32_t axis = 0; axis < 4; axis++) {
        const int64_t target = full[(axis + 4 - mask->rank) & 3];
        good =
            good && (axis >= mask->rank || mask->shape[axis] == 1 || mask->shape[axis] == target);
    }
    return good;
}

int main(void) {
    static attest_problem p;
    const checker state = {.problem = &p, .message = NULL, .metadata_only = 1}, *check = &state;
    p = nondet_problem();
    p.q = any_tensor();
    p.k = any_tensor();
    p.v = any_tensor();
    p.mask = any_tensor();
    p.sinks = any_tensor();
    p.slopes = any_tensor();
    p.key_lengths = any_tensor();
    p.offsets = any_tensor();
    p.o = any_tensor();
    p.lse = any_tensor();
    __CPROVER_assume(p.struct_bytes <= sizeof p);
    const uint64_t f = p.features;
    if (check_header(check) != ATTEST_OK || check_main(check) != ATTEST_OK ||
        check_options(check) != ATTEST_OK) {
        REACHED(p.threads == 2, "a problem that is refused");
        return 0;
    }
    /* ERR-02, ERR-03. */
    _Bool reserved = p.reserved32 != 0;
    for (int word = 0; word < 15; word++) {
        reserved = reserved || p.reserved[word] != 0;
    }
    PROVE(p.struct_bytes == sizeof p && !reserved && !(f & ~ATTEST_ALL_FEATURES) && p.threads >= 1,
          "C21 a header of version 1");
    /* SEM-01, SEM-02, SEM-11. */
    const int64_t b = p.q.shape[0], hq = p.q.shape[1], sq = p.q.shape[2], d = p.q.shape[3];
    const int64_t hkv = p.k.shape[1], sk = p.k.shape[2], dv = p.v.shape[3];
    const attest_dtype a = p.q.dtype == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    PROVE(floating(p.q.dtype) && floating(p.k.dtype) && floating(p.o.dtype), "C21 floating types");
    PROVE(is(&p.q, p.q.dtype, 4, b, hq, sq, d) && is(&p.k, p.k.dtype, 4, b, hkv, sk, d) &&
              is(&p.v, p.k.dtype, 4, b, hkv, sk, dv) && is(&p.o, p.o.dtype, 4, b, hq, sq, dv) &&
              d >= 1,
          "C21 shapes of Q, K, V and O");
    PROVE(hq == 0 || (hkv != 0 && (hq == hkv || hq == 2 * hkv || hq == 3 * hkv)),
          "C21 KV heads divide the query heads");
    PROVE(!(f & ATTEST_LSE) || is(&p.lse, a, 3, b, hq, sq, 0), "C21 shape and type of LSE");
    PROVE(!(f & ATTEST_SINKS) || is(&p.sinks, a, 1, hq, 0, 0, 0), "C21 sinks");
    PROVE(!(f & ATTEST_ALIBI) || is(&p.slopes, a, 1, hq, 0, 0, 0) ||
              is(&p.slopes, a, 2, b, hq, 0, 0),
          "C21 slopes");
    PROVE((!(f & ATTEST_KEY_LENGTHS) || is(&p.key_lengths, ATTEST_I64, 1, b, 0, 0, 0)) &&
              (!(f & ATTEST_OFFSETS) || is(&p.offsets, ATTEST_I64, 1, b, 0, 0, 0)),
          "C21 lengths and offsets");
    /* MASK-07. */
    PROVE(!(f & ATTEST_MASK_BOOL) || !(f & ATTEST_MASK_ADD), "C21 one mask");
    PROVE(!(f & ATTEST_MASK_BOOL) || p.mask.dtype == ATTEST_BOOL, "C21 type of a boolean mask");
    PROVE(!(f & ATTEST_MASK_ADD) || p.mask.dtype == a || p.mask.dtype == p.q.dtype,
          "C21 type of an additive mask");
    const int64_t full[4] = {b, hq, sq, sk};
    PROVE(!(f & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) || fits(&p.mask, full),
          "C21 shape of a mask");
    /* ERR-06. */
    PROVE(!(f & ATTEST_SCALE) || p.scale - p.scale == 0, "C21 scale");
    PROVE(!(f & ATTEST_SOFTCAP) || (p.softcap - p.softcap == 0 && p.softcap > 0), "C21 softcap");
    PROVE(!(f & ATTEST_WINDOW) ||
              (!(f & ATTEST_WINDOW_SIZE) && p.window_left >= -1 && p.window_right >= -1),
          "C21 window");
    PROVE(!(f & ATTEST_WINDOW_SIZE) || p.window_size >= 1, "C21 window size");
    REACHED((f & ATTEST_SINKS) && (f & ATTEST_ALIBI) && (f & ATTEST_MASK_ADD) && hq == 2 * hkv &&
                sk == 2 && sq == 2 && b == 2 && (f & ATTEST_LSE) && (f & ATTEST_OFFSETS),
            "a problem that is accepted");
}
