/* SPDX-License-Identifier: GPL-3.0-or-later */
/* checks.h - the table of checks; a new one is a line in checks.def. */
#ifndef ATTEST_CHECKS_H
#define ATTEST_CHECKS_H

#include "check.h"

#define CHECK(name) extern const attest_check attest_check_##name;
#include "checks.def"
#undef CHECK

static const attest_check *const attest_checks[] = {
#define CHECK(name) &attest_check_##name,
#include "checks.def"
#undef CHECK
};
#define ATTEST_CHECK_COUNT ((int)(sizeof attest_checks / sizeof *attest_checks))

#endif
