/* SPDX-License-Identifier: Apache-2.0 */
/* poison.h - marks memory as not to be touched, where an address sanitizer is linked. */
#ifndef ATTEST_FUZZ_POISON_H
#define ATTEST_FUZZ_POISON_H

#include "reference/problem/normal.h"

/* K and V rows that no row of their KV head sees (MEM-04). */
void attest_fuzz_poison_unseen(const attn_normal *normal);
void attest_fuzz_unpoison(const attest_problem *problem);

#endif
