/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merge: shards that belong together become one report. */
#include <stdlib.h>
#include <string.h>

#include "certify/cli/commands.h"

static int by_id(const void *a, const void *b) {
    return strcmp(((const attest_entry *)a)->id, ((const attest_entry *)b)->id);
}

/* A report without entries has no array, and qsort takes no NULL. */
static void sort_by_id(attest_report *report) {
    if (report->count > 0) {
        qsort(report->entries, report->count, sizeof *report->entries, by_id);
    }
}

/* The plans were made from them. */
static int same_boundaries(const attest_boundaries *a, const attest_boundaries *b) {
    int same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++) {
        same = a->found[i].axis == b->found[i].axis && a->found[i].at == b->found[i].at &&
               a->found[i].period == b->found[i].period;
    }
    return same;
}

/* The first field in which two are not of one run; NULL if there is none. */
static const char *other_field(const attest_report *a, const attest_report *b) {
    const struct {
        const char *name, *one, *other;
    } texts[] = {
        {"suite", a->suite, b->suite},       {"specification", a->specification, b->specification},
        {"target", a->target, b->target},    {"blake2b", a->digest, b->digest},
        {"level", a->level, b->level},       {"profile", a->profile, b->profile},
        {"model", a->model, b->model},       {"sandbox", a->sandbox, b->sandbox},
        {"options", a->options, b->options},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i].one, texts[i].other) != 0) {
            return texts[i].name;
        }
    }
    return a->seed != b->seed                                 ? "seed"
           : a->shards != b->shards                           ? "shards"
           : memcmp(&a->kernel, &b->kernel, sizeof a->kernel) ? "kernel"
           : !same_boundaries(&a->boundaries, &b->boundaries) ? "boundaries"
           : a->planned != b->planned                         ? "planned"
                                                              : NULL;
}

static int append(attest_report *all, attest_report *part) {
    attest_entry *entries = realloc(all->entries, (all->count + part->count + 1) * sizeof *entries);
    if (entries == NULL) {
        return 0;
    }
    all->entries = entries;
    memcpy(entries + all->count, part->entries, part->count * sizeof *entries);
    all->count += part->count;
    all->seconds += part->seconds;
    for (int i = 0; i < part->waiver_count && i < all->waiver_count; i++) {
        all->waivers[i].cases += part->waivers[i].cases;
    }
    free(part->entries); /* what the entries own has moved */
    part->entries = NULL;
    part->count = 0;
    return 1;
}

static int is_shard_text(const attest_report *r) {
    char expected[ATTEST_MESSAGE_BYTES];
    snprintf(expected, sizeof expected, "one shard of %d: merge them all", r->shards);
    return strcmp(r->incomplete, expected) == 0 || r->incomplete[0] == '\0';
}

/* A shard that was cut says so, and nothing is certified with it. Any other has every so-manieth
 * case of the plan, each as the plan has it. */
static int has_its_cases(const attest_plan *plan, const attest_report *r, char *why) {
    size_t next = 0;
    for (size_t i = (size_t)r->shard - 1; i < plan->count; i += (size_t)r->shards) {
        char line[ATTEST_LINE_BYTES];
        const attest_entry *entry = &r->entries[next++];
        attest_case_print(&plan->cases[i].c, line);
        if (next > r->count || strcmp(entry->id, plan->cases[i].id) != 0) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "cases: %s is missing or not in its place",
                     plan->cases[i].id);
            return 0;
        }
        if (strcmp(entry->line, line) != 0 || strcmp(entry->check, plan->cases[i].c.check) != 0) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "cases: %s has the line of another case",
                     plan->cases[i].id);
            return 0;
        }
    }
    snprintf(why, ATTEST_MESSAGE_BYTES, "cases: there are some that level %.15s does not have",
             r->level);
    return next == r->count;
}

