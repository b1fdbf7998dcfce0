/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands on reports alone: diff and merge. */
#include <stdlib.h>
#include <string.h>

#include "certify/cli/commands.h"
#include "reference/oracle/model.h"

static int by_id(const void *a, const void *b) {
    return strcmp(((const attest_entry *)a)->id, ((const attest_entry *)b)->id);
}

typedef struct difference {
    int fixed, regressed, added, gone, changed, same;
} difference;

static void say(const char *what, const attest_entry *e, const char *from, const char *to) {
    const attest_requirement *broken = attest_requirement_at(e->result.broken);
    printf("%-9s %s %-14s %s -> %s%s%s\n", what, e->id, e->check, from, to, broken ? "  " : "",
           broken ? broken->id : "");
}

/* A regression was not bad before and is now. A new case that is bad counts too: the baseline would
 * not have accepted it. */
static void compare(const attest_entry *old, const attest_entry *new, difference *d) {
    const char *from = old ? attest_verdict_name(old->result.verdict) : "none";
    const char *to = new ? attest_verdict_name(new->result.verdict) : "none";
    if (old == NULL) {
        d->added++;
        d->regressed += attest_verdict_is_bad(new->result.verdict);
        say("NEW", new, from, to);
    } else if (new == NULL) {
        d->gone++;
        say("GONE", old, from, to);
    } else if (old->result.verdict == new->result.verdict &&
               old->result.broken == new->result.broken) {
        d->same++;
    } else if (attest_verdict_is_bad(new->result.verdict) &&
               !attest_verdict_is_bad(old->result.verdict)) {
        d->regressed++;
        say("REGRESSED", new, from, to);
    } else if (attest_verdict_is_bad(old->result.verdict) && new->result.verdict == ATTEST_PASS) {
        d->fixed++;
        say("FIXED", new, from, to);
    } else {
        d->changed++;
        say("CHANGED", new, from, to);
    }
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
    const attest_certificate before = attest_certify(&old), after = attest_certify(&new);
    qsort(old.entries, old.count, sizeof *old.entries, by_id);
    qsort(new.entries, new.count, sizeof *new.entries, by_id);
    difference d = {0};
    size_t i = 0, k = 0;
    while (i < old.count || k < new.count) {
        int order = i == old.count   ? 1
                    : k == new.count ? -1
                                     : by_id(&old.entries[i], &new.entries[k]);
        compare(order <= 0 ? &old.entries[i] : NULL, order >= 0 ? &new.entries[k] : NULL, &d);
        i += order <= 0;
        k += order >= 0;
    }
    printf("%d fixed, %d regressed, %d new, %d gone, %d changed, %d same; %s -> %s\n", d.fixed,
           d.regressed, d.added, d.gone, d.changed, d.same,
           before.certified ? "certified" : "not certified",
           after.certified ? "certified" : "not certified");
    /* A kernel that no longer loads, or promises less, has no cases to regress. */
    const char *shed = less_than(&old, &new);
    if (shed != NULL) {
        printf("REGRESSED %s\n", shed);
    }
    attest_report_free(&old);
    attest_report_free(&new);
    int worse = d.regressed > 0 || shed != NULL || (before.certified && !after.certified);
    return s->gate ? worse : worse || d.fixed || d.added || d.gone || d.changed;
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

static int same_run(const attest_report *a, const attest_report *b) {
    return strcmp(a->target, b->target) == 0 && strcmp(a->level, b->level) == 0 &&
           strcmp(a->profile, b->profile) == 0 && strcmp(a->model, b->model) == 0 &&
           strcmp(a->kernel.name, b->kernel.name) == 0 &&
           strcmp(a->kernel.version, b->kernel.version) == 0 && a->seed == b->seed &&
           a->shards == b->shards && a->planned == b->planned &&
           strcmp(a->sandbox, b->sandbox) == 0 && same_boundaries(&a->boundaries, &b->boundaries);
}

static int append(attest_report *all, attest_report *part) {
    attest_entry *entries =
        realloc(all->entries, (all->count + part->count + 1) * sizeof *entries);
    if (entries == NULL) {
        return 0;
    }
    all->entries = entries;
    memcpy(entries + all->count, part->entries, part->count * sizeof *entries);
    all->count += part->count;
    all->seconds += part->seconds;
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

int attest_command_merge(const attest_settings *s) {
    char why[ATTEST_MESSAGE_BYTES] = "";
    attest_report all = {0}, part;
    unsigned char *seen = NULL;
    int found = 0, fine = 1;
    for (int i = 0; i < s->word_count && fine; i++) {
        fine = attest_report_load(s->words[i], &part, why);
        if (fine && seen == NULL) {
            seen = calloc((size_t)part.shards + 2, 1);
            all = part;
            all.entries = NULL;
            all.count = 0;
            all.seconds = 0;
            all.incomplete[0] = '\0';
        }
        if (fine && (seen == NULL || !same_run(&all, &part) || part.shard < 1 ||
                     part.shard > part.shards || seen[part.shard])) {
            snprintf(why, sizeof why, "%.100s does not belong to the same run, or comes twice",
                     s->words[i]);
            attest_report_free(&part);
            fine = 0;
        }
        if (fine) {
            seen[part.shard] = 1;
            found++;
            if (!is_shard_text(&part)) {
                memcpy(all.incomplete, part.incomplete, sizeof all.incomplete);
            }
            fine = append(&all, &part);
        }
    }
    free(seen);
    if (!fine) {
        attest_report_free(&all);
        return attest_trouble(why[0] ? why : "not enough memory");
    }
    if (found != all.shards) {
        snprintf(all.incomplete, sizeof all.incomplete, "%d of %d shards are here", found,
                 all.shards);
    } else if (all.count != all.planned && all.incomplete[0] == '\0') {
        snprintf(all.incomplete, sizeof all.incomplete, "%zu of %zu cases are here", all.count,
                 all.planned);
    }
    all.shard = all.shards = 1;
    /* The plan's order is not in the reports; ids give one that every merge agrees on. */
    qsort(all.entries, all.count, sizeof *all.entries, by_id);
    int code = attest_deliver(&all, s);
    attest_report_free(&all);
    return code;
}
