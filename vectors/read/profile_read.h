/* SPDX-License-Identifier: Apache-2.0 */
/* profile_read.h - a profile from its file in spec/profiles. */
#ifndef ATTEST_PROFILE_READ_H
#define ATTEST_PROFILE_READ_H

#include "reference/problem/profile.h"
#include "spec/attest.h"

enum { ATTEST_PROFILE_FIELDS = 8 };

/* Its fields in the order of attn_profile, as numbers of their enumerations. */
void attest_profile_numbers(const attn_profile *profile, int numbers[ATTEST_PROFILE_FIELDS]);

/* 0, or -1 where a number is not of its enumeration: then nothing is written. */
int attest_profile_of_numbers(attn_profile *profile, const int numbers[ATTEST_PROFILE_FIELDS]);

/* Both: 0, or -1 with a message, and nothing is written to the profile. */
int attest_profile_file(attn_profile *profile, const char *path,
                        char message[ATTEST_MESSAGE_BYTES]);

/* DIRECTORY/NAME.json, where NAME may come from a file nobody vouches for. */
int attest_profile_read(attn_profile *profile, const char *directory, const char *name,
                        char message[ATTEST_MESSAGE_BYTES]);

#endif
