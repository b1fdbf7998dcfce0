/* SPDX-License-Identifier: GPL-3.0-or-later */
/* closeup.h - the smallest case of each cause once more, for pictures and programs of it. */
#ifndef ATTEST_CLOSEUP_H
#define ATTEST_CLOSEUP_H

#include "certify/host/workbench.h"
#include "certify/result/report.h"

/* Gives the smallest case of each cause an exhibit. The report's causes must be there. */
void attest_closeups(attest_workbench *bench, const volatile sig_atomic_t *stop,
                     attest_report *report);

#endif
