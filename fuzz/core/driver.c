/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a target on files and directories, without an engine: the regression driver. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz/core/fuzz_target.h"

static long runs;

static void run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = malloc((size_t)1 << 20);
    if (file == NULL || bytes == NULL) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    size_t size = fread(bytes, 1, (size_t)1 << 20, file);
    unsigned char *exact = malloc(size); /* the sanitizer sees a read beyond the input */
    if (exact && size) {
        memcpy(exact, bytes, size);
    }
    free(bytes);
    fclose(file);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    runs++;
}

static void run_path(const char *path) {
    struct stat about;
    struct dirent **entries = NULL;
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
        run_file(path);
        return;
    }
    int count = scandir(path, &entries, NULL, alphasort);
    for (int n = 0; n < count; n++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entries[n]->d_name);
        if (entries[n]->d_name[0] != '.') {
            run_path(name);
        }
        free(entries[n]);
    }
    free(entries);
}

int main(int argc, char **argv) {
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int n = 1; n < argc; n++) {
        run_path(argv[n]);
    }
    printf("%ld inputs\n", runs);
    return runs > 0 || argc == 1 ? 0 : 2;
}
