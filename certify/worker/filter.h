/* SPDX-License-Identifier: Apache-2.0 */
/* filter.h - which system calls a kernel may make (seccomp). */
#ifndef ATTEST_FILTER_H
#define ATTEST_FILTER_H

#include <stddef.h>

/* An allow list; what is not on it raises SIGSYS. `narrow`: files cannot be opened any more. */
int attest_filter_strict(int narrow);

/* All but a list of refusals, which fail with EPERM. Without `files_guarded` by Landlock no file
 * can be opened for writing, made or removed either. */
int attest_filter_relaxed(int files_guarded);

/* Name of a system call, for crash reports; "?" if there is none. */
void attest_system_call_name(char *name, size_t size, int number);

#endif
