/* SPDX-License-Identifier: Apache-2.0 */
/* landlock.h - file and network rights of the worker, by Landlock. */
#ifndef ATTEST_LANDLOCK_H
#define ATTEST_LANDLOCK_H

/*
 * Reading where shared objects live, what the machine is like, and below `readable`, a path a line;
 * writing below `temporary` alone, or nowhere if it is NULL. 1, or 0 where the running kernel has
 * no Landlock.
 */
int attest_landlock(const char *readable, const char *temporary);

#endif
