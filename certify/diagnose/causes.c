/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Failures of one check that break one requirement are of one kind. Kinds have one cause if one
 * known error gives the outputs of both, if they break the same requirement or crash in one place,
 * or if the cases of one kind all have what all cases of the other have in common and the rest has
 * not. A crash is never put together with a wrong number: they need two repairs until the contrary
 * is shown.
 */
#include "certify/diagnose/causes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/diagnose/evidence.h"
#include "certify/diagnose/suspect.h"
#include "certify/diagnose/variants.h"
#include "certify/result/text.h"

enum { MOST_KINDS = 256, WORDS = ATTEST_MOST_KNOWN / 64, NO_CAUSE = -1 };

typedef struct kind {
    const char *check;
    int broken;
    attest_verdict verdict;
    const char *place; /* of a crash: function and address in what was said of it, or NULL */
    int64_t cases, examined;
    uint64_t known[WORDS]; /* errors that give the outputs of every case looked into */
    int with[ATTEST_ATTRIBUTES];
    int cause;
} kind;

typedef struct grouping {
    attest_report *report;
    kind kinds[MOST_KINDS];
    int *of;                                  /* kind of each entry, or -1 */
    int count;                                /* of kinds */
    int64_t all, all_with[ATTEST_ATTRIBUTES]; /* over every case that ran */
} grouping;

static int kind_of(grouping *g, const attest_entry *e) {
    int k = 0;
    while (k < g->count &&
           (strcmp(g->kinds[k].check, e->check) != 0 || g->kinds[k].broken != e->result.broken ||
            g->kinds[k].verdict != e->result.verdict)) {
        k++;
    }
    if (k == g->count) {
        if (g->count == MOST_KINDS) { /* the last one takes the rest */
            return MOST_KINDS - 1;
        }
        g->kinds[g->count++] = (kind){.check = e->check,
                                      .broken = e->result.broken,
                                      .verdict = e->result.verdict,
                                      .place = strstr(e->result.what, "(object+"),
                                      .known = {UINT64_MAX, UINT64_MAX},
                                      .cause = NO_CAUSE};
    }
    return k;
}

static void count_entry(grouping *g, size_t index) {
    const attest_entry *e = &g->report->entries[index];
    const int bad = attest_verdict_is_bad(e->result.verdict);
    int has[ATTEST_ATTRIBUTES] = {0};
    char why[ATTEST_MESSAGE_BYTES];
    attest_case c;
    g->of[index] = NO_CAUSE;
    if (!bad && e->result.verdict != ATTEST_PASS) {
        return;
    }
    if (attest_case_parse(&c, e->line, why)) {
        attest_attributes_of(&c, has);
    }
    g->all++;
    kind *k = bad ? &g->kinds[g->of[index] = kind_of(g, e)] : NULL;
    for (int a = 0; a < ATTEST_ATTRIBUTES; a++) {
        g->all_with[a] += has[a];
        if (bad) {
            k->with[a] += has[a];
        }
    }
    if (bad) {
        k->cases++;
        k->examined += e->result.examined;
        for (int w = 0; e->result.examined && w < WORDS; w++) {
            k->known[w] &= e->result.defects[w];
        }
    }
}

static int explains(const kind *k, int known) {
    return k->examined > 0 && (k->known[known / 64] >> known % 64 & 1);
}

static attest_cause *new_cause(attest_report *r) {
    if (r->cause_count == ATTEST_MOST_CAUSES) {
        return NULL;
    }
    attest_cause *cause = &r->causes[r->cause_count++];
    *cause = (attest_cause){.requirement = -1};
    return cause;
}

/* The known error that explains most cases, then that of what is left, and so on. */
static void by_known_errors(grouping *g) {
    for (;;) {
        int64_t most = 0;
        int best = -1;
        for (int known = 0; known < attest_known_count(); known++) {
            int64_t cases = 0;
            for (int k = 0; k < g->count; k++) {
                const int open = g->kinds[k].cause == NO_CAUSE && explains(&g->kinds[k], known);
                cases += open ? g->kinds[k].cases : 0;
            }
            best = cases > most ? known : best;
            most = cases > most ? cases : most;
        }
        attest_cause *cause = best < 0 ? NULL : new_cause(g->report);
        if (cause == NULL) {
            return;
        }
        for (int k = 0; k < g->count; k++) {
            if (g->kinds[k].cause == NO_CAUSE && explains(&g->kinds[k], best)) {
                g->kinds[k].cause = g->report->cause_count - 1;
            }
        }
    }
}

