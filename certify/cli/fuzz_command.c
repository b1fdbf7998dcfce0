/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz: cases drawn until one fails or the time is over, for kernels without source. */
#include <stdio.h>

#include "certify/cli/commands.h"
#include "certify/host/process.h"
#include "certify/run/discover.h"
#include "certify/run/fuzz_plan.h"

#define SHRINK_SECONDS 60.0 /* a kernel that hangs costs its limit at every try */

typedef struct chase {
    attest_setup *setup;
    const attest_settings *settings;
    attest_report report;
    attest_fuzz_plan fuzz;
    double until, told; /* of attest_clock() */
    uint64_t cases, neutral;
    int found;
    attest_case failing;
} chase;

/* The first bad entry: every one before it has been run, however many jobs there were. */
static void look_through(chase *x, const attest_plan *plan) {
    for (size_t i = 0; i < x->report.count && !x->found; i++) {
        const attest_verdict verdict = x->report.entries[i].result.verdict;
        x->cases += verdict != ATTEST_NOT_RUN;
        x->neutral += verdict == ATTEST_MISTRUSTED || verdict == ATTEST_OUT_OF_DOMAIN ||
                      verdict == ATTEST_VERDICT_UNSUPPORTED;
        if (attest_verdict_is_bad(verdict)) {
            x->failing = plan->cases[i].c;
            x->found = 1;
        }
    }
}

static int over(const chase *x) {
    const attest_settings *s = x->settings;
    return x->found || (s->stop != NULL && *s->stop) || (s->cases > 0 && x->cases >= s->cases) ||
           (x->until > 0 && attest_clock() >= x->until);
}

static int one_round(chase *x, char why[ATTEST_MESSAGE_BYTES]) {
    attest_plan plan;
    attest_settings s = *x->settings;
    s.first_failure = s.quiet = 1;
    s.only = s.skip = NULL; /* the plan has what they leave */
    s.shard = s.shards = 1;
    s.began = attest_clock(); /* its time is what is left of the whole */
    s.seconds = x->until > 0 ? x->until - s.began : 0;
    s.seconds = x->until > 0 && s.seconds < 0.001 ? 0.001 : s.seconds;
    const uint64_t before = x->cases;
    int fine = attest_fuzz_plan_draw(&x->fuzz, &plan);
    if (!fine) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "not enough memory");
    }
    if (s.cases > 0 && plan.count > s.cases - x->cases) {
        plan.count = (size_t)(s.cases - x->cases);
    }
    fine = fine && attest_run(x->setup, &s, &plan, &x->report, why);
    if (fine) {
        look_through(x, &plan);
        attest_fuzz_plan_learn(&x->fuzz, &plan, &x->report);
        if (x->cases == before && !over(x)) { /* and the next round would be no better */
            snprintf(why, ATTEST_MESSAGE_BYTES, "%.200s",
                     plan.count == 0 ? "no case fits this kernel" : x->report.incomplete);
            fine = 0;
        }
    }
    attest_report_free(&x->report);
    attest_plan_free(&plan);
    return fine;
}

static void tell(chase *x) {
    double worst = 0;
    for (int i = 0; i < ATTEST_HUNT_POOL; i++) {
        worst = x->fuzz.worst[i] > worst ? x->fuzz.worst[i] : worst;
    }
    if (!x->settings->quiet && attest_clock() > x->told + 10) {
        fprintf(stderr, "attest: %llu cases, largest error %.3f of its radius\n",
                (unsigned long long)x->cases, worst);
        x->told = attest_clock();
    }
}

static int conclude(chase *x) {
    const uint64_t seed = x->settings->seed;
    if (!x->found) {
        printf("nothing found: %llu cases, of which %llu could show nothing; seed %llu\n",
               (unsigned long long)x->cases, (unsigned long long)x->neutral,
               (unsigned long long)seed);
        return x->cases > x->neutral ? ATTEST_EXIT_CERTIFIED
                                     : attest_trouble("no case could show anything");
    }
    char line[ATTEST_LINE_BYTES];
    attest_case_print(&x->failing, line);
    printf("found at case %llu with seed %llu:\n  %s\n\n", (unsigned long long)x->cases,
           (unsigned long long)seed, line);
    fflush(stdout);
    const attest_check *check = attest_check_find(x->failing.check);
    int code = attest_shrink_and_tell(x->setup, x->settings, &x->report, check, SHRINK_SECONDS,
                                      &x->failing);
    if (code == ATTEST_EXIT_CERTIFIED) {
        printf("on its own it passes: the failure depends on calls made before\n");
        code = ATTEST_EXIT_NOT_CERTIFIED;
    }
    return code;
}

int attest_command_fuzz(const attest_settings *s) {
    char why[ATTEST_MESSAGE_BYTES] = "";
    attest_setup setup;
    chase x = {.setup = &setup, .settings = s};
    int opened = attest_setup_open(&setup, s, s->words[0], &x.report, why);
    int code = ATTEST_EXIT_TROUBLE;
    if (opened < 0) {
        printf("not loaded: %s\n", x.report.load_error);
        code = ATTEST_EXIT_NOT_CERTIFIED;
    } else if (opened == 0) {
        attest_trouble(why);
    } else {
        x.fuzz = (attest_fuzz_plan){.seed = s->seed,
                                    .kernel = &setup.kernel,
                                    .profile = setup.profile,
                                    .only = s->only,
                                    .skip = s->skip};
        attest_boundaries boundaries;
        const double seconds = s->seconds > 0 ? s->seconds : s->cases > 0 ? 0 : 60;
        attest_discover(&setup, s->level,
                        seconds > 0 ? attest_clock() + seconds : attest_run_until(s),
                        s->first_failure, &boundaries);
        attest_fuzz_plan_near(&x.fuzz, &boundaries);
        x.told = attest_clock();
        x.until = seconds > 0 ? attest_clock() + seconds : 0;
        int fine = 1;
        while (fine && !over(&x)) {
            fine = one_round(&x, why);
            tell(&x);
        }
        code = fine ? conclude(&x) : attest_trouble(why);
    }
    attest_setup_close(&setup);
    return code;
}
