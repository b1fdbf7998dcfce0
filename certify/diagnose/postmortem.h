/* SPDX-License-Identifier: GPL-3.0-or-later */
/* postmortem.h - a second look at a few failed cases, after the run. */
#ifndef ATTEST_POSTMORTEM_H
#define ATTEST_POSTMORTEM_H

#include "certify/host/workbench.h"
#include "certify/result/report.h"

/*
 * Runs the first failures of each check once more, each in a worker that has done nothing else (an
 * interpreter, which takes seconds to start, is kept while the same comes out), and
 * notes whether the same came out (result.alone) and which known errors would give it
 * (result.defects). Verdicts stay. After the run, so that how cases were spread over workers has no
 * part in it. Ends at `until` of attest_clock(), unless that is 0.
 */
void attest_postmortem(attest_workbench *bench, const volatile sig_atomic_t *stop, double until,
                       const attest_planned *const *cases, attest_report *report);

#endif
