/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/run/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "certify/host/process.h"
#include "vectors/read/profile_read.h"

typedef enum option {
    PROFILE,
    MODEL,
    LEVEL,
    SEED,
    SHARD,
    TIME,
    CASES,
    ONLY,
    SKIP,
    WAIVERS,
    JSON,
    JUNIT,
    HTML,
    SARIF,
    MARKDOWN,
    BADGE,
    BUNDLE,
    SIGN,
    KEY,
    STATEMENT,
    OUTPUT,
    JOBS,
    SANDBOX,
    REQUIRE,
    CALL_TIME,
    LOAD_TIME,
    BUDGET,
    MEMORY,
    READ,
    ENV,
    GATE,
    VALIDATE,
    QUIET,
    FIRST_FAILURE,
    OPTIONS
} option;

static const char *const names[OPTIONS] = {
    "--profile",   "--model",     "--level",    "--seed",          "--shard",   "--time",
    "--cases",     "--only",      "--skip",     "--waivers",       "--json",    "--junit",
    "--html",      "--sarif",     "--markdown", "--badge",         "--bundle",  "--sign",
    "--key",       "--statement", "--output",   "--jobs",          "--sandbox", "--require",
    "--call-time", "--load-time", "--budget",   "--memory",        "--read",    "--env",
    "--gate",      "--validate",  "--quiet",    "--first-failure",
};

/* What an option takes, where not every text will do. */
static const char *const takes[OPTIONS] = {
    [LEVEL] = "smoke, quick, full or exhaustive",
    [SEED] = "a whole number below 2^64",
    [SHARD] = "I/N with 1 <= I <= N <= 10000",
    [TIME] = "seconds, 0.001 to 1e9",
    [CASES] = "a whole number from 1 on",
    [JOBS] = "1 to 256",
    [SANDBOX] = "strict or relaxed",
    [KEY] = "64 hexadecimal digits",
    [REQUIRE] = "full",
    [CALL_TIME] = "seconds, 0.001 to 86400",
    [LOAD_TIME] = "seconds, 0.001 to 86400",
    [BUDGET] = "a time such as 90, 90s, 10m or 2h",
    [MEMORY] = "MiB, 16 to 1048576",
    [READ] = "a folder or file, at most 32 of them",
    [ENV] = "a variable's name, at most 32 of them",
};

static int number(const char *text, double least, double most, double *value) {
    char *end = NULL;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= least && *value <= most;
}

/* Seconds, or a number with s, m or h behind it. */
static int duration(const char *text, double *seconds) {
    static const char units[] = "smh";
    static const double factor[] = {1, 60, 3600};
    char *end = NULL;
    *seconds = strtod(text, &end);
    const char *unit = *end != '\0' ? strchr(units, *end) : units;
    if (end == text || unit == NULL || (*end != '\0' && end[1] != '\0')) {
        return 0;
    }
    *seconds *= factor[unit - units];
    return *seconds >= 1 && *seconds <= 1e6;
}

static int level(const char *text, attest_level *value) {
    for (int i = ATTEST_SMOKE; i <= ATTEST_EXHAUSTIVE; i++) {
        if (strcmp(text, attest_level_name((attest_level)i)) == 0) {
            *value = (attest_level)i;
            return 1;
        }
    }
    return 0;
}

static int natural(const char *text, uint64_t *value) {
    char *end = NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && text[0] != '-';
}

static int one_more(const char **list, int *count, const char *value) {
    if (*count == ATTEST_MOST_NAMED) {
        return 0;
    }
    list[(*count)++] = value;
    return 1;
}

static int apply(attest_settings *s, option o, const char *value) {
    double real = 0;
    char rest = 0;
    switch (o) {
    case PROFILE:
        s->profile_name = value;
        return 1;
    case MODEL:
        s->model_name = value;
        return 1;
    case LEVEL:
        return level(value, &s->level);
    case SEED:
        return natural(value, &s->seed);
    case SHARD:
        return sscanf(value, "%d/%d%c", &s->shard, &s->shards, &rest) == 2 && s->shard >= 1 &&
               s->shard <= s->shards && s->shards <= 10000;
    case TIME:
        return number(value, 0.001, 1e9, &s->seconds);
    case CASES:
        return natural(value, &s->cases) && s->cases > 0;
    case ONLY:
        s->only = value;
        return 1;
    case SKIP:
        s->skip = value;
        return 1;
    case WAIVERS:
        s->waiver_file = value;
        return 1;
    case JSON:
        s->json = value;
        return 1;
    case JUNIT:
        s->junit = value;
        return 1;
    case HTML:
        s->html = value;
        return 1;
    case SARIF:
        s->sarif = value;
        return 1;
    case MARKDOWN:
        s->markdown = value;
        return 1;
    case BUNDLE:
        s->bundle = value;
        return 1;
    case SIGN:
        s->sign = value;
        return 1;
    case KEY:
        s->key = value;
        return strlen(value) == 64;
    case STATEMENT:
        s->statement = value;
        return 1;
    case BADGE:
        s->badge = value;
        return 1;
    case OUTPUT:
        s->output = value;
        return 1;
    case JOBS:
        if (!number(value, 1, 256, &real)) {
            return 0;
        }
        s->jobs = (int)real;
        return 1;
    case SANDBOX:
        s->strict = strcmp(value, "strict") == 0;
        return s->strict || strcmp(value, "relaxed") == 0;
    case REQUIRE:
        s->require_full = 1;
        return strcmp(value, "full") == 0;
    case CALL_TIME:
        return number(value, 0.001, 86400, &s->call_seconds);
    case LOAD_TIME:
        return number(value, 0.001, 86400, &s->load_seconds);
    case BUDGET:
        return duration(value, &s->budget_seconds);
    case MEMORY:
        if (!number(value, 16, 1 << 20, &real)) {
            return 0;
        }
        s->memory_bytes = (uint64_t)real << 20;
        return 1;
    case READ:
        return value[0] != '\0' && one_more(s->named.folders, &s->named.folder_count, value);
    case ENV:
        return value[0] != '\0' && strchr(value, '=') == NULL &&
               one_more(s->named.variables, &s->named.variable_count, value);
    default:
        return 0;
    }
}

