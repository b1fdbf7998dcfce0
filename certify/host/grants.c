/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/host/grants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What loaders, interpreters and numerical libraries read, and nothing that could be a secret. */
static const char *const plain[] = {
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "PYTHONHASHSEED",
    "TZ",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
    "ATTEST_SIMD",
};
enum { PLAIN = sizeof plain / sizeof *plain, OWN = 4 };

static void add_path(FILE *out, const char *path) {
    if (path[0] == '/' && path[1] != '\0' && strchr(path, '\n') == NULL) {
        fprintf(out, "%s\n", path);
    }
}

/* Of a list with colons, as PYTHONPATH is. */
static void add_list(FILE *out, const char *list) {
    char one[ATTEST_PATH_BYTES], real[ATTEST_PATH_BYTES];
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":");
        snprintf(one, sizeof one, "%.*s", (int)length, list);
        if (length > 0 && length < sizeof one && realpath(one, real) != NULL) {
            add_path(out, real);
        }
        list += length + (list[length] == ':');
    }
}

/* An interpreter at X/bin/python3 has its libraries in X/lib; X itself may be a home folder. */
static void add_installation(FILE *out, const char *interpreter) {
    static const char *const parts[] = {"bin", "lib", "lib64", "pyvenv.cfg"};
    char prefix[ATTEST_PATH_BYTES], path[2 * ATTEST_PATH_BYTES];
    snprintf(prefix, sizeof prefix, "%s", interpreter);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(prefix, '/');
        if (slash == NULL) {
            return;
        }
        *slash = '\0';
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(path, sizeof path, "%s/%s", prefix, parts[i]);
        add_path(out, path);
    }
}

/* A module that is imported from the current folder: itself, or its package, and the names beside
 * it, by which it is found. */
static void add_module(FILE *out, const char *name) {
    char here[ATTEST_PATH_BYTES];
    if (getcwd(here, sizeof here) != NULL && strchr(here, '\n') == NULL) {
        const int length = (int)strcspn(name, ".");
        fprintf(out, "%s/\n%s/%.*s\n%s/%.*s.py\n", here, here, length, name, here, length, name);
    }
}

static void add_python(FILE *out, const attest_target *target) {
    char path[ATTEST_PATH_BYTES], real[ATTEST_PATH_BYTES];
    if (target->path[0] != '/') {
        add_module(out, target->path);
    }
    snprintf(path, sizeof path, "%s", target->worker_script); /* in the package in its folder */
    for (int up = 0; up < 2; up++) {
        *strrchr(path, '/') = '\0';
    }
    add_path(out, path);
    static const char *const schema[] = {"../../spec/protocol.schema.json",
                                         "../share/attest/protocol.schema.json", NULL};
    if (attest_find_own(path, schema) && realpath(path, real) != NULL) {
        add_path(out, real); /* for --validate */
    }
    add_installation(out, target->interpreter);
    if (realpath(target->interpreter, path) != NULL) {
        add_installation(out, path);
    }
    const char *home = getenv("HOME");
    if (home != NULL && snprintf(path, sizeof path, "%s/.local/lib", home) < ATTEST_PATH_BYTES) {
        add_path(out, path); /* packages that a user installed */
    }
}

static char *make_readable(const attest_target *target, const attest_named *named, char *why) {
    char *text = NULL, real[ATTEST_PATH_BYTES];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "not enough memory");
        return NULL;
    }
    int fine = 1;
    add_path(out, target->path);
    if (target->kind == ATTEST_TARGET_PYTHON) {
        add_python(out, target);
        add_list(out, getenv("PYTHONPATH"));
    }
    add_list(out, getenv("LD_LIBRARY_PATH"));
    for (int i = 0; i < named->folder_count && fine; i++) {
        fine = realpath(named->folders[i], real) != NULL && strchr(real, '\n') == NULL;
        if (!fine) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "--read: %.180s is not there", named->folders[i]);
        } else {
            fprintf(out, "%s\n", real);
        }
    }
    if (fclose(out) != 0 || !fine) {
        free(text);
        return NULL;
    }
    return text;
}

static int set(char **entry, const char *name, const char *value, const char *more) {
    return asprintf(entry, "%s=%s%s", name, value, more) >= 0;
}

static int make_environment(char **to, const attest_named *named, const char *temporary) {
    const char *const home = getenv("HOME"), *const base = getenv("PYTHONUSERBASE");
    int count = 0, fine = 1;
    for (int i = 0; i < PLAIN + named->variable_count && fine; i++) {
        const char *name = i < PLAIN ? plain[i] : named->variables[i - PLAIN];
        const char *value = getenv(name);
        if (value != NULL) {
            fine = set(&to[count], name, value, "");
            count += fine;
        }
    }
    /* Caches go where they are removed; packages are where they were installed. */
    if (fine && temporary != NULL) {
        fine = set(&to[count], "TMPDIR", temporary, "") &&
               set(&to[count + 1], "HOME", temporary, "") &&
               set(&to[count + 2], "USER", "attest", "");
        count += 3;
    }
    if (fine && (base != NULL || home != NULL)) {
        fine = set(&to[count], "PYTHONUSERBASE", base ? base : home, base ? "" : "/.local");
    }
    return fine;
}

int attest_grants_make(attest_grants *grants, const attest_target *target,
                       const attest_named *named, const char *temporary,
                       char why[ATTEST_MESSAGE_BYTES]) {
    *grants = (attest_grants){.readable = make_readable(target, named, why)};
    if (grants->readable == NULL) {
        return 0;
    }
    const size_t most = (size_t)(PLAIN + OWN + named->variable_count + 1);
    grants->environment = calloc(most, sizeof *grants->environment);
    if (grants->environment == NULL || !make_environment(grants->environment, named, temporary)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "not enough memory");
        attest_grants_free(grants);
        return 0;
    }
    return 1;
}

void attest_grants_free(attest_grants *grants) {
    for (char **entry = grants->environment; entry != NULL && *entry != NULL; entry++) {
        free(*entry);
    }
    free(grants->environment);
    free(grants->readable);
    *grants = (attest_grants){0};
}