static int make_plan(attest_plan *plan, const attest_report *r, const attest_settings *s,
                     char *why) {
    const char *name = s->profile_name != NULL ? s->profile_name : r->profile;
    *plan = (attest_plan){.seed = r->seed, .kernel = &r->kernel, .boundaries = &r->boundaries};
    if (s->profile_name == NULL && !attest_is_bare_name(name)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "profile: it is a file; give it with --profile");
        return 0;
    }
    if (!attest_profile_find(name, &plan->profile, why)) {
        return 0;
    }
    while (plan->level < ATTEST_EXHAUSTIVE &&
           strcmp(attest_level_name(plan->level), r->level) != 0) {
        plan->level++;
    }
    if (!attest_plan_make(plan, NULL)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "not enough memory");
        return 0;
    }
    snprintf(why, ATTEST_MESSAGE_BYTES, "planned: level %.15s has %zu cases", r->level,
             plan->count);
    return plan->count == r->planned;
}

typedef struct merger {
    const attest_settings *settings;
    attest_report all;
    attest_plan plan; /* of the whole level, once it is needed */
    unsigned char *seen;
    int found;
} merger;

static int begin(merger *m, const attest_report *first, char *why) {
    m->all = *first;
    m->all.entries = NULL;
    m->all.count = 0;
    m->all.seconds = 0;
    for (int w = 0; w < m->all.waiver_count; w++) {
        m->all.waivers[w].cases = 0;
    }
    m->all.incomplete[0] = '\0';
    snprintf(why, ATTEST_MESSAGE_BYTES, "shards: there are %d", first->shards);
    if (first->shards < 1 || first->shards > ATTEST_MOST_WORDS) {
        return 0;
    }
    m->seen = calloc((size_t)first->shards + 1, 1);
    snprintf(why, ATTEST_MESSAGE_BYTES, "not enough memory");
    return m->seen != NULL;
}

static int take(merger *m, attest_report *part, char *why) {
    if (m->seen == NULL && !begin(m, part, why)) {
        return 0;
    }
    const char *field = other_field(&m->all, part);
    if (field != NULL) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "%s: it is another one than in the first report",
                 field);
        return 0;
    }
    snprintf(why, ATTEST_MESSAGE_BYTES, "shard: %d of %d comes twice, or is none", part->shard,
             part->shards);
    if (part->shard < 1 || part->shard > part->shards || m->seen[part->shard]++) {
        return 0;
    }
    if (!is_shard_text(part)) {
        memcpy(m->all.incomplete, part->incomplete, sizeof m->all.incomplete);
    } else if (part->load_error[0] == '\0' &&
               ((m->plan.cases == NULL && !make_plan(&m->plan, &m->all, m->settings, why)) ||
                !has_its_cases(&m->plan, part, why))) {
        return 0;
    }
    m->found++;
    m->all.protections &= part->protections; /* what held everywhere */
    snprintf(why, ATTEST_MESSAGE_BYTES, "not enough memory");
    return append(&m->all, part);
}

static int deliver(merger *m) {
    attest_report *all = &m->all;
    if (m->found != all->shards) {
        snprintf(all->incomplete, sizeof all->incomplete, "%d of %d shards are here", m->found,
                 all->shards);
    } else if (all->count != all->planned && all->incomplete[0] == '\0') {
        snprintf(all->incomplete, sizeof all->incomplete, "%zu of %zu cases are here", all->count,
                 all->planned);
    }
    all->shard = all->shards = 1;
    /* Ids give an order that every merge agrees on. */
    sort_by_id(all);
    return attest_deliver(all, m->settings);
}

int attest_command_merge(const attest_settings *s) {
    char why[ATTEST_MESSAGE_BYTES] = "", text[2 * ATTEST_MESSAGE_BYTES];
    merger m = {.settings = s};
    int fine = 1;
    for (int i = 0; i < s->word_count && fine; i++) {
        attest_report part = {0};
        fine = attest_report_load(s->words[i], &part, why);
        if (!fine) {
            attest_trouble(why);
        } else if (!take(&m, &part, why)) {
            snprintf(text, sizeof text, "merge: %.180s does not belong here: %.200s", s->words[i],
                     why);
            attest_trouble(text);
            attest_report_free(&part);
            fine = 0;
        }
    }
    const int code = fine ? deliver(&m) : ATTEST_EXIT_TROUBLE;
    attest_plan_free(&m.plan);
    free(m.seen);
    attest_report_free(&m.all);
    return code;
}
