/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/run/run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "certify/diagnose/causes.h"
#include "certify/diagnose/closeup.h"
#include "certify/diagnose/postmortem.h"
#include "certify/result/waiver.h"

/* A kernel that has to be stopped or cannot be loaded any more would cost its limit every case. */
enum { MOST_STOPS = 5, MOST_FAILED_STARTS = 3 };
/* Of a budget, when the last case begins; the rest is for a second look at failures. */
#define CASES_SHARE 0.85
/* Pages of a sealed file cannot be given back, so a session that has grown starts afresh. */
#define MOST_TOUCHED_BYTES (UINT64_C(1) << 32)

typedef struct work {
    attest_setup *setup;
    const attest_settings *settings;
    const attest_planned **cases;
    size_t *order; /* in which they run; the report has them as planned */
    attest_report *report;
    size_t count;
    double start, until; /* until: of the cases of a budget, or 0 */
    atomic_size_t next, done;
    atomic_int stops, failed_starts, out_of_time, hopeless, failed;
    pthread_mutex_t lock; /* of what follows and of the terminal */
    size_t bad;
    double worst;
    int terminal;
} work;

static int stopped(const work *w) { return w->settings->stop != NULL && *w->settings->stop; }

double attest_run_until(const attest_settings *s) {
    static const double most[] = {
        [ATTEST_SMOKE] = 600,
        [ATTEST_QUICK] = 3600,
        [ATTEST_FULL] = 24 * 3600,
        [ATTEST_EXHAUSTIVE] = 7 * 24 * 3600,
    };
    return s->seconds > 0          ? s->began + s->seconds
           : s->budget_seconds > 0 ? 0
                                   : s->began + most[s->level];
}

static int may_go_on(work *w) {
    if (stopped(w) || atomic_load(&w->hopeless) || atomic_load(&w->failed)) {
        return 0;
    }
    const double limit = attest_run_until(w->settings), now = attest_clock();
    if ((limit > 0 && now > limit) || (w->until > 0 && now > w->until)) {
        atomic_store(&w->out_of_time, 1);
        return 0;
    }
    return 1;
}

static void progress(work *w, const attest_entry *entry) {
    const size_t done = atomic_fetch_add(&w->done, 1) + 1;
    const double seconds = attest_clock() - w->start;
    pthread_mutex_lock(&w->lock);
    w->bad += attest_verdict_is_bad(entry->result.verdict) ? 1 : 0;
    if (entry->result.verdict == ATTEST_PASS && entry->result.worst > w->worst) {
        w->worst = entry->result.worst;
    }
    const double rate = seconds > 0 ? (double)done / seconds : 0;
    if (w->terminal) {
        fprintf(stderr, "\r\033[K%zu/%zu cases  %.0f/s  %.0f s left  %zu bad  worst %.3f  %s", done,
                w->count, rate, rate > 0 ? (double)(w->count - done) / rate : 0, w->bad, w->worst,
                entry->check);
        if (done == w->count) {
            fprintf(stderr, "\r\033[K");
        }
    } else if (!w->settings->quiet && (done % 200 == 0 || done == w->count)) {
        fprintf(stderr, "attest: %zu of %zu cases, %zu bad\n", done, w->count, w->bad);
    }
    pthread_mutex_unlock(&w->lock);
}

static void note_trouble(work *w, attest_workbench *bench, const attest_result *result) {
    if ((result->verdict == ATTEST_TIMEOUT || bench->outcome.ending == ATTEST_ENDING_STOPPED) &&
        atomic_fetch_add(&w->stops, 1) + 1 >= MOST_STOPS) {
        atomic_store(&w->hopeless, 1);
    }
    if (bench->session.alive || attest_verdict_is_bad(result->verdict) == 0) {
        atomic_store(&w->failed_starts, 0);
    } else if (bench->outcome.ending >= ATTEST_ENDING_NOT_STARTED &&
               atomic_fetch_add(&w->failed_starts, 1) + 1 >= MOST_FAILED_STARTS) {
        atomic_store(&w->hopeless, 2);
    }
}

static void freshen(work *w, attest_workbench *bench) {
    if (bench->session.arena.touched > MOST_TOUCHED_BYTES) {
        attest_kernel_info info = bench->session.info;
        attest_session_close(&bench->session);
        if (!attest_session_open(&bench->session, &w->setup->target, &w->setup->host)) {
            atomic_store(&w->hopeless, 2);
        }
        bench->session.info = info;
    }
}

static void run_some(work *w, attest_workbench *bench) {
    size_t place;
    while (may_go_on(w) && (place = atomic_fetch_add(&w->next, 1)) < w->count) {
        const size_t i = w->order[place];
        attest_entry *entry = &w->report->entries[i];
        bench->tape = w->setup->tape;
        bench->number = i;
        attest_run_case(bench, w->cases[i]->check, &w->cases[i]->c, &entry->result);
        bench->tape = NULL;
        note_trouble(w, bench, &entry->result);
        if (w->settings->first_failure && attest_verdict_is_bad(entry->result.verdict)) {
            atomic_store(&w->failed, 1);
        }
        progress(w, entry);
        freshen(w, bench);
    }
}

static void *job(void *argument) {
    work *w = argument;
    attest_workbench *bench = calloc(1, sizeof *bench);
    if (bench != NULL && attest_session_open(&bench->session, &w->setup->target, &w->setup->host)) {
        bench->profile = w->setup->profile;
        bench->model = w->setup->model;
        bench->wide_model = w->setup->wide_model;
        bench->session.info = w->setup->kernel;
        run_some(w, bench);
        attest_stage_free(&bench->stage);
        attest_session_close(&bench->session);
    }
    free(bench);
    return NULL;
}

