/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What attn_check as a whole promises of operands: each that the features name is looked at and
 * lies where it may, no other is given, and no output meets another operand (ERR-03, ERR-05). One
 * shape; addresses are arbitrary. What it says of shapes, types and options is in problem.c, what
 * lengths and offsets hold in C17 (entry): they are not in force here.
 */
#include <stdarg.h>
#include <stdio.h>

#include "proofs/harness/proof.h"
#include "reference/problem/validate.h"

int vsnprintf(char *text, size_t size, const char *format, va_list arguments) {
    (void)text;
    (void)size;
    (void)format;
    (void)arguments;
    return nondet_int();
}

int __builtin_isfinite(double x) { return x - x == 0; }

enum { B = 1, HQ = 2, HKV = 1, SQ = 1, SK = 3, D = 2, DV = 1, WORD = 4, OPERANDS = 8 };

static attest_tensor tensor(_Bool given, int64_t a, int64_t b, int64_t c, int64_t d) {
    attest_tensor t = {.shape = {a, b, c, d}, .dtype = ATTEST_F32};
    int64_t step = 1;
    for (int axis = 3; axis >= 0; axis--) {
        t.stride[axis] = t.shape[axis] ? step : 0;
        step *= t.shape[axis] ? t.shape[axis] : 1;
        t.rank += t.shape[axis] != 0;
    }
    t.data = (void *)nondet_size();
    if (!given) {
        t = (attest_tensor){.data = t.data, .dtype = nondet_unsigned()};
    }
    return t;
}

static int64_t elements(const attest_tensor *t) {
    int64_t count = 1;
    for (int axis = 0; axis < 4; axis++) {
        count *= t->shape[axis] ? t->shape[axis] : 1;
    }
    return count;
}

static _Bool apart(const attest_tensor *a, const attest_tensor *b) {
    const uintptr_t x = (uintptr_t)a->data, y = (uintptr_t)b->data;
    return x < y ? y - x >= (uintptr_t)(WORD * elements(a))
                 : x - y >= (uintptr_t)(WORD * elements(b));
}

int main(void) {
    static attest_problem p;
    static char message[ATTEST_MESSAGE_BYTES];
    const uint64_t f = FEATURES;
    p.struct_bytes = sizeof p;
    p.features = f;
    p.threads = 1;
    p.window_size = p.softcap = 1;
    p.q = tensor(1, B, HQ, SQ, D);
    p.k = tensor(1, B, HKV, SK, D);
    p.v = tensor(1, B, HKV, SK, DV);
    p.o = tensor(1, B, HQ, SQ, DV);
    p.lse = tensor((f & ATTEST_LSE) != 0, B, HQ, SQ, 0);
    p.mask = tensor((f & ATTEST_MASK_ADD) != 0, SK, 0, 0, 0);
    p.sinks = tensor((f & ATTEST_SINKS) != 0, HQ, 0, 0, 0);
    p.slopes = tensor((f & ATTEST_ALIBI) != 0, HQ, 0, 0, 0);
    if (attn_check(&p, 0, message) != ATTEST_OK) {
        REACHED(1, "a problem that is refused");
        return 0;
    }
    const struct {
        const attest_tensor *tensor;
        _Bool given;
    } operands[OPERANDS] = {{&p.o, 1},
                            {&p.lse, (f & ATTEST_LSE) != 0},
                            {&p.q, 1},
                            {&p.k, 1},
                            {&p.v, 1},
                            {&p.mask, (f & ATTEST_MASK_ADD) != 0},
                            {&p.sinks, (f & ATTEST_SINKS) != 0},
                            {&p.slopes, (f & ATTEST_ALIBI) != 0}};
    for (int at = 0; at < OPERANDS; at++) {
        const attest_tensor *t = operands[at].tensor;
        const uintptr_t start = (uintptr_t)t->data;
        PROVE(operands[at].given || (t->dtype == 0 && !t->data), "C21 no operand without its bit");
        PROVE(!operands[at].given || (start != 0 && start % WORD == 0 &&
                                      start <= UINTPTR_MAX - (uintptr_t)(WORD * elements(t))),
              "C21 data of each operand");
        for (int out = 0; out < 2; out++) {
            PROVE(out == at || !operands[at].given || !operands[out].given ||
                      apart(operands[out].tensor, t),
                  "C21 outputs are apart from the others");
        }
    }
    REACHED(1, "a problem that is accepted");
}
