/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From verdicts to a certificate: what "certified" means. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "certify/plan/names.h"
#include "certify/plan/space.h"
#include "certify/result/report.h"

const char attest_core_set[] =
    "SEM-04 SEM-06 SEM-07 MASK-04 NUM-01 NUM-04 NUM-07 MEM-01 MEM-02 MEM-03 MEM-06 ISO-02 ISO-06 "
    "ISO-07 DET-01 DET-02 DET-08 ERR-01 ERR-02 CAP-01 CAP-02 CAP-03";

void attest_report_free(attest_report *report) {
    for (size_t i = 0; i < report->count; i++) {
        attest_result_free(&report->entries[i].result);
        attest_exhibit_free(report->entries[i].exhibit);
    }
    free(report->entries);
    report->entries = NULL;
    report->count = 0;
}

__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size, const char *format,
                                                      ...) {
    size_t used = strlen(text);
    va_list arguments;
    if (used > 0) {
        used += (size_t)snprintf(text + used, size - used, "; ");
    }
    va_start(arguments, format);
    vsnprintf(text + (used < size ? used : size - 1), used < size ? size - used : 1, format,
              arguments);
    va_end(arguments);
}
#define ADD(text, ...) add(text, sizeof text, __VA_ARGS__)

static void count_entry(attest_certificate *c, const attest_result *result) {
    c->verdicts[result->verdict]++;
    for (int i = 0; i < attest_requirement_count(); i++) {
        attest_requirement_state *state = &c->state[i];
        state->not_applicable += attest_ids_has(&result->untestable, i);
        if (!attest_ids_has(&result->ids, i) && !attest_ids_has(&result->explanation.ids, i)) {
            continue;
        }
        if (result->verdict == ATTEST_PASS) {
            state->passed++;
        } else if (attest_verdict_is_bad(result->verdict)) {
            const int named = result->broken == i || attest_ids_has(&result->explanation.ids, i);
            state->bad += named;
            state->doubted += !named;
        } else if (result->verdict == ATTEST_WAIVED) {
            state->waived += result->broken < 0 || result->broken == i ||
                             attest_ids_has(&result->explanation.ids, i);
        } else if (result->verdict == ATTEST_VERDICT_UNSUPPORTED) {
            continue; /* declined: says nothing, for or against */
        } else {
            state->neutral++;
        }
    }
}

const char *attest_requirement_word(const attest_requirement_state *s) {
    return s->bad              ? "failed"
           : s->doubted        ? "in question"
           : s->passed         ? "passed"
           : s->waived         ? "waived"
           : s->neutral        ? "no pass"
           : s->not_applicable ? "not applicable"
                               : NULL;
}

/* What this transport could not show, although the plan asks for it. */
static void untested(attest_certificate *c) {
    char ids[128] = "";
    for (int i = 0; i < attest_requirement_count(); i++) {
        const char *word = attest_requirement_word(&c->state[i]);
        if (word != NULL && strcmp(word, "not applicable") == 0 && strlen(ids) < sizeof ids - 16) {
            strcat(strcat(ids, ids[0] ? ", " : ""), attest_requirement_at(i)->id);
        }
    }
    if (ids[0] != '\0') {
        ADD(c->restricted, "%s cannot be tested behind a program or Python", ids);
    }
}

/* The arithmetic models' own, at most: beyond it a kernel claims less than the model it names. */
#define MODEL_EXP_ULPS 4

static int below(int64_t limit, const int64_t *landmarks) {
    int64_t largest = 0;
    for (; *landmarks >= 0; landmarks++) {
        largest = *landmarks > largest ? *landmarks : largest;
    }
    return limit > 0 && limit < largest;
}

/* A domain that is smaller than the sizes the level asks for. */
static void limits(const attest_report *report, attest_certificate *c) {
    const attest_kernel_info *k = &report->kernel;
    attest_level level = ATTEST_SMOKE;
    while (level < ATTEST_EXHAUSTIVE && strcmp(report->level, attest_level_name(level)) != 0) {
        level++;
    }
    if (below(k->max_keys, attest_landmark_keys(level))) {
        ADD(c->restricted, "at most %lld keys", (long long)k->max_keys);
    }
    if (below(k->max_queries, attest_landmark_queries(level))) {
        ADD(c->restricted, "at most %lld queries", (long long)k->max_queries);
    }
    if (below(k->max_head_size, attest_landmark_sizes(level))) {
        ADD(c->restricted, "head size at most %lld", (long long)k->max_head_size);
    }
    if (k->exp_ulps > MODEL_EXP_ULPS) {
        ADD(c->restricted, "exp within %g ulp, far from its model's", k->exp_ulps);
    }
}

