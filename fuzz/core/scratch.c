/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/core/fuzz_target.h"

static char directory[64];

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *walk) {
    (void)about, (void)kind, (void)walk;
    return remove(path);
}

static void remove_directory(void) { nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS); }

const char *attest_fuzz_directory(void) {
    if (directory[0] == '\0') {
        const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(directory, sizeof directory, "%s/attest-fuzz-XXXXXX", memory);
        if (mkdtemp(directory) == NULL) {
            perror(directory);
            exit(2);
        }
        atexit(remove_directory);
    }
    return directory;
}

static const char *path_of(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", attest_fuzz_directory(), name);
    return path;
}

const char *attest_fuzz_file(const char *name, const void *bytes, size_t size) {
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    if (file == NULL) { /* the first file in a directory below ours */
        char parent[256];
        snprintf(parent, sizeof parent, "%s", path);
        *strrchr(parent, '/') = '\0';
        mkdir(parent, 0700);
        file = fopen(path, "wb");
    }
    if (file == NULL || (size && fwrite(bytes, 1, size, file) != size) || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
    return path;
}

void attest_fuzz_remove(const char *name) { unlink(path_of(name)); }

void attest_fuzz_stop(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("MISMATCH ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}
