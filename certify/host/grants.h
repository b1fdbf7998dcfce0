/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grants.h - what a kernel may read besides the system's libraries, and its environment: its own
 * file, its interpreter's libraries, and what the user names. */
#ifndef ATTEST_GRANTS_H
#define ATTEST_GRANTS_H

#include "certify/host/target.h"

#define ATTEST_MOST_NAMED 32

typedef struct attest_grants {
    char *readable;     /* paths, one a line */
    char **environment; /* ended by NULL */
} attest_grants;

/* What --read and --env name. */
typedef struct attest_named {
    const char *folders[ATTEST_MOST_NAMED], *variables[ATTEST_MOST_NAMED];
    int folder_count, variable_count;
} attest_named;

/* `temporary` becomes TMPDIR and HOME; NULL: there is none. 1, or 0 with a reason. */
int attest_grants_make(attest_grants *grants, const attest_target *target,
                       const attest_named *named, const char *temporary,
                       char why[ATTEST_MESSAGE_BYTES]);
void attest_grants_free(attest_grants *grants);

#endif
