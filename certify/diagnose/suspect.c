/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From evidence to classes. Every rule is a statement about attention kernels in general: what a
 * bug of a class does to results, and others do not. A rule adds a suspicion with a strength; of
 * several for one class the strongest stays.
 */
#include "certify/diagnose/suspect.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "certify/diagnose/evidence.h"
#include "certify/diagnose/variants.h"

typedef struct suspects {
    const attest_report *report;
    attest_evidence e;
    attest_suspicion of[ATTEST_CLASSES];
} suspects;

static void add(suspects *s, int bug_class, double strength, const char *format, ...) {
    attest_suspicion *found = &s->of[bug_class];
    if (bug_class > 0 && (int)strength > found->strength) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(found->why, sizeof found->why, format, arguments);
        va_end(arguments);
        found->bug_class = bug_class;
        found->strength = (int)strength;
    }
}

static double share(int part, int whole) { return whole > 0 ? (double)part / whole : 0; }

static int broke(const suspects *s, const char *id) {
    return attest_evidence_broke(s->report, id, NULL);
}

static int crashed(const suspects *s, const char *id) {
    int count = 0;
    for (size_t i = 0; i < s->report->count; i++) {
        const attest_result *r = &s->report->entries[i].result;
        count += r->verdict == ATTEST_CRASH && r->broken == attest_requirement_index(id);
    }
    return count;
}

static int bad_of(const suspects *s, const char *check) {
    for (int k = 0; k < ATTEST_MOST_CHECKS && attest_check_at(k) != NULL; k++) {
        if (strcmp(attest_check_at(k)->name, check) == 0) {
            return s->e.bad_of[k];
        }
    }
    return 0;
}

static int needs(const suspects *s, attest_attribute a) {
    return s->e.bad > 0 && s->e.bad_with[a] == s->e.bad;
}

static int always(const suspects *s, attest_clue clue) {
    return s->e.clued > 0 && s->e.every[clue] == s->e.clued;
}

/* All failures have it, though few cases do: how unlikely that is by chance, and how many of the
 * cases that have it fail. */
static void suspect_options(suspects *s) {
    static const struct {
        attest_attribute attribute;
        int bug_class;
    } table[] = {
        {ATTEST_WITH_SINKS, CLASS_SINKS},
        {ATTEST_WITH_ALIBI, CLASS_ALIBI},
        {ATTEST_WITH_SOFTCAP, CLASS_SOFTCAP},
        {ATTEST_WITH_GROUPS, CLASS_KV_HEAD},
        {ATTEST_WITH_HEADS, CLASS_KV_HEAD},
        {ATTEST_WITH_HUGE_STRIDES, CLASS_INDEX_OVERFLOW},
        {ATTEST_WITH_STRIDES, CLASS_STRIDES},
        {ATTEST_WITH_OTHER_VALUE_SIZE, CLASS_HEAD_SIZE},
        {ATTEST_WITH_WINDOW, CLASS_WINDOW_LOOP},
        {ATTEST_WITH_BOOL_MASK, CLASS_MASK_POLARITY},
        {ATTEST_WITH_ADDED_MASK, CLASS_MASK_TYPE},
        {ATTEST_WITH_OTHER_MASK_TYPE, CLASS_MASK_TYPE},
        {ATTEST_WITH_MASK, CLASS_MASK_STRIDES},
        {ATTEST_WITH_REPEATED_MASK, CLASS_MASK_STRIDES},
        {ATTEST_WITH_BIAS, CLASS_MASK_STRIDES},
        {ATTEST_WITH_MANY_KEYS, CLASS_TAIL},
        {ATTEST_WITH_LENGTHS, CLASS_SEQUENCE_LEAK},
        {ATTEST_WITH_F16, CLASS_OUTPUT_SUM},
        {ATTEST_WITH_BF16, CLASS_OUTPUT_SUM},
        {ATTEST_WITH_NARROW_TYPE, CLASS_OUTPUT_SUM},
        {ATTEST_WITH_CAUSAL, CLASS_CAUSAL_DIAGONAL},
        {ATTEST_WITH_OFFSETS, CLASS_CAUSAL_DIAGONAL},
        {ATTEST_WITH_SCALE, CLASS_HEAD_SIZE},
        {ATTEST_WITH_ENTRIES, CLASS_NEIGHBOURS},
        {ATTEST_WITH_THREADS, CLASS_RACE},
        {ATTEST_WITH_EMPTY_AXIS, CLASS_EMPTY_INPUT},
        {ATTEST_WITH_REPEATED_KEYS, CLASS_STRIDES},
        {ATTEST_WITH_SPREAD_ROWS, CLASS_STRIDES},
    };
    const attest_evidence *e = &s->e;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const attest_attribute a = table[i].attribute;
        const double common = share(e->bad_with[a] + e->good_with[a], e->bad + e->good);
        if (needs(s, a) && common < 1) {
            const double digits = -e->bad * log10(common);
            const double unlikely = 0.75 * fmin(1, digits / 3) + 0.25 * fmin(1, digits / 8);
            const double sure = share(e->bad_with[a], e->bad_with[a] + e->good_with[a]);
            add(s, table[i].bug_class, 30 + 40 * unlikely + 20 * sure,
                "all %d failures have %s, which %.0f %% of the cases have", e->bad,
                attest_attribute_names[a], 100 * common);
        }
    }
}

