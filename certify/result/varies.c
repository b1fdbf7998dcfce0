/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/result/varies.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct question {
    const char *requirement, *words;
    int operand; /* parameter 0 of the check "special", or ANY */
} question;

enum { ANY = -1, IN_Q, IN_K, IN_V };

static const question questions[] = {
    {"ISO-02", "other finite values behind the mask", ANY},
    {"ISO-03", "numbers up to the largest behind the mask", ANY},
    {"ISO-04", "NaN and infinities in hidden k", ANY},
    {"ISO-05", "NaN and infinities in hidden v", ANY},
    {"SPV-01", "a NaN in q", IN_Q},
    {"SPV-01", "a NaN in a visible k", IN_K},
    {"SPV-01", "a NaN in a visible v", IN_V},
    {"SPV-02", "an infinity in q", IN_Q},
    {"SPV-02", "an infinity in a visible k", IN_K},
    {"SPV-02", "an infinity in a visible v", IN_V},
    {"SPV-05", "a NaN or +inf in the mask", ANY},
    {"SEM-12", "rows that see nothing", ANY},
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static const struct {
    uint64_t feature;
    const char *words;
} spellings[] = {
    {ATTEST_CAUSAL, "causal flag"},     {ATTEST_MASK_BOOL, "boolean mask"},
    {ATTEST_MASK_ADD, "additive mask"}, {ATTEST_KEY_LENGTHS, "key lengths"},
    {ATTEST_WINDOW, "window"},
};
enum { SPELLINGS = sizeof spellings / sizeof *spellings, AXES = 2 };

/* Smallest and largest size with each verdict; [0] right, [1] wrong. */
typedef struct seen {
    int64_t count[2], least[2], most[2];
} seen;

typedef struct tally {
    seen axes[AXES], spelled[SPELLINGS];
} tally;

static void add(seen *s, int wrong, int64_t size) {
    if (s->count[wrong]++ == 0) {
        s->least[wrong] = s->most[wrong] = size;
    }
    s->least[wrong] = size < s->least[wrong] ? size : s->least[wrong];
    s->most[wrong] = size > s->most[wrong] ? size : s->most[wrong];
}

static void count(const attest_report *report, const question *q, tally *t) {
    const int index = attest_requirement_index(q->requirement);
    for (size_t i = 0; i < report->count; i++) {
        const attest_entry *entry = &report->entries[i];
        const int wrong = entry->result.verdict == ATTEST_FAIL;
        attest_case c;
        char why[ATTEST_MESSAGE_BYTES];
        const int asks = strcmp(entry->check, "poison") == 0 ||
                         strcmp(entry->check, "special") == 0 || strcmp(entry->check, "empty") == 0;
        if (!asks || !(wrong || entry->result.verdict == ATTEST_PASS) ||
            !attest_ids_has(&entry->result.ids, index) ||
            !attest_case_parse(&c, entry->line, why) ||
            (q->operand != ANY && c.parameter[0] != q->operand)) {
            continue;
        }
        add(&t->axes[0], wrong, c.queries);
        add(&t->axes[1], wrong, c.keys);
        int spelled = -1, ways = 0;
        for (int s = 0; s < SPELLINGS; s++) {
            if (c.features & spellings[s].feature) {
                spelled = s;
                ways++;
            }
        }
        if (ways == 1) { /* of several, any may be at fault */
            add(&t->spelled[spelled], wrong, 0);
        }
    }
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
say(attest_variation *v, const char *format, ...) {
    const size_t used = strlen(v->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(v->text + used, sizeof v->text - used, format, arguments);
    va_end(arguments);
}

static int say_sizes(const tally *t, attest_variation *v) {
    static const char *const names[AXES] = {"query rows", "keys"};
    int said = 0;
    for (int axis = 0; axis < AXES; axis++) {
        const seen *s = &t->axes[axis];
        if (s->count[0] == 0 || s->count[1] == 0) {
            continue;
        }
        if (s->most[0] < s->least[1]) {
            say(v, "%s right up to %lld %s, wrong from %lld on", said++ ? ";" : ":",
                (long long)s->most[0], names[axis], (long long)s->least[1]);
        } else if (s->most[1] < s->least[0]) {
            say(v, "%s wrong up to %lld %s, right from %lld on", said++ ? ";" : ":",
                (long long)s->most[1], names[axis], (long long)s->least[0]);
        }
    }
    return said;
}

/* Only where some spelling is always right and another one is not. */
static int say_spellings(const tally *t, attest_variation *v, int said) {
    for (int wrong = 0; wrong < 2; wrong++) {
        int either = 0;
        for (int s = 0; s < SPELLINGS; s++) {
            either |= t->spelled[s].count[0] > 0 && t->spelled[s].count[1] == 0 ? 1 : 0;
            either |= t->spelled[s].count[1] > 0 ? 2 : 0;
        }
        const char *between = NULL;
        for (int s = 0; s < SPELLINGS && either == 3; s++) {
            const seen *x = &t->spelled[s];
            if (wrong ? x->count[1] > 0 : x->count[0] > 0 && x->count[1] == 0) {
                const char *first = wrong && said ? ", wrong by "
                                    : said        ? "; right by "
                                                  : ": right by ";
                say(v, "%s%s", between ? between : first, spellings[s].words);
                between = " and ";
                said++;
            }
        }
    }
    return said;
}

int attest_varies(const attest_report *report, attest_variation list[ATTEST_MOST_VARIATIONS]) {
    int found = 0;
    for (int i = 0; i < QUESTIONS && found < ATTEST_MOST_VARIATIONS; i++) {
        tally t = {0};
        count(report, &questions[i], &t);
        attest_variation *v = &list[found];
        *v = (attest_variation){.text = ""};
        snprintf(v->requirement, sizeof v->requirement, "%s", questions[i].requirement);
        say(v, "%s", questions[i].words);
        found += say_spellings(&t, v, say_sizes(&t, v)) > 0;
    }
    return found;
}