static int same_place(const kind *a, const kind *b) {
    const size_t length = a->place != NULL ? strcspn(a->place, ")") : 0;
    return length > 0 && b->place != NULL && strncmp(a->place, b->place, length + 1) == 0;
}

static int is_wrong_value(const kind *k) { return k->verdict == ATTEST_FAIL; }

/* Whether every case of `k` has what all cases of a cause have in common. */
static int within(const grouping *g, const kind *k, int cause) {
    int common = 0;
    for (int a = 0; a < ATTEST_ATTRIBUTES; a++) {
        int64_t cases = 0, with = 0;
        for (int i = 0; i < g->count; i++) {
            cases += g->kinds[i].cause == cause ? g->kinds[i].cases : 0;
            with += g->kinds[i].cause == cause ? g->kinds[i].with[a] : 0;
        }
        const int shared = cases > 0 && with == cases && g->all_with[a] < g->all;
        common += shared;
        if (shared && k->with[a] != k->cases) {
            return 0;
        }
    }
    return common > 0;
}

/* Whether a kind breaks or crashes as some kind of the cause does, if they fail in one manner. */
static int related(const grouping *g, const kind *k, int cause, int *alike) {
    int same = 0;
    *alike = 1;
    for (int i = 0; i < g->count; i++) {
        if (g->kinds[i].cause == cause) {
            *alike = *alike && is_wrong_value(&g->kinds[i]) == is_wrong_value(k);
            same = same || (g->kinds[i].broken == k->broken && k->broken >= 0) ||
                   same_place(&g->kinds[i], k);
        }
    }
    return same && *alike;
}

static int joins(const grouping *g, const kind *k, int cause) {
    int alike;
    return related(g, k, cause, &alike) || (alike && within(g, k, cause));
}

static void the_rest(grouping *g) {
    for (;;) {
        int largest = -1;
        for (int k = 0; k < g->count; k++) {
            const int open = g->kinds[k].cause == NO_CAUSE;
            largest =
                open && (largest < 0 || g->kinds[k].cases > g->kinds[largest].cases) ? k : largest;
        }
        if (largest < 0) {
            return;
        }
        kind *k = &g->kinds[largest];
        for (int cause = 0; k->cause == NO_CAUSE && cause < g->report->cause_count; cause++) {
            k->cause = joins(g, k, cause) ? cause : NO_CAUSE;
        }
        if (k->cause == NO_CAUSE) {
            k->cause =
                new_cause(g->report) != NULL ? g->report->cause_count - 1 : ATTEST_MOST_CAUSES - 1;
        }
    }
}

/* What the run would point to if it had failed in this way alone. */
static void suspect(const grouping *g, int number) {
    attest_report alone = *g->report;
    alone.entries = calloc(g->report->count + 1, sizeof *alone.entries);
    alone.count = 0;
    for (size_t i = 0; alone.entries != NULL && i < g->report->count; i++) {
        if (g->of[i] < 0 || g->kinds[g->of[i]].cause == number) {
            alone.entries[alone.count++] = g->report->entries[i];
        }
    }
    attest_suspect(&alone);
    if (alone.suspicions > 0) {
        g->report->causes[number].suspicion = alone.diagnosis[0];
    }
    free(alone.entries);
}

static int one_class(const attest_report *r, int a, int b) {
    const int of_a = r->causes[a].suspicion.bug_class, of_b = r->causes[b].suspicion.bug_class;
    return of_a != CLASS_NONE && of_a == of_b;
}

/* What came to a cause last may tie it to another one, and so may the class that both point to. The
 * later of the two goes. */
static void merge(grouping *g) {
    for (int i = 0; i < g->report->cause_count; i++) {
        suspect(g, i);
    }
    for (int later = g->report->cause_count - 1; later > 0; later--) {
        int earlier = later, alike;
        for (int k = 0; k < g->count; k++) {
            for (int cause = 0; g->kinds[k].cause == later && cause < earlier; cause++) {
                const int tied = related(g, &g->kinds[k], cause, &alike);
                earlier = tied || (alike && one_class(g->report, later, cause)) ? cause : earlier;
            }
        }
        for (int k = 0; earlier < later && k < g->count; k++) {
            int *of = &g->kinds[k].cause;
            *of = *of == later ? earlier : *of > later ? *of - 1 : *of;
        }
        for (int i = later; earlier < later && i + 1 < g->report->cause_count; i++) {
            g->report->causes[i] = g->report->causes[i + 1];
        }
        g->report->cause_count -= earlier < later;
    }
}