/* What a second look found to give the outputs: the likeliest class of each explanation first. */
static void suspect_explained(suspects *s) {
    int looked = 0, first[ATTEST_CLASSES] = {0}, any[ATTEST_CLASSES] = {0};
    const char *text[ATTEST_CLASSES] = {NULL};
    for (size_t i = 0; i < s->report->count; i++) {
        const attest_result *r = &s->report->entries[i].result;
        if (!attest_verdict_is_bad(r->verdict) || r->alone == ATTEST_ALONE_NOT_TRIED) {
            continue;
        }
        looked++;
        for (int number = 1; number < ATTEST_CLASSES; number++) {
            if (r->explanation.classes >> number & 1) {
                any[number]++;
                text[number] = text[number] ? text[number] : r->explanation.text;
            }
        }
        if (r->explanation.bug_class > 0 && r->explanation.bug_class < ATTEST_CLASSES) {
            first[r->explanation.bug_class]++;
        }
    }
    for (int number = 1; number < ATTEST_CLASSES; number++) {
        if (any[number] > 0) {
            add(s, number, 60 + 20 * share(any[number], looked) + 19 * share(first[number], looked),
                "%d of %d failures looked into are explained so: %.90s", any[number], looked,
                text[number]);
        }
    }
}

/* Outputs that are exactly those of a known error. */
static void suspect_known(suspects *s) {
    const attest_evidence *e = &s->e;
    for (int k = 0; k < attest_known_count(); k++) {
        const double explained = share(e->known[k], e->examined);
        if (explained >= 0.3) {
            add(s, attest_known_class(k), 40 + 58 * explained - (e->examined < 2 ? 10 : 0),
                "%d of %d failures looked into are what \"%s\" gives: %s", e->known[k], e->examined,
                attest_known_name(k), attest_known_description(k));
        }
    }
}

