/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "certify/worker/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The attributes as of Landlock 6; older headers lack the later fields, and the running kernel says
 * by its version how many it knows. */
typedef struct attributes {
    uint64_t files;
    uint64_t network;
    uint64_t scoped;
} attributes;

#define FILE_RIGHTS_V1 ((UINT64_C(1) << 13) - 1)
#define REFER (UINT64_C(1) << 13)
#define TRUNCATE (UINT64_C(1) << 14)
#define DEVICE_IOCTL (UINT64_C(1) << 15)
#define NETWORK_BIND_AND_CONNECT UINT64_C(3)
#define SCOPE_SOCKETS_AND_SIGNALS UINT64_C(3)
#define READING                                                                                    \
    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE)

#define ON_FILES                                                                                   \
    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE)

static void allow(int rules, const char *path, uint64_t rights) {
    int directory = open(path, O_PATH | O_CLOEXEC);
    if (directory < 0) {
        return; /* what does not exist needs no rule */
    }
    struct landlock_path_beneath_attr beneath = {.allowed_access = rights, .parent_fd = directory};
    if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0) {
        /* A plain file takes no rights on directories. */
        beneath.allowed_access = rights & ON_FILES;
        (void)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
    }
    close(directory);
}

static void allow_list(int rules, const char *paths, uint64_t rights) {
    char one[4096];
    while (paths != NULL && *paths != '\0') {
        size_t length = strcspn(paths, ":");
        if (length > 0 && length < sizeof one) {
            memcpy(one, paths, length);
            one[length] = '\0';
            allow(rules, one, rights);
        }
        paths += length + (paths[length] == ':');
    }
}

static void allow_directory_of(int rules, const char *file) {
    char path[4096];
    if (file == NULL || (size_t)snprintf(path, sizeof path, "%s", file) >= sizeof path) {
        return;
    }
    char *slash = strrchr(path, '/');
    if (slash == NULL) {
        snprintf(path, sizeof path, ".");
    } else {
        slash[slash == path] = '\0';
    }
    allow(rules, path, READING);
}

int attest_landlock(int strict, const char *object, const char *temporary) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) {
        return 0;
    }
    attributes handled = {.files = FILE_RIGHTS_V1};
    handled.files |= version >= 2 ? REFER : 0;
    handled.files |= version >= 3 ? TRUNCATE : 0;
    handled.files |= version >= 5 ? DEVICE_IOCTL : 0;
    handled.network = version >= 4 ? NETWORK_BIND_AND_CONNECT : 0;
    handled.scoped = version >= 6 ? SCOPE_SOCKETS_AND_SIGNALS : 0;
    size_t known = version >= 6 ? sizeof handled : version >= 4 ? 16 : 8;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, known, 0);
    if (rules < 0) {
        return 0;
    }
    if (!strict) { /* an interpreter's modules may be anywhere */
        allow(rules, "/", READING);
    }
    /* Where shared objects live. Not /proc: a kernel has no business in other processes. */
    allow_list(rules,
               "/lib:/lib32:/lib64:/usr:/opt:/nix:/gnu:/etc/ld.so.cache:/etc/ld.so.preload:"
               "/sys/devices/system/cpu:/proc/self:/proc/cpuinfo:/proc/meminfo:/proc/stat:"
               "/dev/urandom:/etc/localtime",
               READING);
    allow_list(rules, "/dev/null", READING | LANDLOCK_ACCESS_FS_WRITE_FILE);
    allow_list(rules, getenv("LD_LIBRARY_PATH"), READING);
    allow_directory_of(rules, object);
    if (temporary != NULL) {
        allow(rules, temporary, handled.files & ~DEVICE_IOCTL);
    }
    int done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return done;
}
