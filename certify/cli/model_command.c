/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attest model: the tightest arithmetic that a kernel passes under, and why the next tighter fails.
 */
#include <stdio.h>
#include <string.h>

#include "certify/cli/commands.h"
#include "certify/run/discover.h"
#include "reference/oracle/model.h"

/* Checks whose verdicts a model decides. */
static const char numeric[] = "NUM-01,NUM-05,NUM-07";

typedef struct trial {
    int64_t passed;
    int fails;
    char why[ATTEST_MESSAGE_BYTES * 2], line[ATTEST_LINE_BYTES];
} trial;

static void take(trial *t, const attest_report *report) {
    for (size_t i = 0; i < report->count; i++) {
        const attest_entry *entry = &report->entries[i];
        const attest_result *r = &entry->result;
        t->passed += r->verdict == ATTEST_PASS;
        if (attest_verdict_is_bad(r->verdict) && !t->fails) {
            t->fails = 1;
            memcpy(t->line, entry->line, sizeof t->line);
            if (r->has_value && r->radius > 0) {
                snprintf(t->why, sizeof t->why,
                         "%s: %s %.9g, must be %.9g +- %.2g (%.3g times that)", entry->check,
                         r->in_lse ? "lse" : "o", r->actual, r->expected, r->radius, r->worst);
            } else {
                snprintf(t->why, sizeof t->why, "%s: %.300s", entry->check, r->what);
            }
        }
    }
}

/* 1, or 0 with a reason: nothing could be run. */
static int try_model(const attest_settings *given, const char *name, trial *t,
                     char why[ATTEST_MESSAGE_BYTES]) {
    attest_settings s = *given;
    attest_setup setup;
    attest_report report = {0};
    s.model_name = name;
    s.only = s.only != NULL ? s.only : numeric;
    s.first_failure = s.quiet = 1;
    *t = (trial){0};
    const int opened = attest_setup_open(&setup, &s, s.words[0], &report, why);
    int fine = opened == 1;
    if (opened < 0) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "%.250s", report.load_error);
    } else if (fine) {
        attest_discover(&setup, s.level, attest_run_until(&s), 0, &report.boundaries);
        attest_plan plan = {.level = s.level,
                            .seed = s.seed,
                            .kernel = &setup.kernel,
                            .profile = setup.profile,
                            .boundaries = &report.boundaries};
        fine = attest_plan_make(&plan, NULL) && attest_run(&setup, &s, &plan, &report, why);
        take(t, &report);
        attest_plan_free(&plan);
    }
    attest_setup_close(&setup);
    attest_report_free(&report);
    return fine;
}

static void print_why(const trial *t, const char *model, const char *target) {
    printf("  %-12s fails  %s\n", model, t->why);
    printf("               attest replay '%s' '%s' --model %s\n", t->line, target, model);
}

int attest_command_model(const attest_settings *s) {
    char why[ATTEST_MESSAGE_BYTES] = "";
    const char *fitting[16] = {NULL};
    int found = 0, interrupted = 0;
    printf("arithmetic of %s, level %s, seed %llu: tightest model first\n\n", s->words[0],
           attest_level_name(s->level), (unsigned long long)s->seed);
    for (int i = 0; attn_model_name(i) != NULL && !interrupted; i++) {
        const char *name = attn_model_name(i);
        const attn_model *model = attn_model_find(name);
        int implied = 0;
        for (int k = 0; k < found; k++) {
            implied |= attn_model_implies(attn_model_find(fitting[k]), model);
        }
        trial t;
        if (implied) {
            continue;
        }
        if (!try_model(s, name, &t, why)) {
            return attest_trouble(why);
        }
        interrupted = s->stop != NULL && *s->stop;
        if (t.fails) {
            print_why(&t, name, s->words[0]);
        } else if (t.passed == 0) {
            printf("  %-12s says nothing: every case is outside its domain\n", name);
        } else {
            printf("  %-12s passes (%lld cases)\n", name, (long long)t.passed);
            fitting[found] = name;
            found += found < 15;
        }
        fflush(stdout);
    }
    if (interrupted) {
        return attest_trouble("interrupted");
    }
    if (found == 0) {
        printf("\nno model fits: what fails is no matter of rounding (attest certify %s)\n",
               s->words[0]);
        return ATTEST_EXIT_NOT_CERTIFIED;
    }
    printf("\ndeclare .model = \"%s\"", fitting[0]);
    for (int k = 1; k < found; k++) {
        printf(" or \"%s\"", fitting[k]);
    }
    printf("; looser ones pass as well (spec/error-model.md, 9)\n");
    return ATTEST_EXIT_CERTIFIED;
}
