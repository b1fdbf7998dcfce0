/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diagnose.h - which known defect gives exactly these wrong outputs? */
#ifndef ATTEST_DIAGNOSE_H
#define ATTEST_DIAGNOSE_H

#include "certify/host/bench.h"

/*
 * After a numeric failure: evaluates the staged problem with each error of variants.h and
 * notes in result->defects those that reproduce every output element. Only where bench->examines
 * says so.
 */
void attest_diagnose(attest_bench *bench, attest_result *result);

/* The same by the mask that was read back: one byte a cell of [B,Hq,Sq,Sk], 1 where a key was used. */
void attest_diagnose_mask(attest_bench *bench, const unsigned char *used, attest_result *result);

/* 1 if the last call's outputs are what bench->normal gives with this defect; with ATTEST_DEFECTS,
 * without any. */
int attest_reproduces(const attest_bench *bench, int defect);

#endif
