/* SPDX-License-Identifier: Apache-2.0 */
/* landlock.h - file and network rights of the worker, by Landlock. */
#ifndef ATTEST_LANDLOCK_H
#define ATTEST_LANDLOCK_H

/*
 * Reading where shared objects live and beside `object`, everywhere unless `strict`; writing below
 * `temporary` alone, or nowhere if it is NULL. 1, or 0 where the running kernel has no Landlock.
 */
int attest_landlock(int strict, const char *object, const char *temporary);

#endif
