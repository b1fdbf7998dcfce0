/* SPDX-License-Identifier: GPL-3.0-or-later */
/* settings.h - the command line of the commands that run a kernel. */
#ifndef ATTEST_SETTINGS_H
#define ATTEST_SETTINGS_H

#include <jansson.h>
#include <signal.h>
#include <stdint.h>

#include "certify/host/grants.h"
#include "certify/plan/plan.h"
#include "reference/oracle/model.h"
#include "reference/problem/profile.h"

#define ATTEST_MOST_WORDS 256

typedef struct attest_settings {
    const char *words[ATTEST_MOST_WORDS]; /* what is not an option: TARGET, CASE-ID ... */
    int word_count;
    attest_level level;
    uint64_t seed;
    int shard, shards;
    double seconds; /* of --time; 0: no limit */
    uint64_t cases; /* of --cases, for fuzz; 0: no limit */
    const char *only, *skip;
    const char *waiver_file, *output;
    const char *json, *junit, *html, *sarif, *markdown, *badge; /* files of views, or NULL */
    const char *bundle, *sign, *statement;                      /* files, or NULL */
    const char *key; /* of a signature, in digits; or NULL */
    json_t *waivers; /* what that file holds */
    int jobs;
    int strict; /* -1: as the target needs */
    int validate, require_full, gate, quiet;
    int first_failure;                     /* stop there */
    const char *profile_name, *model_name; /* NULL: as the kernel declares */
    double call_seconds, load_seconds;     /* load_seconds 0: as the target needs */
    double began;                          /* on attest_clock() */
    double budget_seconds;                 /* of --budget; 0: the whole level */
    uint64_t memory_bytes;
    attest_named named; /* of --read and --env */
    const volatile sig_atomic_t *stop;
} attest_settings;

/* 1, or 0 with a reason. argv[0] is the command. */
int attest_settings_parse(attest_settings *settings, int argc, char **argv,
                          char why[ATTEST_MESSAGE_BYTES]);

/* A profile by name (compiled in, or a file of spec/profiles) or by path. 1, or 0 with a reason.
 * What a kernel declares must be a bare name: nothing that it names is opened. */
int attest_profile_find(const char *name, attn_profile *profile, char why[ATTEST_MESSAGE_BYTES]);

int attest_is_bare_name(const char *name);

/* Whether a comma-separated list has this check, by its name, a catalogue code or a requirement. */
int attest_list_has_check(const char *list, const attest_check *check);

#endif
