/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - what every target has: the entry point of the engine, and how it says "found". */
#ifndef ATTEST_FUZZ_TARGET_H
#define ATTEST_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "examine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t room, unsigned seed);

/* Examines, and on a finding shrinks it, prints it and aborts. */
void attest_fuzz_test(const attest_fuzz_subject *subject, const uint8_t *data, size_t size);

#endif
