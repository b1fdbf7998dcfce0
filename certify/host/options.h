/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h - what a worker is started with. */
#ifndef ATTEST_OPTIONS_H
#define ATTEST_OPTIONS_H

#include <signal.h>
#include <stdint.h>

#include "certify/host/grants.h"

typedef struct attest_host_options {
    const char *worker; /* path of attest-worker */
    const char *temporary;
    attest_grants grants;
    int strict;
    int validate; /* check every message of the protocol against its schema */
    uint64_t memory_bytes;
    double load_seconds, call_seconds;
    const volatile sig_atomic_t *stop;
} attest_host_options;

#endif
