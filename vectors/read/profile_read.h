/* SPDX-License-Identifier: Apache-2.0 */
/* profile_read.h - a profile from its file in spec/profiles. */
#ifndef ATTEST_PROFILE_READ_H
#define ATTEST_PROFILE_READ_H

#include "reference/problem/profile.h"
#include "spec/attest.h"

/* Reads DIRECTORY/NAME.json. 0, or -1 with a message. */
int attest_profile_read(attn_profile *profile, const char *directory, const char *name,
                        char message[ATTEST_MESSAGE_BYTES]);

#endif
