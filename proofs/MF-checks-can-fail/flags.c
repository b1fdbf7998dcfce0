/* SPDX-License-Identifier: Apache-2.0 */
/* One function a checking flag, each with one defect and nothing else wrong. */
#include <float.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "proofs/harness/proof.h"

float nondet_float(void);

void bounds(void) {
    int cells[3] = {0};
    const unsigned char i = nondet_byte();
    cells[i % 4] = 1;
}

void pointer(void) {
    char *p = malloc(3);
    __CPROVER_assume(p);
    p[3] = 0;
    free(p);
}

void freed(void) {
    char *p = malloc(1);
    __CPROVER_assume(p);
    free(p);
    *p = 0;
}

void null(void) { /* malloc may fail */
    char *p = malloc(1);
    *p = 0;
    free(p);
}

void primitive(void) {
    char *p = malloc(1);
    __CPROVER_assume(p);
    free(p);
    __CPROVER_assume(__CPROVER_OBJECT_SIZE(p) == 1);
}

void division(void) { (void)(1 / (nondet_int() % 2)); }

void signed_overflow(void) { (void)(nondet_int() + 1); }

void shift(void) { (void)(1u << (nondet_byte() % 33)); }

void no_body(void) {
    void missing_function(void);
    missing_function();
}

void unwinding(void) {
    for (unsigned i = 0; i < nondet_unsigned() % 100; i++) {
    }
}

void nan_result(void) { /* an infinity, so that no division by zero is involved */
    const float x = nondet_float();
    (void)(x - x);
}

void float_overflow(void) {
    const float x = nondet_float();
    __CPROVER_assume(x >= 0 && x <= FLT_MAX);
    (void)(x * 2);
}

void float_division(void) { (void)(1.0f / nondet_float()); }

void conversion(void) {
    const int wide = nondet_int();
    const int8_t narrow = (int8_t)wide;
    (void)narrow;
}

void unsigned_overflow(void) { (void)(nondet_unsigned() + 1u); }

void pointer_overflow(void) {
    char cells[4], *p = cells;
    p += nondet_size();
    (void)p;
}

void leak(void) {
    char *volatile p = malloc(1);
    p = NULL;
    (void)p;
}

void asserted(void) { PROVE(nondet_int() != 7, "asserted value"); }
