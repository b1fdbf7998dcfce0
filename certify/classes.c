/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "classes.h"

#include <stdio.h>
#include <string.h>

#include "variants.h"

const char *attest_class_title(int number) {
    static const char *const titles[ATTEST_CLASSES + 1] = {
        NULL,
        "causal diagonal in the wrong place",
        "a mask or option that is silently not applied",
        "a mask applied where none was asked for",
        "window or length off by one",
        "window or rows against loop bounds and chunks",
        "cache and step-by-step use",
        "sequences that leak into each other",
        "boolean mask inverted or converted",
        "mask type misread",
        "mask broadcast or mask strides",
        "bit-packed masks",
        "rows that see nothing",
        "tiles that hold nothing visible",
        "a finite stand-in for minus infinity",
        "softmax without, or with a wrong, maximum",
        "scores overflow a narrow type",
        "output sum overflows or drifts",
        "underflow or flushed denormals",
        "fast-math or a coarse exp",
        "hidden values reach the output (0 * NaN)",
        "genuine NaN or infinity swallowed",
        "softcap ignored or in the wrong order",
        "tail of a tile, length not divisible",
        "head size or scale assumptions",
        "strides ignored",
        "KV head mapping",
        "32-bit index overflow",
        "access out of bounds, scratch too small",
        "paged cache",
        "output or scratch not written",
        "empty or single-element inputs",
        "races and non-determinism",
        "result depends on batch or neighbours",
        "LSE output and merging",
        "attention sinks",
        "ALiBi",
        "backward only",
        "paths that disagree",
        "the caller's data overwritten",
    };
    return number > 0 && number <= ATTEST_CLASSES ? titles[number] : NULL;
}

/* How many failed cases a defect explains; the best one, or -1. */
static int best_defect(const attest_report *report, int *explained, int *examined) {
    int votes[128] = {0}, best = -1;
    *examined = 0;
    for (size_t i = 0; i < report->count; i++) {
        const attest_result *r = &report->entries[i].result;
        if (r->defects[0] == 0 && r->defects[1] == 0) {
            continue;
        }
        (*examined)++;
        for (int d = 0; d < attest_known_count(); d++) {
            votes[d] += (int)(r->defects[d / 64] >> d % 64 & 1);
        }
    }
    for (int d = 0; d < attest_known_count(); d++) {
        best = votes[d] > (best < 0 ? 0 : votes[best]) ? d : best;
    }
    *explained = best < 0 ? 0 : votes[best];
    return best;
}

static void failed_checks(const attest_report *report, int number, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < report->count; i++) {
        const attest_entry *e = &report->entries[i];
        if (attest_verdict_is_bad(e->result.verdict) && e->result.bug_class == number &&
            strstr(text, e->check) == NULL && used < size) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", e->check);
        }
    }
}

int attest_likely_class(const attest_report *report, char *why, size_t size) {
    int explained, examined, votes[ATTEST_CLASSES + 1] = {0}, likely = 0, bad = 0;
    const int defect = best_defect(report, &explained, &examined);
    for (size_t i = 0; i < report->count; i++) {
        const attest_result *r = &report->entries[i].result;
        if (attest_verdict_is_bad(r->verdict)) {
            bad++;
            votes[attest_class_title(r->bug_class) ? r->bug_class : 0]++;
        }
    }
    if (defect >= 0 && attest_known_class(defect) > 0 && 2 * explained >= examined) {
        snprintf(why, size, "the outputs of %d failed cases are those of the known defect \"%s\": %s",
                 explained, attest_known_name(defect),
                 attest_known_description(defect));
        return attest_known_class(defect);
    }
    for (int number = 1; number <= ATTEST_CLASSES; number++) {
        likely = votes[number] > votes[likely] || likely == 0 ? number : likely;
    }
    if (bad == 0 || votes[likely] == 0) {
        return 0;
    }
    char checks[200];
    failed_checks(report, likely, checks, sizeof checks);
    snprintf(why, size, "%d of %d failures point there (%s)", votes[likely], bad, checks);
    return likely;
}
