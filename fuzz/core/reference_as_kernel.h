/* SPDX-License-Identifier: Apache-2.0 */
/* reference_as_kernel.h - what the reference would declare, were it a kernel: everything. */
#ifndef ATTEST_FUZZ_REFERENCE_KERNEL_H
#define ATTEST_FUZZ_REFERENCE_KERNEL_H

#include "spec/attest.h"

extern const attest_kernel attest_fuzz_reference;

#endif
