/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.h - texts from outside that a report keeps. */
#ifndef ATTEST_TEXT_H
#define ATTEST_TEXT_H

#include <stddef.h>

/* What is no character of UTF-8, or commands a terminal, becomes '?'. */
void attest_text_clean(char *text);

/* A clean copy in `size` bytes; NULL counts as empty. Not cut within a character of UTF-8: JSON has
 * no place for half of one. */
void attest_text_copy(char *text, size_t size, const char *value);

#endif
