/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/report/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/plan/names.h"

const char *const attest_facet_names[ATTEST_FACETS] = {"mask", "queries", "keys", "type", "values"};

const char *const attest_facet_values[ATTEST_FACETS][ATTEST_MOST_OF_A_FACET] = {
    [ATTEST_FACET_MASK] = {"none", "causal", "window", "key lengths", "boolean mask",
                           "additive mask", "several", NULL},
    [ATTEST_FACET_QUERIES] = {"0-1", "2-8", "9-63", "64-255", "256-1023", "1024-", NULL},
    [ATTEST_FACET_KEYS] = {"0-1", "2-8", "9-63", "64-255", "256-1023", "1024-", NULL},
    [ATTEST_FACET_TYPE] = {"f32", "f64", "f16", "bf16", "mixed", NULL},
    [ATTEST_FACET_VALUES] = {"structured", "few bits", "ordinary", "ties, peaks", "huge, tiny",
                             "NaN", NULL},
};

static int band(int64_t length) {
    return length < 2      ? 0
           : length < 9    ? 1
           : length < 64   ? 2
           : length < 256  ? 3
           : length < 1024 ? 4
                           : 5;
}

static int mask_of(uint64_t f) {
    static const uint64_t kinds[] = {ATTEST_CAUSAL, ATTEST_WINDOW | ATTEST_WINDOW_SIZE,
                                     ATTEST_KEY_LENGTHS, ATTEST_MASK_BOOL, ATTEST_MASK_ADD};
    int found = 0, number = 0;
    for (int i = 0; i < 5; i++) {
        number += (f & kinds[i]) != 0;
        found = f & kinds[i] ? i + 1 : found;
    }
    return number > 1 ? 6 : found;
}

static int values_of(int64_t recipe) {
    switch ((attest_recipe)recipe) {
    case ATTEST_RECIPE_ZERO:
    case ATTEST_RECIPE_ONE:
    case ATTEST_RECIPE_UNIT:
    case ATTEST_RECIPE_KEY:
        return 0;
    case ATTEST_RECIPE_BELL:
    case ATTEST_RECIPE_WIDE:
    case ATTEST_RECIPE_FINE:
        return 2;
    case ATTEST_RECIPE_PEAKED:
    case ATTEST_RECIPE_TWINS:
    case ATTEST_RECIPE_ALIKE:
        return 3;
    case ATTEST_RECIPE_HUGE:
    case ATTEST_RECIPE_TINY:
    case ATTEST_RECIPE_LARGE:
    case ATTEST_RECIPE_BELOW:
    case ATTEST_RECIPE_MIXED:
    case ATTEST_RECIPE_RISE:
        return 4;
    case ATTEST_RECIPE_HOLES:
        return 5;
    default:
        return 1;
    }
}

int attest_facets_of(const attest_entry *entry, int facets[ATTEST_FACETS]) {
    char why[ATTEST_MESSAGE_BYTES];
    attest_case c;
    if (!attest_case_parse(&c, entry->line, why)) {
        return 0;
    }
    const int same = c.q_type == c.kv_type && c.q_type == c.o_type;
    const int qk = values_of(c.qk), v = values_of(c.v);
    facets[ATTEST_FACET_MASK] = mask_of(c.features);
    facets[ATTEST_FACET_QUERIES] = band(c.queries);
    facets[ATTEST_FACET_KEYS] = band(c.keys);
    facets[ATTEST_FACET_TYPE] = same && c.q_type >= ATTEST_F32 && c.q_type <= ATTEST_BF16
                                    ? (int)c.q_type - (int)ATTEST_F32
                                    : 4;
    facets[ATTEST_FACET_VALUES] = v == 0 && qk < 2 ? 0 : qk > v ? qk : v;
    return 1;
}

attest_table attest_table_of(const attest_report *r, attest_facet rows, attest_facet columns) {
    attest_table t = {0};
    for (size_t i = 0; i < r->count; i++) {
        const attest_verdict verdict = r->entries[i].result.verdict;
        int facets[ATTEST_FACETS];
        const int bad = attest_verdict_is_bad(verdict);
        if ((bad || verdict == ATTEST_PASS) && attest_facets_of(&r->entries[i], facets)) {
            t.ran[facets[rows]][facets[columns]]++;
            t.bad[facets[rows]][facets[columns]] += bad;
        }
    }
    return t;
}

void attest_ratio_bins(const attest_report *r, int64_t bins[ATTEST_RATIO_BINS]) {
    memset(bins, 0, ATTEST_RATIO_BINS * sizeof *bins);
    for (size_t i = 0; i < r->count; i++) {
        const attest_result *one = &r->entries[i].result;
        if (one->verdict == ATTEST_PASS) {
            const double halves = one->worst > 0 ? -log2(one->worst) : INFINITY;
            const int bin =
                ATTEST_RATIO_BINS - 1 - (int)fmin(fmax(halves, 0), ATTEST_RATIO_BINS - 2);
            bins[isinf(halves) ? 0 : bin]++;
        }
    }
}

attest_rung attest_rung_of(const attest_report *r, int rung) {
    attest_rung found = {.claimed = (int)(r->kernel.determinism >> rung & 1)};
    for (size_t i = 0; i < r->count; i++) {
        const attest_entry *e = &r->entries[i];
        const char *at = strcmp(e->check, "ladder") == 0 ? strstr(e->line, " p0=") : NULL;
        const int number = at != NULL ? atoi(at + 4) & 63 : 0;
        if (strcmp(e->check, "ladder") == 0 && number == rung) {
            found.held += e->result.verdict == ATTEST_PASS;
            found.moved += strcmp(e->result.label, "other bits") == 0;
        }
    }
    return found;
}

int attest_in_group(const char *id, const attest_group *group) {
    const size_t length = strlen(group->prefix);
    return strncmp(id, group->prefix, length) == 0 && id[length] == '-';
}

attest_group attest_group_of(const attest_certificate *c, int number) {
    static const char *const groups[ATTEST_GROUPS][2] = {
        {"SEM", "semantics"},      {"MASK", "masks"},    {"NUM", "numerics"},
        {"MEM", "memory"},         {"ISO", "isolation"}, {"DET", "determinism"},
        {"SPV", "special values"}, {"ERR", "errors"},    {"CAP", "capabilities"},
    };
    attest_group g = {.prefix = groups[number][0], .meaning = groups[number][1]};
    for (int i = 0; i < attest_requirement_count(); i++) {
        if (!attest_in_group(attest_requirement_at(i)->id, &g)) {
            continue;
        }
        const char *word = attest_state_word(&c->state[i]);
        g.total++;
        g.failed += strcmp(word, "failed") == 0;
        g.doubted += strcmp(word, "in question") == 0;
        g.passed += strcmp(word, "passed") == 0;
        g.absent += strcmp(word, "not run") == 0;
    }
    g.without = g.total - g.failed - g.doubted - g.passed - g.absent;
    return g;
}

const char *attest_state_word(const attest_requirement_state *s) {
    const char *word = attest_requirement_word(s);
    return word != NULL ? word : "not run";
}

double attest_worst_pass(const attest_report *report) {
    double worst = 0;
    for (size_t i = 0; i < report->count; i++) {
        const attest_result *r = &report->entries[i].result;
        worst = r->verdict == ATTEST_PASS && r->worst > worst ? r->worst : worst;
    }
    return worst;
}