/* Whether a list of words has the one of that length. */
static int has_word(const char *list, const char *word, size_t length) {
    while (*list != '\0') {
        size_t size = strcspn(list, " ");
        if (size == length && memcmp(list, word, length) == 0) {
            return 1;
        }
        list += size + (list[size] != '\0');
    }
    return 0;
}

int attest_list_has_check(const char *list, const attest_check *check) {
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        if (has_word(check->name, list, length) || has_word(check->catalogue, list, length) ||
            has_word(check->requirements, list, length)) {
            return 1;
        }
        list += length + (list[length] == ',');
    }
    return 0;
}

/* A misspelt name would select nothing, and nobody would notice. */
static int names_checks(const char *list, char *why) {
    while (*list != '\0') {
        char word[64];
        size_t length = strcspn(list, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), list);
        int found = 0;
        for (int i = 0; attest_check_at(i) != NULL; i++) {
            found |= attest_list_has_check(word, attest_check_at(i));
        }
        if (!found) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "no check is called, or serves, \"%s\"", word);
            return 0;
        }
        list += length + (list[length] == ',');
    }
    return 1;
}

int attest_settings_parse(attest_settings *s, int argc, char **argv,
                          char why[ATTEST_MESSAGE_BYTES]) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *s = (attest_settings){.level = ATTEST_QUICK,
                           .seed = 1,
                           .shard = 1,
                           .shards = 1,
                           .jobs = processors > 8   ? 8
                                   : processors > 0 ? (int)processors
                                                    : 1,
                           .strict = -1,
                           .began = attest_clock(),
                           .call_seconds = 10,
                           .memory_bytes = UINT64_C(2) << 30};
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || argv[i][1] == '\0') {
            if (s->word_count == ATTEST_MOST_WORDS) {
                snprintf(why, ATTEST_MESSAGE_BYTES, "too many arguments");
                return 0;
            }
            s->words[s->word_count++] = argv[i];
            continue;
        }
        char *equals = strchr(argv[i], '=');
        size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        int o = 0;
        while (o < OPTIONS &&
               (strlen(names[o]) != length || memcmp(names[o], argv[i], length) != 0)) {
            o++;
        }
        if (o == OPTIONS) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "option %.*s does not exist", (int)length, argv[i]);
            return 0;
        }
        if (o >= GATE) {
            s->gate |= o == GATE;
            s->validate |= o == VALIDATE;
            s->quiet |= o == QUIET;
            s->first_failure |= o == FIRST_FAILURE;
            continue;
        }
        const char *value = equals ? equals + 1 : i + 1 < argc ? argv[++i] : NULL;
        if (value == NULL || !apply(s, (option)o, value)) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "option %s takes %s, not %s%.60s%s", names[o],
                     takes[o] ? takes[o] : "a value", value ? "\"" : "nothing", value ? value : "",
                     value ? "\"" : "");
            return 0;
        }
    }
    return (s->only == NULL || names_checks(s->only, why)) &&
           (s->skip == NULL || names_checks(s->skip, why));
}

int attest_is_bare_name(const char *name) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return name[0] != '\0' && name[0] != '.' && name[strspn(name, letters)] == '\0';
}

int attest_profile_find(const char *name, attn_profile *profile, char why[ATTEST_MESSAGE_BYTES]) {
    char path[ATTEST_PATH_BYTES], beside[160], installed[160];
    if (strcmp(name, "attest") == 0) {
        *profile = attn_profile_attest;
        return 1;
    }
    snprintf(beside, sizeof beside, "../../spec/profiles/%.100s.json", name);
    snprintf(installed, sizeof installed, "../share/attest/profiles/%.100s.json", name);
    const char *const places[] = {beside, installed, NULL};
    if (strchr(name, '/') != NULL) {
        snprintf(path, sizeof path, "%s", name);
    } else if (!attest_find_own(path, places)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "no profile is called \"%.60s\"", name);
        return 0;
    }
    return attest_profile_file(profile, path, why) == 0;
}
