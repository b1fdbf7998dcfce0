/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/run/settings.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    OUTPUT,
    JOBS,
    SANDBOX,
    REQUIRE,
    CALL_TIME,
    MEMORY,
    GATE,
    VALIDATE,
    QUIET,
    FIRST_FAILURE,
    OPTIONS
} option;

static const char *const names[OPTIONS] = {
    "--profile", "--model", "--level",  "--seed", "--shard",   "--time",    "--cases",
    "--only",    "--skip", "--waivers", "--json", "--junit",   "--output",  "--jobs",
    "--sandbox", "--require", "--call-time", "--memory", "--gate", "--validate", "--quiet",
    "--first-failure",
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
    [REQUIRE] = "full",
    [CALL_TIME] = "seconds, 0.001 to 86400",
    [MEMORY] = "MiB, 16 to 1048576",
};

static int number(const char *text, double least, double most, double *value) {
    char *end = NULL;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= least && *value <= most;
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
    case MEMORY:
        if (!number(value, 16, 1 << 20, &real)) {
            return 0;
        }
        s->memory_bytes = (uint64_t)real << 20;
        return 1;
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
        if (has_word(check->name, list, length) ||
            has_word(check->catalogue, list, length) ||
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
                           .jobs = processors > 8 ? 8 : processors > 0 ? (int)processors : 1,
                           .strict = -1,
                           .call_seconds = 10,
                           .memory_bytes = UINT64_C(2) << 30};
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
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

typedef struct choice {
    const char *key;
    const char *values[5];
} choice;

static const choice choices[] = {
    {"corner", {"top-left", "bottom-right", "bottom-right-with-lengths", NULL}},
    {"window_form", {"not-defined", "w-keys", "left-w", "both-w", NULL}},
    {"default_scale", {"rsqrt-d", "one", "required", NULL}},
    {"gqa_order", {"grouped", "tiled", NULL}},
    {"lse_base", {"natural", "base-2", NULL}},
    {"lse_empty", {"neg-inf", "pos-inf", "unspecified", NULL}},
    {"empty_row", {"zero", "nan", "mean-of-all", "unspecified", NULL}},
    {"mask_with_causal", {"and", "error", "mask-ignored", "causal-ignored", NULL}},
};

static int read_profile(json_t *root, attn_profile *profile, char *why) {
    int found[sizeof choices / sizeof *choices];
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const char *value = json_string_value(json_object_get(root, choices[i].key));
        for (found[i] = 0; value && choices[i].values[found[i]]; found[i]++) {
            if (strcmp(value, choices[i].values[found[i]]) == 0) {
                break;
            }
        }
        if (value == NULL || choices[i].values[found[i]] == NULL) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "profile: %s is missing or unknown",
                     choices[i].key);
            return 0;
        }
    }
    *profile = (attn_profile){.corner = (attn_corner)found[0],
                              .window_form = (attn_window_form)found[1],
                              .default_scale = (attn_default_scale)found[2],
                              .gqa_order = (attn_gqa_order)found[3],
                              .lse_base = (attn_lse_base)found[4],
                              .lse_empty = (attn_lse_empty)found[5],
                              .empty_row = (attn_empty_row)found[6],
                              .mask_with_causal = (attn_mask_with_causal)found[7]};
    return 1;
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
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "profile %.60s: %.120s", name, error.text);
        return 0;
    }
    int fine = read_profile(root, profile, why);
    json_decref(root);
    return fine;
}
