/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.h - names of bits, as case lines, reports and the protocol spell them; each table is ended
 * by NULL and indexed by the bit. */
#ifndef ATTEST_NAMES_H
#define ATTEST_NAMES_H

extern const char *const attest_feature_table[];
extern const char *const attest_shape_table[];
extern const char *const attest_type_table[]; /* indexed by attest_dtype */
extern const char *const attest_rung_table[]; /* determinism */
extern const char *const attest_isolation_table[];

#endif
