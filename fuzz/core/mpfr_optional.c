/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle's last path where MPFR is linked, none where it is not: elements that would need it
 * then have no verdict, which is never a finding.
 */
#include "fuzz/core/weak_mpfr.h"

#define attn_mpfr_row attest_fuzz_mpfr_row
#include "reference/oracle/oracle_mpfr.c"
#undef attn_mpfr_row

attn_precise_row *attn_mpfr_row(const attn_row_data *row, const attn_oracle_call *call, int bits) {
    return mpfr_init2 ? attest_fuzz_mpfr_row(row, call, bits) : NULL;
}
