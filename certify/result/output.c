/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/result/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A link stays one: what it points to is replaced. */
static char *final_path(const char *path) {
    char *real = realpath(path, NULL);
    return real != NULL || errno != ENOENT ? real : strdup(path);
}

static FILE *open_beside(attest_output *o, mode_t mode) {
    if (asprintf(&o->beside, "%s.XXXXXX", o->path) < 0) {
        o->beside = NULL;
        return NULL;
    }
    const int file = mkstemp(o->beside);
    if (file < 0) {
        free(o->beside);
        o->beside = NULL;
        return NULL;
    }
    FILE *out = fchmod(file, mode) == 0 ? fdopen(file, "w") : NULL;
    if (out == NULL) {
        close(file);
    }
    return out;
}

FILE *attest_output_open(attest_output *o, const char *path) {
    struct stat found;
    struct stat link;
    const mode_t mask = umask(0);
    umask(mask);
    *o = (attest_output){.path = final_path(path)};
    if (o->path == NULL) {
        return NULL;
    }
    const int there = stat(o->path, &found) == 0;
    const int dangling = !there && lstat(o->path, &link) == 0;
    if (dangling || (there && !S_ISREG(found.st_mode))) {
        o->file = fopen(path, "w");
    } else {
        o->file = open_beside(o, there ? found.st_mode & 0777 : 0666 & ~mask);
        if (o->file == NULL && there) { /* a file in a folder that is not the user's */
            o->file = fopen(path, "w");
        }
    }
    return o->file;
}

int attest_output_close(attest_output *o) {
    int fine = o->file != NULL && fflush(o->file) == 0 && ferror(o->file) == 0;
    if (o->file != NULL) {
        fine = fclose(o->file) == 0 && fine;
    }
    if (o->beside != NULL) {
        fine = fine && rename(o->beside, o->path) == 0;
        if (!fine) {
            unlink(o->beside);
        }
    }
    free(o->beside);
    free(o->path);
    *o = (attest_output){0};
    return fine;
}
