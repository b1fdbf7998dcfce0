/* SPDX-License-Identifier: GPL-3.0-or-later */
/* statement.h - the verdict as an in-toto statement with a test-result predicate. */
#ifndef ATTEST_STATEMENT_H
#define ATTEST_STATEMENT_H

#include <jansson.h>

#include "certify/result/report.h"

/*
 * Writes the statement; with `secret` (crypto_sign_SECRETKEYBYTES) as a signed DSSE envelope. The
 * subject is the kernel's digest; a restricted certificate is WARNED. 1, or 0.
 */
int attest_statement_write(const char *path, const attest_report *report,
                           const attest_certificate *c, const char digest[65],
                           const unsigned char *secret);

#endif
