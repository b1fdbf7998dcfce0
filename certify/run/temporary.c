/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/run/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "attest-run-"
#define SUFFIX "XXXXXX"
enum { TRIES = 100 };

static const char *base(void) {
    const char *named = getenv("TMPDIR");
    const size_t room = ATTEST_PATH_BYTES - sizeof "/" PREFIX SUFFIX;
    return named != NULL && named[0] == '/' && strlen(named) < room ? named : "/tmp";
}

static int is_folder(int folder, const char *name) {
    struct stat found;
    return fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(found.st_mode);
}

static DIR *open_folder(int folder, const char *name) {
    const int inside = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = inside < 0 ? NULL : fdopendir(inside);
    if (entries == NULL && inside >= 0) {
        close(inside);
    }
    return entries;
}

static struct dirent *next(DIR *entries) {
    struct dirent *entry;
    do {
        entry = readdir(entries);
    } while (entry != NULL &&
             (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    return entry;
}

/* Under a name that is free in `top`. */
static int lift(int folder, const char *name, int top, uint64_t *number) {
    char fresh[32];
    do {
        snprintf(fresh, sizeof fresh, "lifted-%ju", (uintmax_t)(*number)++);
    } while (renameat2(folder, name, top, fresh, RENAME_NOREPLACE) != 0 && errno == EEXIST);
    return is_folder(top, fresh);
}

/* Files go, folders move to the top: a tree of any depth needs two descriptors and no stack. */
static int empty_one(int top, const char *name, uint64_t *number) {
    DIR *entries = open_folder(top, name);
    int fine = entries != NULL;
    for (struct dirent *entry; fine && (entry = next(entries)) != NULL;) {
        const int folder = dirfd(entries);
        if (folder < 0) {
            fine = 0;
        } else if (!is_folder(folder, entry->d_name)) {
            fine = unlinkat(folder, entry->d_name, 0) == 0;
        } else if (unlinkat(folder, entry->d_name, AT_REMOVEDIR) != 0) {
            /* A folder that is moved must be writable itself. */
            fine = fchmodat(folder, entry->d_name, 0700, 0) == 0 &&
                   lift(folder, entry->d_name, top, number);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    return fine && unlinkat(top, name, AT_REMOVEDIR) == 0;
}

/* Nobody else is in it: its kernel is dead. */
static void remove_tree(const char *path) {
    uint64_t number = 0;
    int progress = 1;
    while (progress && rmdir(path) != 0) {
        DIR *entries = open_folder(AT_FDCWD, path);
        progress = 0;
        for (struct dirent *entry; entries != NULL && (entry = next(entries)) != NULL;) {
            const int top = dirfd(entries);
            if (top < 0) {
                break;
            }
            if (is_folder(top, entry->d_name)) {
                progress |= fchmodat(top, entry->d_name, 0700, 0) == 0 &&
                            empty_one(top, entry->d_name, &number);
            } else {
                progress |= unlinkat(top, entry->d_name, 0) == 0;
            }
        }
        if (entries != NULL) {
            closedir(entries);
        }
    }
}

/* The lock of a folder that is at this path; -1 if another run has it. */
static int take(const char *path) {
    struct stat held, there;
    const int lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 && fstat(lock, &held) == 0 &&
        lstat(path, &there) == 0 && held.st_ino == there.st_ino && held.st_dev == there.st_dev) {
        return lock;
    }
    if (lock >= 0) {
        close(lock);
    }
    return -1;
}

static int is_ours(int folder, const char *name) {
    struct stat found;
    return strlen(name) == strlen(PREFIX SUFFIX) && strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
           fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(found.st_mode) &&
           found.st_uid == geteuid();
}

void attest_temporary_sweep(void) {
    char path[ATTEST_PATH_BYTES];
    DIR *entries = opendir(base());
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        const int folder = dirfd(entries);
        if (folder < 0 || !is_ours(folder, entry->d_name)) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%.32s", base(), entry->d_name);
        if (fchmodat(folder, entry->d_name, 0700, 0) != 0) {
            continue; /* without Landlock a kernel may have closed it */
        }
        const int lock = take(path);
        if (lock >= 0) {
            remove_tree(path);
            close(lock);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

int attest_temporary_open(attest_temporary *temporary) {
    temporary->lock = -1;
    /* Another run may sweep a folder before it is locked. */
    for (int i = 0; i < TRIES && temporary->lock < 0; i++) {
        snprintf(temporary->path, sizeof temporary->path, "%s/" PREFIX SUFFIX, base());
        if (mkdtemp(temporary->path) == NULL) {
            break;
        }
        temporary->lock = take(temporary->path);
    }
    if (temporary->lock < 0) {
        temporary->path[0] = '\0';
    }
    return temporary->lock >= 0;
}

void attest_temporary_close(attest_temporary *temporary) {
    if (temporary->path[0] != '\0') {
        remove_tree(temporary->path);
        close(temporary->lock);
        temporary->path[0] = '\0';
    }
}
