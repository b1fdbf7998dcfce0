/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_line.h - the command that runs a case again, as every view shows it. */
#ifndef ATTEST_REPLAY_LINE_H
#define ATTEST_REPLAY_LINE_H

#include "certify/result/report.h"

typedef struct attest_replay_line {
    char text[ATTEST_LINE_BYTES + 1024];
} attest_replay_line;

attest_replay_line attest_replay_line_of(const attest_report *report, const attest_entry *entry);

#endif
