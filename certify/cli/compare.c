/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands on reports alone: report and diff. */
#include <stdlib.h>
#include <string.h>

#include "certify/cli/commands.h"
#include "reference/oracle/model.h"

static int by_id(const void *a, const void *b) {
    return strcmp(((const attest_entry *)a)->id, ((const attest_entry *)b)->id);
}

/* A report without entries has no array, and qsort takes no NULL. */
static void sort_by_id(attest_report *report) {
    if (report->count > 0) {
        qsort(report->entries, report->count, sizeof *report->entries, by_id);
    }
}
/* What can become of a case. One that was not bad before and is now got worse; so did a new one
 * that is bad, since the baseline would not have accepted it. */
typedef enum change { FIXED, REGRESSED, NEW, GONE, CHANGED, SAME, CHANGES } change;

static const char *const change_names[CHANGES] = {"FIXED", "REGRESSED", "NEW",
                                                  "GONE",  "CHANGED",   "same"};

typedef struct difference {
    int count[CHANGES];
    int new_and_bad;
    int by_requirement[ATTEST_MOST_REQUIREMENTS + 1][CHANGES]; /* the last: of no requirement */
} difference;

static change change_of(const attest_entry *old, const attest_entry *new) {
    if (old == NULL || new == NULL) {
        return old == NULL ? NEW : GONE;
    }
    const attest_result *a = &old->result, *b = &new->result;
    if (a->verdict == b->verdict && a->broken == b->broken) {
        return SAME;
    }
    if (attest_verdict_is_bad(b->verdict) && !attest_verdict_is_bad(a->verdict)) {
        return REGRESSED;
    }
    return attest_verdict_is_bad(a->verdict) && b->verdict == ATTEST_PASS ? FIXED : CHANGED;
}

static void compare(const attest_entry *old, const attest_entry *new, difference *d) {
    const change what = change_of(old, new);
    const attest_entry *shown = new != NULL ? new : old;
    const int of = new != NULL &&new->result.broken >= 0    ? new->result.broken
                   : old != NULL && old->result.broken >= 0 ? old->result.broken
                                                            : ATTEST_MOST_REQUIREMENTS;
    const attest_requirement *broken = attest_requirement_at(of);
    const int bad = new != NULL &&attest_verdict_is_bad(new->result.verdict);
    d->count[what]++;
    d->by_requirement[of][what]++;
    d->new_and_bad += what == NEW && bad;
    if (what != SAME) {
        printf("%-9s %s %-14s %s -> %s%s%s\n", change_names[what], shown->id, shown->check,
               old ? attest_verdict_name(old->result.verdict) : "none",
               new ? attest_verdict_name(new->result.verdict) : "none", broken ? "  " : "",
               broken ? broken->id : "");
    }
}

/* One row a requirement that is broken before or after; then all cases. */
static void table(const difference *d) {
    printf("\n%-12s", "requirement");
    for (int c = 0; c < CHANGES; c++) {
        printf("%11s", change_names[c]);
    }
    for (int i = 0; i < attest_requirement_count(); i++) {
        int any = 0;
        for (int c = 0; c < CHANGES; c++) {
            any += d->by_requirement[i][c];
        }
        if (any > 0) {
            printf("\n%-12s", attest_requirement_at(i)->id);
            for (int c = 0; c < CHANGES; c++) {
                printf("%11d", d->by_requirement[i][c]);
            }
        }
    }
    printf("\n%-12s", "all cases");
    for (int c = 0; c < CHANGES; c++) {
        printf("%11d", d->count[c]);
    }
    printf("\n\n");
}

static int shrank(int64_t before, int64_t after) { /* limits: 0 is none */
    return after != 0 && (before == 0 || after < before);
}

