/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - a whole file in memory. */
#ifndef ATTEST_FILE_H
#define ATTEST_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "spec/attest.h"

/* The content, to be freed, or NULL with a message. A byte of 0 follows the last one. */
unsigned char *attest_read_file(const char *path, uint64_t limit_bytes, size_t *bytes,
                                char message[ATTEST_MESSAGE_BYTES]);

/* 0, or -1 with a message. */
int attest_write_file(const char *path, const void *content, size_t bytes,
                      char message[ATTEST_MESSAGE_BYTES]);

#endif
