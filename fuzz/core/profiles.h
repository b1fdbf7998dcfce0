/* SPDX-License-Identifier: Apache-2.0 */
/* profiles.h - the profiles of spec/profiles by name, compiled in: no file is read. */
#ifndef ATTEST_FUZZ_PROFILES_H
#define ATTEST_FUZZ_PROFILES_H

#include "reference/problem/profile.h"

/* NULL where there is none of that name; a name that is NULL means "attest". */
const attn_profile *attest_fuzz_profile(const char *name);

#endif
