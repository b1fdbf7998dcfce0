/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_target.h - what every target has: the entry point of the engine, and how it says "found". */
#ifndef ATTEST_FUZZ_TARGET_H
#define ATTEST_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "fuzz/core/examine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* structured.c or bytes.c */

/* What a target does with one input. */
void attest_fuzz_input(const uint8_t *data, size_t size);

/* structured.c alone: for inputs that decode.h reads. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t room, unsigned seed);

/* Examines, and on a finding shrinks it, prints it and aborts. */
void attest_fuzz_test(const attest_fuzz_subject *subject, const uint8_t *data, size_t size);

/* "MISMATCH WHAT: ..." on standard error, then abort(). */
__attribute__((format(printf, 1, 2))) _Noreturn void attest_fuzz_stop(const char *format, ...);

/* scratch.c: a directory of this process, removed at its end; files in it, by name. */
const char *attest_fuzz_directory(void);
const char *attest_fuzz_file(const char *name, const void *bytes, size_t size);
void attest_fuzz_remove(const char *name);

#endif