/* Calls that do not always do the same. */
static void suspect_calls(suspects *s) {
    const attest_evidence *e = &s->e;
    const int looked = e->alone_other + e->alone_same;
    const int batch = broke(s, "DET-04") + broke(s, "DET-05") + broke(s, "DET-06");
    const int bits = batch + broke(s, "DET-03") + broke(s, "DET-07") + broke(s, "DET-09");
    const int one_call = bad_of(s, "oracle") + bad_of(s, "sizes") + bad_of(s, "vectors") +
                         bad_of(s, "empty") + bad_of(s, "special") + bad_of(s, "heads");
    if (e->alone_other > 0) {
        add(s, CLASS_RACE, 60 + 38 * share(e->alone_other, looked),
            "%d of %d failures look different in a fresh process", e->alone_other, looked);
    }
    if (broke(s, "DET-01") + broke(s, "DET-02") + broke(s, "DET-10") > 0) {
        add(s, CLASS_RACE, 92, "the same call does not always give the same bits");
    }
    if (broke(s, "MEM-05") > crashed(s, "MEM-05")) {
        add(s, CLASS_RACE, 97, "outputs changed after a call had returned");
    }
    if (one_call == 0 && bad_of(s, "mask-readback") > 0 && bad_of(s, "poison") > 0) {
        add(s, CLASS_RACE, 89, "only cases of several calls fail: a call remembers the one before");
    }
    if (e->clued == 0 && bits > 0 && bits == e->bad) {
        add(s,
            batch > 0                ? CLASS_NEIGHBOURS
            : broke(s, "DET-03") > 0 ? CLASS_RACE
                                     : CLASS_PATHS,
            95, "only bits differ, with what is computed beside or before");
    }
    if (broke(s, "DET-08") > 0) {
        add(s, CLASS_FAST_MATH, 95, "the floating-point environment is not kept");
    }
}

/* Memory that is read or written, or not. */
static void suspect_memory(suspects *s) {
    const attest_evidence *e = &s->e;
    const int strays = broke(s, "MEM-01"), overruns = crashed(s, "MEM-05");
    if (broke(s, "MEM-03") > 0) {
        add(s, CLASS_INPUT_WRITTEN, 100, "%d calls changed their inputs", broke(s, "MEM-03"));
    }
    if (broke(s, "MEM-02") > 0) {
        add(s, CLASS_OUT_OF_BOUNDS, 95, "memory was written that belongs to no output");
    }
    if (overruns > 0) {
        add(s, CLASS_OUT_OF_BOUNDS, 98, "%d accesses outside the workspace", overruns);
    }
    if (strays > 0) {
        add(s, CLASS_OUT_OF_BOUNDS, 60 + 30 * share(strays, e->bad), "%d accesses outside a tensor",
            strays);
    }
    if (attest_evidence_broke(s->report, "MEM-06", "dirty") > 0 && e->alone_other == 0) {
        add(s, CLASS_NOT_WRITTEN, 94, "results depend on what outputs and workspace held before");
    }
    if (e->some[ATTEST_CLUE_UNWRITTEN] > 0) {
        add(s, CLASS_NOT_WRITTEN, 80 + 10 * share(e->some[ATTEST_CLUE_UNWRITTEN], e->clued),
            "wrong elements hold what they held before the call");
    }
    const int unwritten = s->of[CLASS_NOT_WRITTEN].strength > 60;
    if (unwritten && needs(s, ATTEST_WITH_STRIDES)) {
        add(s, CLASS_STRIDES, 95, "with strides, gaps between elements are taken for elements");
    }
    if (unwritten && needs(s, ATTEST_WITH_OTHER_VALUE_SIZE)) {
        add(s, CLASS_HEAD_SIZE, 95,
            "outputs are not written where the value size is not the head size");
    }
    if (unwritten && needs(s, ATTEST_WITH_WINDOW)) {
        add(s, CLASS_WINDOW_LOOP, 95, "with a window some rows are never computed");
    }
    if (attest_evidence_broke(s->report, "ISO-06", "heads") > 0) {
        add(s, CLASS_NEIGHBOURS, 90, "K and V of another batch entry are read");
    }
    if (e->bad_with[ATTEST_WITH_EMPTY_AXIS] > 0 && e->clued == 0 && e->good > e->bad) {
        add(s, CLASS_EMPTY_INPUT, 85, "it does not survive an axis of length 0");
    }
}

