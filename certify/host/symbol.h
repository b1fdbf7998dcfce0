/* SPDX-License-Identifier: GPL-3.0-or-later */
/* symbol.h - the source line of an instruction, where the object has symbols. The tool that reads
 * the object is as exposed to it as a kernel's loader, so it runs in the sandbox too. */
#ifndef ATTEST_SYMBOL_H
#define ATTEST_SYMBOL_H

#include <stddef.h>

#include "certify/host/options.h"

/* "function at file.c:12", or an empty text. */
void attest_source_line(const attest_host_options *options, const char *object, uint64_t offset,
                        char *text, size_t size);

#endif