static double volume(const attest_case *c) {
    return (double)c->batch * (double)c->q_heads * (double)(c->queries + 1) *
           (double)(c->keys + 1) * (double)(c->head_size + c->value_size);
}

static int bits(uint64_t set) {
    int count = 0;
    for (; set != 0; set &= set - 1) {
        count++;
    }
    return count;
}

/* What a reader has to understand: an option counts as much as twice the size, a special value as
 * two options; what lies too far apart to be drawn or written as a program comes last. */
static double effort(const attest_entry *entry) {
    char why[ATTEST_MESSAGE_BYTES];
    attest_case c;
    if (!attest_case_parse(&c, entry->line, why)) {
        return HUGE_VAL;
    }
    const int special = entry->result.has_value &&
                        !(isfinite(entry->result.expected) && isfinite(entry->result.actual));
    return ldexp(volume(&c),
                 bits(c.features) + 2 * special + (c.layout == ATTEST_LAYOUT_HUGE ? 64 : 0));
}

/* Of equals the id decides, so that every order of entries agrees. */
static int is_smaller(const attest_entry *a, const attest_entry *b) {
    const double one = effort(a), two = effort(b);
    return one != two ? one < two : strcmp(a->id, b->id) < 0;
}

static void add(char *text, size_t size, const char *separator, const char *word) {
    const size_t used = strlen(text);
    if (used + strlen(separator) + strlen(word) < size) {
        snprintf(text + used, size - used, "%s%s", used > 0 ? separator : "", word);
    }
}

static void describe(grouping *g, int number) {
    attest_report *r = g->report;
    attest_cause *cause = &r->causes[number];
    int with[ATTEST_ATTRIBUTES] = {0};
    int64_t of_requirement[ATTEST_MOST_REQUIREMENTS] = {0}, most = 0;
    size_t smallest = r->count;
    for (size_t i = 0; i < r->count; i++) {
        if (g->of[i] < 0 || g->kinds[g->of[i]].cause != number) {
            continue;
        }
        const attest_result *one = &r->entries[i].result;
        cause->cases++;
        if (one->broken >= 0) {
            of_requirement[one->broken]++;
        }
        if (smallest == r->count || is_smaller(&r->entries[i], &r->entries[smallest])) {
            smallest = i;
        }
    }
    for (int k = 0; k < g->count; k++) {
        for (int a = 0; g->kinds[k].cause == number && a < ATTEST_ATTRIBUTES; a++) {
            with[a] += g->kinds[k].with[a];
        }
    }
    for (int i = 0; i < attest_requirement_count(); i++) {
        if (of_requirement[i] > 0) {
            add(cause->broken, sizeof cause->broken, " ", attest_requirement_at(i)->id);
        }
        cause->requirement = of_requirement[i] > most ? i : cause->requirement;
        most = of_requirement[i] > most ? of_requirement[i] : most;
    }
    for (int a = 0; a < ATTEST_ATTRIBUTES; a++) {
        if (with[a] == cause->cases && g->all_with[a] < g->all) {
            add(cause->needs, sizeof cause->needs, ", ", attest_attribute_names[a]);
        }
    }
    cause->smallest = smallest;
    cause->verdict = r->entries[smallest].result.verdict;
    attest_text_copy(cause->what, sizeof cause->what, r->entries[smallest].result.what);
    suspect(g, number);
}

static int more_cases(const void *a, const void *b) {
    const attest_cause *first = a, *second = b;
    return first->cases != second->cases
               ? (first->cases < second->cases ? 1 : -1)
               : (first->smallest > second->smallest) - (first->smallest < second->smallest);
}

void attest_causes_find(attest_report *report) {
    grouping *g = calloc(1, sizeof *g);
    report->cause_count = 0;
    if (g == NULL || (g->of = calloc(report->count + 1, sizeof *g->of)) == NULL) {
        free(g);
        return;
    }
    g->report = report;
    for (size_t i = 0; i < report->count; i++) {
        count_entry(g, i);
    }
    by_known_errors(g);
    the_rest(g);
    merge(g);
    for (int i = 0; i < report->cause_count; i++) {
        describe(g, i);
    }
    qsort(report->causes, (size_t)report->cause_count, sizeof *report->causes, more_cases);
    free(g->of);
    free(g);
}
