/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reproducer.h - a staged case as a C program that needs nothing of attest but spec/attest.h. */
#ifndef ATTEST_REPRODUCER_H
#define ATTEST_REPRODUCER_H

#include <stdio.h>

#include "certify/host/workbench.h"
#include "certify/result/report.h"

/* Writes the program for the case on the workbench; its result says where to look and what is
 * right. */
void attest_reproducer(FILE *out, const attest_workbench *bench, const attest_entry *entry);

#endif
