/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fingerprint_sizes.h - what a kernel answers differently by size or by spelling. */
#ifndef ATTEST_FINGERPRINT_SIZES_H
#define ATTEST_FINGERPRINT_SIZES_H

#include "certify/run/run.h"

/* Runs the checks that ask one question at many sizes, and prints what varies. */
void attest_fingerprint_sizes(attest_setup *setup, const attest_settings *settings,
                              const attn_profile *profile);

#endif