/* What the new run asks less of than the old one; NULL if nothing. */
static const char *less_than(const attest_report *old, const attest_report *new) {
    static const char *const levels[] = {"smoke", "quick", "full", "exhaustive"};
    const attest_kernel_info *a = &old->kernel, *b = &new->kernel;
    const attn_model *model_a = attn_model_find(old->model), *model_b = attn_model_find(new->model);
    int level_a = 0, level_b = 0;
    for (int i = 0; i < 4; i++) {
        level_a = strcmp(old->level, levels[i]) == 0 ? i : level_a;
        level_b = strcmp(new->level, levels[i]) == 0 ? i : level_b;
    }
    if (level_b < level_a) {
        return "the level is lower";
    }
    if (new->load_error[0] != '\0' || old->load_error[0] != '\0') {
        return NULL;
    }
    if (strcmp(old->profile, new->profile) != 0) {
        return "another profile";
    }
    if (model_a != NULL && model_b != NULL && !attn_model_implies(model_b, model_a)) {
        return "a looser arithmetic model";
    }
    if ((a->features & ~b->features) || (a->shapes & ~b->shapes) || (a->dtypes & ~b->dtypes) ||
        (a->determinism & ~b->determinism)) {
        return "a declared capability or determinism rung is gone";
    }
    if (shrank(a->max_head_size, b->max_head_size) || shrank(a->max_queries, b->max_queries) ||
        shrank(a->max_keys, b->max_keys) || b->isolation < a->isolation ||
        b->finite_only > a->finite_only) {
        return "a limit, the domain or the isolation shrank";
    }
    return NULL;
}

/* What explains other results besides another kernel. */
static void other_conditions(const attest_report *old, const attest_report *new) {
    const struct {
        const char *name, *before, *after;
    } texts[] = {
        {"suite", old->suite, new->suite},
        {"specification", old->specification, new->specification},
        {"options", old->options, new->options},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i].before, texts[i].after) != 0) {
            printf("%s: %s -> %s\n", texts[i].name, texts[i].before, texts[i].after);
        }
    }
    if (old->seed != new->seed) {
        printf("seed: %llu -> %llu\n", (unsigned long long)old->seed,
               (unsigned long long)new->seed);
    }
    if (strcmp(old->digest, new->digest) == 0 && old->digest[0] != '\0') {
        printf("the kernel's file is the same\n");
    }
}

int attest_command_diff(const attest_settings *s) {
    char why[ATTEST_MESSAGE_BYTES];
    attest_report old, new;
    if (!attest_report_load(s->words[0], &old, why)) {
        return attest_trouble(why);
    }
    if (!attest_report_load(s->words[1], &new, why)) {
        attest_report_free(&old);
        return attest_trouble(why);
    }
    const attest_certificate before = attest_certificate_of(&old),
                             after = attest_certificate_of(&new);
    sort_by_id(&old);
    sort_by_id(&new);
    static const difference none;
    difference d = none;
    size_t i = 0, k = 0;
    while (i < old.count || k < new.count) {
        int order = i == old.count   ? 1
                    : k == new.count ? -1
                                     : by_id(&old.entries[i], &new.entries[k]);
        compare(order <= 0 ? &old.entries[i] : NULL, order >= 0 ? &new.entries[k] : NULL, &d);
        i += order <= 0;
        k += order >= 0;
    }
    table(&d);
    other_conditions(&old, &new);
    printf("%s -> %s\n", before.certified ? "certified" : "not certified",
           after.certified ? "certified" : "not certified");
    /* A kernel that no longer loads, or promises less, has no cases to regress. */
    const char *shed = less_than(&old, &new);
    if (shed != NULL) {
        printf("REGRESSED %s\n", shed);
    }
    attest_report_free(&old);
    attest_report_free(&new);
    const int worse = d.count[REGRESSED] + d.new_and_bad > 0 || shed != NULL ||
                      (before.certified && !after.certified);
    const int other = d.count[FIXED] + d.count[NEW] + d.count[GONE] + d.count[CHANGED];
    printf("%s\n", worse ? "worse than the baseline" : "not worse than the baseline");
    return s->gate ? worse : worse || other > 0;
}

int attest_command_report(const attest_settings *s) {
    char why[ATTEST_MESSAGE_BYTES];
    attest_report report;
    if (!attest_report_load(s->words[0], &report, why)) {
        return attest_trouble(why);
    }
    const int code = attest_deliver(&report, s);
    attest_report_free(&report);
    return code;
}
