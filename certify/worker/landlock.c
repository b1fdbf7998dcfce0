/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "certify/worker/landlock.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#else /* headers of before Linux 5.13; the program may run on a newer one */
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#define LANDLOCK_RULE_PATH_BENEATH 1
#define LANDLOCK_ACCESS_FS_EXECUTE (UINT64_C(1) << 0)
#define LANDLOCK_ACCESS_FS_WRITE_FILE (UINT64_C(1) << 1)
#define LANDLOCK_ACCESS_FS_READ_FILE (UINT64_C(1) << 2)
#define LANDLOCK_ACCESS_FS_READ_DIR (UINT64_C(1) << 3)
struct landlock_path_beneath_attr {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));
#endif

/* The attributes as of Landlock 6; older headers lack the later fields. */
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
        size_t length = strcspn(paths, "\n");
        if (length > 0 && length < sizeof one) {
            memcpy(one, paths, length);
            one[length] = '\0';
            /* Of a folder with a slash at its end, the names in it alone. */
            allow(rules, one, one[length - 1] == '/' ? LANDLOCK_ACCESS_FS_READ_DIR : rights);
        }
        paths += length + (paths[length] == '\n');
    }
}

/* The most that the running kernel takes: it refuses attributes that it does not know. */
static int make_ruleset(attributes *handled) {
    static const struct {
        attributes wanted;
        size_t size;
    } known[] = {
        {{FILE_RIGHTS_V1 | REFER | TRUNCATE | DEVICE_IOCTL, NETWORK_BIND_AND_CONNECT,
          SCOPE_SOCKETS_AND_SIGNALS},
         sizeof *handled},
        {{FILE_RIGHTS_V1 | REFER | TRUNCATE | DEVICE_IOCTL, NETWORK_BIND_AND_CONNECT, 0}, 16},
        {{FILE_RIGHTS_V1 | REFER | TRUNCATE, NETWORK_BIND_AND_CONNECT, 0}, 16},
        {{FILE_RIGHTS_V1 | REFER | TRUNCATE, 0, 0}, 8},
        {{FILE_RIGHTS_V1 | REFER, 0, 0}, 8},
        {{FILE_RIGHTS_V1, 0, 0}, 8},
    };
    int rules = -1;
    for (size_t i = 0; i < sizeof known / sizeof *known && rules < 0; i++) {
        *handled = known[i].wanted;
        rules = (int)syscall(SYS_landlock_create_ruleset, handled, known[i].size, 0);
    }
    return rules;
}

/* Where shared objects live, and what run-time systems ask about the machine. Not /proc: a kernel
 * has no business in other processes. Not /dev/shm: what lies there outlives the kernel. Not
 * /dev/zero: mapped, it is shared memory that no limit counts. */
static const char system_files[] =
    "/lib\n/lib32\n/lib64\n/libx32\n/usr\n/opt\n/nix/store\n/gnu/store\n/etc/ld.so.cache\n"
    "/etc/ld.so.preload\n/etc/localtime\n/etc/passwd\n/etc/group\n/etc/nsswitch.conf\n"
    "/sys/devices/system/cpu\n/sys/devices/system/node\n/sys/kernel/mm/transparent_hugepage\n"
    "/proc/self\n/proc/cpuinfo\n/proc/meminfo\n/proc/stat\n/proc/version\n"
    "/proc/sys/vm/overcommit_memory\n/dev/urandom\n/dev/random";

int attest_landlock(const char *readable, const char *temporary) {
    attributes handled;
    const int rules = make_ruleset(&handled);
    if (rules < 0) {
        return 0;
    }
    allow_list(rules, system_files, READING);
    allow_list(rules, readable, READING);
    allow(rules, "/dev/null", READING | LANDLOCK_ACCESS_FS_WRITE_FILE);
    if (temporary != NULL) {
        allow(rules, temporary, handled.files & ~DEVICE_IOCTL);
    }
    int done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return done;
}