static int chosen(const attest_settings *s, const attest_check *check) {
    return (s->only == NULL || attest_list_has_check(s->only, check)) &&
           (s->skip == NULL || !attest_list_has_check(s->skip, check));
}

/* One case of each check in turn: a wrong kernel fails some check soon, and each begins with what
 * fails most. */
static int take_turns(work *w) {
    size_t *start = calloc(w->count + 1, sizeof *start);
    size_t checks = 0, placed = 0;
    w->order = calloc(w->count + 1, sizeof *w->order);
    if (start == NULL || w->order == NULL) {
        free(start);
        return 0;
    }
    for (size_t i = 0; i < w->count; i++) {
        if (i == 0 || w->cases[i]->check != w->cases[i - 1]->check) {
            start[checks++] = i;
        }
    }
    start[checks] = w->count;
    for (size_t round = 0; placed < w->count; round++) {
        for (size_t k = 0; k < checks; k++) {
            if (start[k] + round < start[k + 1]) {
                w->order[placed++] = start[k] + round;
            }
        }
    }
    free(start);
    return 1;
}

/* Every case gets an entry before any runs: what is not reached is NOT_RUN. */
static int prepare(work *w, const attest_plan *plan) {
    const attest_settings *s = w->settings;
    w->cases = calloc(plan->count + 1, sizeof *w->cases);
    w->report->entries = calloc(plan->count + 1, sizeof *w->report->entries);
    if (w->cases == NULL || w->report->entries == NULL) {
        return 0;
    }
    for (size_t i = 0; i < plan->count; i++) {
        const attest_planned *planned = &plan->cases[i];
        if (i % (size_t)s->shards != (size_t)(s->shard - 1) || !chosen(s, planned->check)) {
            continue;
        }
        attest_entry *entry = &w->report->entries[w->count];
        entry->result = (attest_result){.verdict = ATTEST_NOT_RUN, .broken = -1, .keys_seen = -1};
        memcpy(entry->id, planned->id, sizeof entry->id);
        memcpy(entry->check, planned->c.check, sizeof entry->check);
        attest_case_print(&planned->c, entry->line);
        w->cases[w->count++] = planned;
    }
    w->report->count = w->count;
    w->report->planned = plan->count;
    return take_turns(w);
}

static void conclude(work *w) {
    attest_report *r = w->report;
    const attest_settings *s = w->settings;
    char *text = r->incomplete;
    const size_t size = sizeof r->incomplete;
    if (stopped(w)) {
        snprintf(text, size, "the run was interrupted");
    } else if (atomic_load(&w->out_of_time)) {
        snprintf(text, size, "the run was cut by %s after %zu of %zu cases",
                 s->seconds > 0 ? "--time"
                 : w->until > 0 ? "--budget"
                                : "the limit of its level (--time)",
                 atomic_load(&w->done), w->count);
    } else if (atomic_load(&w->hopeless) == 1) {
        snprintf(text, size, "the run was given up: %d cases had to be stopped", MOST_STOPS);
    } else if (atomic_load(&w->hopeless)) {
        snprintf(text, size, "the run was given up: the kernel could not be loaded again");
    } else if (atomic_load(&w->failed)) {
        snprintf(text, size, "the run ended at its first failure");
    } else if (s->only != NULL || s->skip != NULL) {
        snprintf(text, size, "the run was cut by --only or --skip");
    } else if (s->shards > 1) {
        snprintf(text, size, "one shard of %d: merge them all", s->shards);
    }
    r->spent.cases = attest_clock() - w->start;
}

int attest_run(attest_setup *setup, const attest_settings *settings, const attest_plan *plan,
               attest_report *report, char why[ATTEST_MESSAGE_BYTES]) {
    work w = {.setup = setup, .settings = settings, .report = report, .start = attest_clock()};
    if (settings->budget_seconds > 0) {
        w.until = settings->began + CASES_SHARE * settings->budget_seconds;
    }
    w.terminal = isatty(2) && !settings->quiet;
    pthread_mutex_init(&w.lock, NULL);
    pthread_t threads[256];
    int started = 0, fine = prepare(&w, plan);
    if (!fine) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "not enough memory");
    }
    for (int i = 1; fine && i < settings->jobs && (size_t)i < w.count; i++) {
        started += pthread_create(&threads[started], NULL, job, &w) == 0;
    }
    if (fine) {
        run_some(&w, setup->first);
    }
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_mutex_destroy(&w.lock);
    if (fine) {
        const double end =
            settings->budget_seconds > 0 ? settings->began + settings->budget_seconds : 0;
        const double limit = attest_run_until(settings);
        conclude(&w);
        const double again = attest_clock();
        if (!stopped(&w) && !atomic_load(&w.hopeless) &&
            (end > 0 || !atomic_load(&w.out_of_time))) {
            attest_postmortem(setup->first, settings->stop, end > 0 ? end : limit, w.cases, report);
        }
        attest_waive(settings->waivers, time(NULL), report);
        attest_causes_find(report);
        if (!stopped(&w) && !atomic_load(&w.hopeless) && (limit == 0 || attest_clock() < limit)) {
            attest_closeups(setup->first, settings->stop, report);
        }
        report->spent.again = attest_clock() - again;
        report->seconds = attest_clock() - settings->began;
    }
    free(w.cases);
    free(w.order);
    return fine;
}