/* Where the wrong elements are, and how wrong. */
static void suspect_places(suspects *s) {
    const attest_evidence *e = &s->e;
    const double slight = share(e->every[ATTEST_CLUE_SLIGHT], e->clued);
    const int masked =
        needs(s, ATTEST_WITH_BAND) || needs(s, ATTEST_WITH_MASK) || needs(s, ATTEST_WITH_LENGTHS);
    if (always(s, ATTEST_CLUE_LSE)) {
        add(s, CLASS_LSE, 88, "every wrong element is of the LSE");
    }
    if (masked && share(e->every[ATTEST_CLUE_LSE], e->clued) > 0.85) {
        add(s, CLASS_MASK_POLARITY, 92,
            "a mask moves the LSE but not the weights: it adds to what is visible");
    }
    if (always(s, ATTEST_CLUE_EMPTY_ROW)) {
        add(s, CLASS_EMPTY_ROW, 85, "every wrong element is of a row that sees nothing");
    }
    if (always(s, ATTEST_CLUE_SWALLOWED) && !always(s, ATTEST_CLUE_LSE)) {
        add(s, CLASS_NAN_SWALLOWED, 90, "only NaN and infinities that should be there are missing");
    }
    if (slight > 0.5) {
        add(s, CLASS_OUTPUT_SUM, 60 + 30 * slight,
            "in %d of %d failures all elements are right to six bits", e->every[ATTEST_CLUE_SLIGHT],
            e->clued);
        add(s, CLASS_UNDERFLOW, 58 + 30 * slight, "small weights that are lost would do the same");
    }
    if (e->clued == e->bad && e->some[ATTEST_CLUE_LOST] == 0 &&
        share(e->some[ATTEST_CLUE_SLIGHT], e->clued) > 0.9) {
        add(s, CLASS_OUTPUT_SUM, 58, "all failures are small errors of some elements");
    }
    if (needs(s, ATTEST_WITH_BAND) && always(s, ATTEST_CLUE_LATER_ROW) &&
        !needs(s, ATTEST_WITH_GROUPS)) {
        add(s, CLASS_CAUSAL_DIAGONAL, needs(s, ATTEST_WITH_WINDOW) ? 76 : 78,
            "later rows of a block get the keys of its first row");
        add(s, CLASS_WINDOW_LOOP, 77, "the loop over keys has the bounds of another row");
    }
    if (needs(s, ATTEST_WITH_MANY_QUERIES) && always(s, ATTEST_CLUE_LATER_ROW)) {
        add(s, CLASS_NOT_WRITTEN, 60,
            "rows behind the first ones start with what those left behind");
    }
    if (e->clued > 0 && e->some[ATTEST_CLUE_FULL_ROW] + e->some[ATTEST_CLUE_EMPTY_ROW] == 0) {
        if (always(s, ATTEST_CLUE_LOST) && bad_of(s, "poison") == 0) {
            add(s, CLASS_EMPTY_TILE, 89,
                "NaN appears only in rows that see some keys and not others");
        } else if (s->of[CLASS_TAIL].strength > 0) {
            add(s, CLASS_EMPTY_TILE, s->of[CLASS_TAIL].strength,
                "keys are lost only in rows that do not see all");
        }
    }
}

/* From which number of keys on. */
static void suspect_lengths(suspects *s) {
    const attest_evidence *e = &s->e;
    const int longest_right = (int)e->shortest - 1;
    const double longer = share(e->longer_bad, e->longer_bad + e->longer_good);
    if (longest_right > 3 && longer > 0.9 && share(e->some[ATTEST_CLUE_LOST], e->clued) < 0.5) {
        add(s, CLASS_LSE, 74, "rows are right up to %d keys: parts are put together wrongly",
            longest_right);
        add(s, CLASS_UNDERFLOW, 72,
            "rows are right up to %d keys: what came before is not rescaled", longest_right);
    } else if (longest_right > 0 && e->longer_bad > 2 && e->longer_good > 0) {
        add(s, CLASS_TAIL, 66, "lengths from %d keys on fail, but not all of them",
            longest_right + 1);
        add(s, CLASS_UNDERFLOW, longest_right > 3 ? 60 : 0, "rows are right up to %d keys",
            longest_right);
    }
    if (needs(s, ATTEST_WITH_MASK) && needs(s, ATTEST_WITH_MANY_KEYS)) {
        add(s, CLASS_OPTION_IGNORED, 80, "masks are right up to some number of keys");
    }
}

