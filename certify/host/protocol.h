/* SPDX-License-Identifier: GPL-3.0-or-later */
/* protocol.h - the transport for kernels that are not C: spec/protocol.md, attest's side. */
#ifndef ATTEST_PROTOCOL_H
#define ATTEST_PROTOCOL_H

#include "certify/host/session.h"

/* Starts the program and asks it to declare itself. 1, or 0 with the outcome. */
int attest_protocol_start(attest_session *session, attest_outcome *outcome);

/* One call; ATTEST_CALL_TOGETHER is answered "unsupported". */
void attest_protocol_call(attest_session *session, enum attest_call_kind kind,
                          const attest_stage *stage, attest_outcome *outcome);

#endif
