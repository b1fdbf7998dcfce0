/* SPDX-License-Identifier: GPL-3.0-or-later */
/* suspect.h - which bug classes a failed run points to. */
#ifndef ATTEST_SUSPECT_H
#define ATTEST_SUSPECT_H

#include "certify/result/report.h"

/* Writes the diagnosis of a report: the classes that explain its failures best. */
void attest_suspect(attest_report *report);

#endif
