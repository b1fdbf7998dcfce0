/* SPDX-License-Identifier: GPL-3.0-or-later */
/* numpy_program.h - a staged case as a script for NumPy, for functions that are written in
 * Python. */
#ifndef ATTEST_NUMPY_PROGRAM_H
#define ATTEST_NUMPY_PROGRAM_H

#include <stdio.h>

#include "certify/host/workbench.h"
#include "certify/result/report.h"

/* Writes the script; the case's result says where to look and what is right. */
void attest_numpy_program(FILE *out, const attest_workbench *bench, const attest_entry *entry);

#endif