/* What fails although much else passes. */
static void suspect_contrast(suspects *s) {
    const attest_evidence *e = &s->e;
    const int ordinary = bad_of(s, "mask-readback") + bad_of(s, "sizes") + bad_of(s, "heads");
    const int oracle = bad_of(s, "oracle"), poison = bad_of(s, "poison");
    if (ordinary + bad_of(s, "empty") == 0 && bad_of(s, "magnitude") > 0) {
        add(s, CLASS_MAXIMUM, 57, "only scores of unusual size go wrong");
    }
    if (ordinary + oracle + bad_of(s, "options") + bad_of(s, "magnitude") == 0 && poison > 0) {
        add(s, CLASS_HIDDEN_VALUE, 99,
            "rows change with data they may not see, and are right otherwise");
    } else if (poison > 0 && poison >= e->bad / 2) {
        add(s, CLASS_HIDDEN_VALUE, 70, "rows change with data they may not see");
    }
    if (bad_of(s, "sizes") == 0 && 2 * broke(s, "SPV-04") >= e->bad) {
        add(s, CLASS_UNDERFLOW, 94, "only the smallest numbers are lost");
    }
    if (ordinary + oracle == 0 && e->some[ATTEST_CLUE_SWALLOWED] == e->bad) {
        add(s, CLASS_NAN_SWALLOWED, 86,
            "every failure lacks a NaN or an infinity that should be there");
    }
    if (bad_of(s, "huge") == e->bad) {
        add(s, CLASS_INDEX_OVERFLOW, 96, "only offsets and counts beyond 16, 31 or 32 bits fail");
    }
    if (bad_of(s, "unseen") == e->bad) {
        add(s, CLASS_HIDDEN_VALUE, 90, "only the memory of keys that nobody sees is touched");
    }
}

/* What each failed check looks for in general: the weakest evidence. */
static void suspect_by_checks(suspects *s) {
    int votes[ATTEST_CLASSES] = {0};
    for (size_t i = 0; i < s->report->count; i++) {
        const attest_result *r = &s->report->entries[i].result;
        if (attest_verdict_is_bad(r->verdict) && attest_class_at(r->bug_class) != NULL) {
            votes[r->bug_class]++;
        }
    }
    /* Its kinds each stand for a class, and hardly anything else failed. */
    const int by_kind = bad_of(s, "magnitude") >= 0.7 * s->e.bad;
    for (int number = 1; number < ATTEST_CLASSES; number++) {
        if (by_kind && votes[number] > 0.5 * s->e.bad) {
            add(s, number, 93, "%d of %d failures are scores of the size that such a bug needs",
                votes[number], s->e.bad);
        }
        if (votes[number] > 0) {
            add(s, number, 10 + 45 * share(votes[number], s->e.bad),
                "%d of %d failures point there", votes[number], s->e.bad);
        }
    }
}

void attest_suspect(attest_report *report) {
    static const suspects none;
    suspects s = none;
    s.report = report;
    report->suspicions = 0;
    attest_evidence_take(&s.e, report);
    if (s.e.bad == 0) {
        return;
    }
    suspect_by_checks(&s);
    suspect_options(&s);
    suspect_explained(&s);
    suspect_known(&s);
    suspect_calls(&s);
    suspect_memory(&s);
    suspect_lengths(&s);
    suspect_places(&s);
    suspect_contrast(&s);
    for (int rank = 0; rank < ATTEST_MOST_SUSPICIONS; rank++) {
        const attest_suspicion *best = &s.of[0];
        for (int number = 1; number < ATTEST_CLASSES; number++) {
            const int taken = rank > 0 && report->diagnosis[0].bug_class == number;
            best = !taken && s.of[number].strength > best->strength ? &s.of[number] : best;
        }
        if (best->strength > 0) {
            report->diagnosis[report->suspicions++] = *best;
        }
    }
}
