/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/host/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int attest_find_own(char path[ATTEST_PATH_BYTES], const char *const *places) {
    char own[ATTEST_PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0) {
        return 0;
    }
    own[length] = '\0';
    *strrchr(own, '/') = '\0';
    for (; *places != NULL; places++) {
        int used = snprintf(path, ATTEST_PATH_BYTES, "%s/%s", own, *places);
        if (used < ATTEST_PATH_BYTES && access(path, R_OK) == 0) {
            return 1;
        }
    }
    return 0;
}

static int builtin(attest_target *target, const char *name, char *why) {
    char beside[256], installed[256];
    if (strchr(name, '/') != NULL || strlen(name) > 100) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "builtin: \"%.60s\" is not a name", name);
        return 0;
    }
    snprintf(beside, sizeof beside, "impl/lib%s.so", name);
    snprintf(installed, sizeof installed, "../lib/attest/lib%s.so", name);
    const char *const places[] = {beside, installed, NULL};
    if (!attest_find_own(target->path, places)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "no bundled kernel is called \"%.60s\"", name);
        return 0;
    }
    return 1;
}

/* What Python would import: names with dots between them. */
static int is_module(const char *name) {
    return name[0] != '.' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "0123456789_.")] == '\0';
}

/* The first python3 in PATH that is a program: wrapper scripts start processes of their own, which
 * the sandbox does not allow. */
static int find_python(char path[ATTEST_PATH_BYTES]) {
    const char *chosen = getenv("ATTEST_PYTHON"), *list = getenv("PATH");
    if (chosen != NULL) {
        return snprintf(path, ATTEST_PATH_BYTES, "%s", chosen) < ATTEST_PATH_BYTES;
    }
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":");
        char magic[4] = {0};
        FILE *file = NULL;
        if (snprintf(path, ATTEST_PATH_BYTES, "%.*s/python3", (int)length, list) <
            ATTEST_PATH_BYTES) {
            file = fopen(path, "re");
        }
        if (file != NULL) {
            size_t got = fread(magic, 1, sizeof magic, file);
            fclose(file);
            if (got == sizeof magic && memcmp(magic, "\177ELF", sizeof magic) == 0) {
                return 1;
            }
        }
        list += length + (list[length] == ':');
    }
    return 0;
}

static int python(attest_target *target, const char *rest, char *why) {
    static const char *const places[] = {"python/attest_attention/worker.py",
                                         "../lib/attest/python/attest_attention/worker.py",
                                         "../../worker.py", NULL};
    const char *colon = strrchr(rest, ':');
    if (colon == NULL || colon == rest || strlen(colon + 1) >= sizeof target->function ||
        colon[1] == '\0') {
        snprintf(why, ATTEST_MESSAGE_BYTES, "py: wants FILE:FUNCTION or MODULE:FUNCTION");
        return 0;
    }
    snprintf(target->function, sizeof target->function, "%s", colon + 1);
    char file[ATTEST_PATH_BYTES];
    snprintf(file, sizeof file, "%.*s", (int)(colon - rest), rest);
    if (realpath(file, target->path) == NULL) {
        const size_t length = strlen(file);
        const int looks_like_file = length > 3 && strcmp(file + length - 3, ".py") == 0;
        if (!is_module(file) || looks_like_file) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "%.180s: no such file", file);
            return 0;
        }
        snprintf(target->path, sizeof target->path, "%s", file);
    }
    if (!attest_find_own(target->worker_script, places)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "attest_attention/worker.py is not beside the program");
        return 0;
    }
    if (!find_python(target->interpreter)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "no python3 in PATH (or set ATTEST_PYTHON)");
        return 0;
    }
    return 1;
}

int attest_target_parse(attest_target *target, const char *text, char why[ATTEST_MESSAGE_BYTES]) {
    *target = (attest_target){.kind = ATTEST_TARGET_OBJECT};
    if ((size_t)snprintf(target->text, sizeof target->text, "%s", text) >= sizeof target->text) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "the target's name is too long");
        return 0;
    }
    if (strncmp(text, "builtin:", 8) == 0) {
        return builtin(target, text + 8, why);
    }
    if (strncmp(text, "py:", 3) == 0) {
        target->kind = ATTEST_TARGET_PYTHON;
        return python(target, text + 3, why);
    }
    if (strncmp(text, "exec:", 5) == 0) {
        target->kind = ATTEST_TARGET_PROGRAM;
        text += 5;
    }
    if (realpath(text, target->path) == NULL) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "%.200s: no such file", text);
        return 0;
    }
    return 1;
}
