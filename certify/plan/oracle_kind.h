/* SPDX-License-Identifier: GPL-3.0-or-later */
/* oracle_kind.h - the kinds of cases of the check "oracle". */
#ifndef ATTEST_ORACLE_KIND_H
#define ATTEST_ORACLE_KIND_H

/* Parameter 0 of the cases of the check "oracle". */
enum {
    ATTEST_ORACLE_ROUND,
    ATTEST_ORACLE_LARGE_SCORES,
    ATTEST_ORACLE_LARGE_VALUES,
    ATTEST_ORACLE_COMPOUND, /* parameter 1: called twice, the second call judged */
    ATTEST_ORACLE_PRESET    /* parameter 1: number of the preset */
};

#endif
