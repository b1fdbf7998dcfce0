/* SPDX-License-Identifier: Apache-2.0 */
/* landlock.h - file and network rights of the worker, by Landlock. */
#ifndef ATTEST_LANDLOCK_H
#define ATTEST_LANDLOCK_H

#include "sandbox.h"

/* 1, or 0 where the running kernel has no Landlock. */
int attest_landlock(const attest_sandbox *sandbox);

#endif
