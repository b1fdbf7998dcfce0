/* SPDX-License-Identifier: Apache-2.0 */
#include "vectors/read/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(char *message, const char *path, const char *why) {
    snprintf(message, ATTEST_MESSAGE_BYTES, "%.150s: %.100s", path, why);
}

unsigned char *attest_read_file(const char *path, uint64_t limit_bytes, size_t *bytes,
                                char message[ATTEST_MESSAGE_BYTES]) {
    FILE *file = fopen(path, "rb");
    unsigned char *content = NULL;
    *bytes = 0;
    if (!file) {
        say(message, path, strerror(errno));
        return NULL;
    }
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size < 0 || (uint64_t)size > limit_bytes || fseek(file, 0, SEEK_SET) != 0) {
        say(message, path, "not a regular file, or too large");
    } else if (!(content = calloc((size_t)size + 1, 1))) {
        say(message, path, "not enough memory");
    } else if (fread(content, 1, (size_t)size, file) != (size_t)size) {
        say(message, path, "could not be read to its end");
        free(content);
        content = NULL;
    } else {
        *bytes = (size_t)size;
    }
    fclose(file);
    return content;
}

int attest_write_file(const char *path, const void *content, size_t bytes,
                      char message[ATTEST_MESSAGE_BYTES]) {
    FILE *file = fopen(path, "wb");
    if (!file) {
        say(message, path, strerror(errno));
        return -1;
    }
    size_t written = bytes ? fwrite(content, 1, bytes, file) : 0;
    if (fclose(file) != 0 || written != bytes) {
        say(message, path, "could not be written to its end");
        return -1;
    }
    return 0;
}