static void restrictions(const attest_report *report, attest_certificate *c) {
    static const char *const rungs[] = {"none", "finite values", "extreme values",
                                        "NaN and infinity in K"};
    const attest_kernel_info *k = &report->kernel;
    if (k->max_abs_score > 0) {
        ADD(c->restricted, "scores up to %g", k->max_abs_score);
    }
    limits(report, c);
    if (k->finite_only) {
        ADD(c->restricted, "finite inputs only");
    }
    if (k->isolation < ATTEST_ISOLATION_FULL) {
        ADD(c->restricted, "isolation from %s only, since 0*NaN is NaN (%s)", rungs[k->isolation],
            k->isolation == ATTEST_ISOLATION_BAD_KEYS ? "ISO-05" : "ISO-04, ISO-05");
    }
    untested(c);
    if (c->verdicts[ATTEST_VERDICT_UNSUPPORTED] > 0) {
        ADD(c->restricted, "%lld cases that supports() declines",
            (long long)c->verdicts[ATTEST_VERDICT_UNSUPPORTED]);
    }
    if (c->verdicts[ATTEST_WAIVED] > 0) {
        ADD(c->restricted, "%lld cases waived", (long long)c->verdicts[ATTEST_WAIVED]);
        for (int i = 0; i < attest_requirement_count(); i++) {
            if (c->state[i].waived > 0) {
                ADD(c->restricted, "%s waived", attest_requirement_at(i)->id);
            }
        }
    }
}

/* A kernel without an option that hides keys has nothing to isolate from within a row. */
#define HIDING                                                                                     \
    (ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_WINDOW_SIZE | ATTEST_KEY_LENGTHS | ATTEST_MASK_BOOL |  \
     ATTEST_MASK_ADD)

static void requirements(const attest_report *report, attest_certificate *c) {
    attest_ids core = {{0}};
    attest_ids_add(&core, attest_core_set);
    if (!(report->kernel.features & HIDING)) {
        attest_ids_remove(&core, "ISO-02");
    }
    for (int i = 0; i < attest_requirement_count(); i++) {
        const attest_requirement_state *state = &c->state[i];
        const char *id = attest_requirement_at(i)->id;
        /* What is waived is a restriction, and named as one. */
        const int open =
            state->passed == 0 && state->bad == 0 && state->doubted == 0 && state->waived == 0;
        if (attest_ids_has(&core, i) && open && state->not_applicable == 0) {
            ADD(c->reason, "%s of the core set has no meaningful pass", id);
        } else if (state->neutral > 0 && open) {
            ADD(c->reason, "%s has no meaningful pass", id);
        }
        if (strlen(c->reason) > sizeof c->reason - 80) {
            return;
        }
    }
}

/* All that is declared is required: each option and each type needs a case that passed with it. */
static void declared(const attest_report *report, attest_certificate *c) {
    uint64_t features = 0, types = 0;
    for (size_t i = 0; i < report->count; i++) {
        char why[ATTEST_MESSAGE_BYTES];
        attest_case one;
        if (report->entries[i].result.verdict == ATTEST_PASS &&
            attest_case_parse(&one, report->entries[i].line, why)) {
            features |= one.features;
            types |=
                UINT64_C(1) << one.q_type | UINT64_C(1) << one.kv_type | UINT64_C(1) << one.o_type;
        }
    }
    for (int bit = 0; attest_feature_table[bit] != NULL; bit++) {
        if (report->kernel.features >> bit & 1 && !(features >> bit & 1)) {
            ADD(c->reason, "%s is declared but no case passed with it", attest_feature_table[bit]);
        }
    }
    for (attest_dtype t = ATTEST_F32; t <= ATTEST_BF16; t++) {
        if (report->kernel.dtypes >> t & 1 && !(types >> t & 1)) {
            ADD(c->reason, "%s is declared but no case passed with it", attest_dtype_name(t));
        }
    }
}

attest_certificate attest_certificate_of(const attest_report *report) {
    attest_certificate c = {0};
    int64_t bad = 0;
    for (size_t i = 0; i < report->count; i++) {
        count_entry(&c, &report->entries[i].result);
        bad += attest_verdict_is_bad(report->entries[i].result.verdict);
    }
    restrictions(report, &c);
    if (report->load_error[0] != '\0') {
        ADD(c.reason, "the kernel cannot be loaded: %.400s", report->load_error);
    } else if (report->incomplete[0] != '\0') {
        ADD(c.reason, "%s", report->incomplete);
    }
    if (bad > 0) {
        ADD(c.reason, "%lld of %zu cases failed", (long long)bad, report->count);
    }
    if (report->load_error[0] == '\0' && c.verdicts[ATTEST_PASS] + bad == 0) {
        ADD(c.reason, "nothing ran");
    } else if (c.reason[0] == '\0') {
        if (report->kernel.isolation == ATTEST_ISOLATION_NONE) {
            ADD(c.reason, "the kernel promises no isolation (ISO-02)");
        }
        requirements(report, &c);
        declared(report, &c);
    }
    c.certified = c.reason[0] == '\0';
    return c;
}
