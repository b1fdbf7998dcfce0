/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diagnose.h - which known defect gives exactly these wrong outputs? */
#ifndef ATTEST_DIAGNOSE_H
#define ATTEST_DIAGNOSE_H

#include "certify/host/workbench.h"

/*
 * An examiner of failures (workbench.h): evaluates the staged problem with each error of variants.h
 * and notes in result->defects those that reproduce every output element, or every cell of the mask
 * that was read back.
 */
void attest_diagnose(attest_workbench *bench, const unsigned char *used, attest_result *result);

/* 1 if the last call's outputs are what bench->normal gives with this defect; with ATTEST_DEFECTS,
 * without any. */
int attest_reproduces(const attest_workbench *bench, int defect);

#endif
