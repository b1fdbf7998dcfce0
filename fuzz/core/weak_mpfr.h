/* SPDX-License-Identifier: Apache-2.0 */
/* MPFR by weak reference: a program linked without it starts, and the oracle does without. */
#ifndef ATTEST_FUZZ_WEAK_MPFR_H
#define ATTEST_FUZZ_WEAK_MPFR_H

#include <mpfr.h>

#pragma weak mpfr_add
#pragma weak mpfr_add_d
#pragma weak mpfr_clear
#pragma weak mpfr_clears
#pragma weak mpfr_div
#pragma weak mpfr_div_d
#pragma weak mpfr_exp
#pragma weak mpfr_free_cache
#pragma weak mpfr_get_d
#pragma weak mpfr_init2
#pragma weak mpfr_inits2
#pragma weak mpfr_log
#pragma weak mpfr_mul_d
#pragma weak mpfr_set_d
#pragma weak mpfr_set_si
#pragma weak mpfr_set_si_2exp
#pragma weak mpfr_set_zero
#pragma weak mpfr_sub_d
#pragma weak mpfr_tanh

#endif
