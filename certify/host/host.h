/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host.h - a kernel under test as attest sees it: something that can be asked and called, and that
 * may crash, hang or lie. A session owns one worker at a time and starts a new one after a crash.
 * Verdicts are never taken from what a worker says: an outcome can only be worse than the outputs.
 */
#ifndef ATTEST_HOST_H
#define ATTEST_HOST_H

#include "certify/host/session.h"

/* Loads the kernel and fills info, unless a worker is running. 1, or 0 with the outcome. */
int attest_session_start(attest_session *session, attest_outcome *outcome);

/* One call on a staged case. Restarts the worker first where needed. */
void attest_session_call(attest_session *session, enum attest_call_kind kind, unsigned callers,
                         const attest_stage *stage, attest_outcome *outcome);

#endif
