/* SPDX-License-Identifier: Apache-2.0 */
/*
 * without - runs a command as on a system that lacks something: `without WHAT[,WHAT]... COMMAND`.
 *
 *   landlock      all of it, as before Linux 5.13
 *   landlock-4    its versions from 4 on, as before Linux 6.7
 *   landlock-6    its versions from 6 on, as before Linux 6.12
 *   namespaces    as where an administrator has switched them off
 *
 * What is missing stays missing for all that the command starts: a filter cannot be taken off.
 */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where attributes end that a version does not know: larger ones are refused as an older system
 * does. */
static int refuse_larger(scmp_filter_ctx filter, unsigned long long bytes) {
    const struct scmp_arg_cmp larger = {.arg = 1, .op = SCMP_CMP_GT, .datum_a = bytes};
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(E2BIG), SYS_landlock_create_ruleset, 1, larger);
}

static int take_away(scmp_filter_ctx filter, const char *what) {
    if (strcmp(what, "landlock") == 0) {
        return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SYS_landlock_create_ruleset, 0);
    }
    if (strcmp(what, "landlock-4") == 0) {
        return refuse_larger(filter, 8);
    }
    if (strcmp(what, "landlock-6") == 0) {
        return refuse_larger(filter, 16);
    }
    if (strcmp(what, "namespaces") == 0) {
        return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SYS_unshare, 0);
    }
    return -1;
}

int main(int argc, char **argv) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (argc < 3 || filter == NULL) {
        fprintf(stderr, "usage: without WHAT[,WHAT]... COMMAND [ARGUMENT]...\n");
        return 2;
    }
    for (char *what = strtok(argv[1], ","); what != NULL; what = strtok(NULL, ",")) {
        if (take_away(filter, what) != 0) {
            fprintf(stderr, "without: \"%s\" cannot be taken away\n", what);
            return 2;
        }
    }
    if (seccomp_load(filter) != 0) {
        perror("without");
        return 2;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 2;
}
