/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diagnose.h - which known defect gives exactly these wrong outputs? */
#ifndef ATTEST_DIAGNOSE_H
#define ATTEST_DIAGNOSE_H

#include "bench.h"

/*
 * After a numeric failure: evaluates the staged problem with each defect of vectors/defects.h and
 * notes in result->defects those that reproduce every output element. Of a run's failures only the
 * first few on each bench are looked into.
 */
void attest_diagnose(attest_bench *bench, attest_result *result);

/* 1 if the last call's outputs are what bench->normal gives with this defect; with ATTEST_DEFECTS,
 * without any. */
int attest_reproduces(const attest_bench *bench, int defect);

/* The bug class of a defect; 0 for a cheat. */
int attest_defect_class(int defect);

#endif
