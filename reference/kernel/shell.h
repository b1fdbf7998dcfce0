/* SPDX-License-Identifier: Apache-2.0 */
/* shell.h - the loops around attn_row, one per width: strides, types and masks become the typed row
 * pointers that row.c asks for. */
#ifndef ATTN_SHELL_H
#define ATTN_SHELL_H

#include "reference/problem/normal.h"

/* ATTEST_OK, or ATTEST_NO_MEMORY before anything is written. */
attest_status attn_shell_f32(const attn_normal *normal);
attest_status attn_shell_f64(const attn_normal *normal);

#endif
