/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks attn_expf, attn_logf and attn_tanhf on all 2^32 inputs, or on a sample of them.
 *
 *   exhaustive_elementary [--only NAME] [--sample N] [--jobs N] [--json FILE]
 *
 * Every input: the result is the correctly rounded one (round to nearest even), every clause of
 * the contract in reference/arithmetic/elementary.h holds, and the function is monotone.
 *
 * The right answer comes from MPFR. Most inputs need no call of it: where libm's binary64 value,
 * widened by FILTER_BOUND on both sides, rounds to one binary32 number, that number is the answer.
 * The filter is thus trusted for a relative error of 2^-44, hundreds of times what glibc documents.
 * Every AUDIT_STRIDE-th input goes to MPFR in any case, whose value must lie in that interval.
 *
 * Prints TAP on standard output and a progress line on standard error.
 */
#define _POSIX_C_SOURCE 200809L

#include "reference/arithmetic/elementary.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <mpfr.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef EXHAUSTIVE_FLAGS
#define EXHAUSTIVE_FLAGS "unknown"
#endif

enum { CHUNK_BITS = 22, CHUNKS = 1 << (32 - CHUNK_BITS), PRINTED_MAX = 10, MAX_JOBS = 64 };
#define AUDIT_STRIDE 9973u
#define FILTER_BOUND 0x1p-44

typedef struct {
    const char *name;
    float (*function)(float);
    /* Whether the rounded value is known without evaluation, and that value. */
    bool (*known)(float x, float *value);
    double (*filter)(double);
    int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    /* The label of a contract clause that (x, y) breaks, or NULL. The clause `error` follows from
     * correct rounding. */
    const char *(*broken_clause)(float x, float y);
    const char *clauses;
} subject;

typedef struct {
    uint64_t inputs, mpfr_calls, misrounded, not_monotone, clause_failures, filter_failures;
    double max_ulp;
} tally;

static float float_of_bits(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static uint32_t bits_of_float(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* Key 0 is the negative NaN of largest payload, then -inf up to -0, +0 up to +inf, NaNs. */
static float float_of_key(uint32_t key) {
    return float_of_bits(key < 0x80000000u ? 0xffffffffu - key : key - 0x80000000u);
}

static bool same(float a, float b) {
    return bits_of_float(a) == bits_of_float(b) || (isnan(a) && isnan(b));
}

static const char *expf_broken(float x, float y) {
    if (isnan(x) != isnan(y))
        return "nan";
    if (isnan(x))
        return NULL;
    if (x == 0 && y != 1)
        return "one";
    if (x <= 0 && !(y >= 0 && y <= 1))
        return "unit";
    if (x >= 0 && !(y >= 1))
        return "grow";
    if (!(y >= 0))
        return "positive";
    if (signbit(y))
        return "no_minus";
    if (x == -INFINITY && y != 0)
        return "ninf";
    if (x == INFINITY && y != INFINITY)
        return "pinf";
    if (x <= 88 && isinf(y))
        return "overflow";
    return NULL;
}

static const char *logf_broken(float x, float y) {
    if (isnan(x))
        return isnan(y) ? NULL : "nan";
    if (x < 0)
        return isnan(y) ? NULL : "negative";
    if (isnan(y))
        return "finite";
    if (x == 0 && y != -INFINITY)
        return "zero";
    if (x == 1 && bits_of_float(y) != 0)
        return "one";
    if (isfinite(x) && x > 0 && !(y >= -104 && y <= 89))
        return "finite";
    if (x >= 1 && !(y >= 0))
        return "above";
    if (x <= 1 && !(y <= 0))
        return "below";
    if (x == INFINITY && y != INFINITY)
        return "pinf";
    return NULL;
}

static const char *tanhf_broken(float x, float y) {
    if (isnan(x) != isnan(y))
        return "nan";
    if (isnan(x))
        return NULL;
    if (!(y >= -1 && y <= 1))
        return "finite";
    if (x == 0 && bits_of_float(y) != bits_of_float(x))
        return "zero";
    if (x >= 0 && !(y >= 0 && y <= x))
        return "pos";
    if (x <= 0 && !(y <= 0 && y >= x))
        return "neg";
    if (x == INFINITY && y != 1)
        return "pinf";
    if (x == -INFINITY && y != -1)
        return "ninf";
    if (!same(attn_tanhf(-x), -y))
        return "odd";
    return NULL;
}

/* Beyond the range exp is below 2^-151 or above 2^128; for |x| < 2^-26 within 2^-25.9 of 1. */
static bool expf_known(float x, float *value) {
    *value = isnan(x) ? x : x < -105 ? 0 : x > 89 ? INFINITY : 1;
    return !(x >= -105 && x <= 89) || fabsf(x) < 0x1p-26f;
}

static bool logf_known(float x, float *value) {
    *value = x > 0 ? x : x == 0 ? -INFINITY : NAN;
    return !(x > 0 && x < INFINITY);
}

/* tanh(x) is within x^3/3 of x, which is a quarter of an ulp at 2^-12.3; beyond 10 near to +-1. */
static bool tanhf_known(float x, float *value) {
    *value = fabsf(x) > 10 ? copysignf(1, x) : x;
    return !(fabsf(x) >= 0x1p-13f && fabsf(x) <= 10);
}

static const subject subjects[] = {
    {"expf", attn_expf, expf_known, exp, mpfr_exp, expf_broken,
     "nan one unit grow positive no_minus ninf pinf overflow error"},
    {"logf", attn_logf, logf_known, log, mpfr_log, logf_broken,
     "nan negative zero one finite above below pinf error"},
    {"tanhf", attn_tanhf, tanhf_known, tanh, mpfr_tanh, tanhf_broken,
     "nan finite zero pos neg pinf ninf odd"},
};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

static double ulp_of(float y) {
    uint32_t exponent = bits_of_float(y) & 0x7f800000u;
    return exponent == 0 ? 0x1p-149 : (double)float_of_bits(exponent) * 0x1p-23;
}

static void report(const subject *s, const char *what, float x, float got, float want) {
    fprintf(stdout, "# %s: %s: x = %a (0x%08x), got %a, want %a\n", s->name, what, (double)x,
            (unsigned)bits_of_float(x), (double)got, (double)want);
}

/* 160 bits: no value of the three functions at a binary32 argument is that near to a tie. */
static float by_mpfr(const subject *s, float x, double low, double high, bool *inside) {
    mpfr_t v;
    mpfr_init2(v, 160);
    mpfr_set_flt(v, x, MPFR_RNDN);
    s->exact(v, v, MPFR_RNDN);
    float want = mpfr_get_flt(v, MPFR_RNDN);
    *inside = mpfr_cmp_d(v, low) >= 0 && mpfr_cmp_d(v, high) <= 0;
    mpfr_clear(v);
    return want;
}

/* The right answer for x; `audit` asks MPFR where it is not needed, too. */
static float expected(const subject *s, float x, bool audit, double *near, tally *t) {
    float known, want;
    bool is_known = s->known(x, &known), inside;
    *near = is_known ? known : s->filter(x);
    double width = fabs(*near) * FILTER_BOUND, low = *near - width, high = *near + width;
    want = is_known ? known : (float)low;
    if (!audit && (is_known || want == (float)high))
        return want;
    t->mpfr_calls++;
    want = by_mpfr(s, x, low, high, &inside);
    if (!(is_known ? same(known, want) : inside) && t->filter_failures++ < PRINTED_MAX)
        report(s, "the filter is wrong", x, (float)*near, want);
    return want;
}

static void check_input(const subject *s, float x, float y, bool audit, tally *t) {
    double near;
    float want = expected(s, x, audit, &near, t);
    t->inputs++;
    if (!same(y, want) && t->misrounded++ < PRINTED_MAX)
        report(s, "not correctly rounded", x, y, want);
    if (isfinite(y) && isfinite(near)) {
        double ulps = fabs((double)y - near) / ulp_of(y);
        if (ulps > t->max_ulp)
            t->max_ulp = ulps;
    }
    const char *label = s->broken_clause(x, y);
    if (label != NULL && t->clause_failures++ < PRINTED_MAX)
        report(s, label, x, y, want);
}

static void check_order(const subject *s, float x, float y, float y_before, tally *t) {
    if (y < y_before && t->not_monotone++ < PRINTED_MAX)
        report(s, "not monotone", x, y, y_before);
}

typedef struct {
    const subject *subject;
    pthread_mutex_t lock;
    unsigned next_chunk, done_chunks;
    tally total;
} sweep;

static void add_tally(tally *sum, const tally *t) {
    sum->inputs += t->inputs;
    sum->mpfr_calls += t->mpfr_calls;
    sum->misrounded += t->misrounded;
    sum->not_monotone += t->not_monotone;
    sum->clause_failures += t->clause_failures;
    sum->filter_failures += t->filter_failures;
    if (t->max_ulp > sum->max_ulp)
        sum->max_ulp = t->max_ulp;
}

static tally sweep_chunk(const subject *s, unsigned chunk) {
    tally t = {0};
    uint32_t first = (uint32_t)chunk << CHUNK_BITS;
    float before = first == 0 ? -INFINITY : s->function(float_of_key(first - 1));
    for (uint32_t i = 0; i < (uint32_t)1 << CHUNK_BITS; i++) {
        uint32_t key = first + i;
        float x = float_of_key(key), y = s->function(x);
        check_input(s, x, y, key % AUDIT_STRIDE == 0, &t);
        check_order(s, x, y, before, &t);
        before = y;
    }
    return t;
}

static void *sweep_worker(void *argument) {
    sweep *w = argument;
    pthread_mutex_lock(&w->lock);
    while (w->next_chunk < CHUNKS) {
        unsigned chunk = w->next_chunk++;
        pthread_mutex_unlock(&w->lock);
        tally t = sweep_chunk(w->subject, chunk);
        pthread_mutex_lock(&w->lock);
        add_tally(&w->total, &t);
        w->done_chunks++;
        if (isatty(STDERR_FILENO) || w->done_chunks % (CHUNKS / 8) == 0)
            fprintf(stderr, "%s%s: %3u %% of 2^32 inputs%s", isatty(STDERR_FILENO) ? "\r" : "",
                    w->subject->name, w->done_chunks * 100 / CHUNKS,
                    isatty(STDERR_FILENO) && w->done_chunks < CHUNKS ? "" : "\n");
    }
    pthread_mutex_unlock(&w->lock);
    mpfr_free_cache();
    return NULL;
}

static tally sweep_all(const subject *s, unsigned jobs) {
    sweep w = {.subject = s, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[MAX_JOBS];
    unsigned started = 0;
    while (started + 1 < jobs && pthread_create(&threads[started], NULL, sweep_worker, &w) == 0)
        started++;
    sweep_worker(&w);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    return w.total;
}

/* For each sign and exponent: mantissas at both ends and `random` more, each with its successor. */
static tally sample(const subject *s, unsigned random) {
    tally t = {0};
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (uint32_t binade = 0; binade < 512; binade++) {
        for (uint32_t i = 0; i < 8 + random; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            uint32_t mantissa = i < 4 ? i : i < 8 ? 0x7ffffbu + i - 3 : (uint32_t)(state >> 41);
            uint32_t key = binade << 23 | mantissa;
            float x = float_of_key(key), y = s->function(x);
            check_input(s, x, y, true, &t);
            if (key != UINT32_MAX)
                check_order(s, x, s->function(float_of_key(key + 1)), y, &t);
        }
    }
    return t;
}

static bool passed(const tally *t) {
    return t->misrounded == 0 && t->not_monotone == 0 && t->clause_failures == 0 &&
           t->filter_failures == 0;
}

static void write_json(FILE *f, const subject *s, const tally *t) {
#ifdef __clang__
    const char *compiler = "clang " __clang_version__;
#else
    const char *compiler = "gcc " __VERSION__;
#endif
    fprintf(f,
            "{\"function\": \"attn_%s\", \"inputs\": %" PRIu64 ", \"compiler\": \"%s\", "
            "\"flags\": \"%s\", \"max_ulp\": %.6f, \"misrounded\": %" PRIu64 ", "
            "\"not_monotone\": %" PRIu64 ", \"clause_failures\": %" PRIu64 ", "
            "\"clauses\": \"%s\", \"decided_by_mpfr\": %" PRIu64 "}\n",
            s->name, t->inputs, compiler, EXHAUSTIVE_FLAGS, t->max_ulp, t->misrounded,
            t->not_monotone, t->clause_failures, s->clauses, t->mpfr_calls);
}

static int usage(void) {
    fputs("usage: exhaustive_elementary [--only expf|logf|tanhf] [--sample N] [--jobs N] "
          "[--json FILE]\n",
          stderr);
    return 2;
}

static bool parse_unsigned(const char *text, unsigned low, unsigned high, unsigned *value) {
    char *end;
    errno = 0;
    unsigned long v = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || *text == '-' || v < low || v > high)
        return false;
    *value = (unsigned)v;
    return true;
}

int main(int argc, char **argv) {
    const char *only = NULL, *json = NULL;
    unsigned random = 0, jobs = 2;
    bool sampled = false;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value == NULL)
            return usage();
        if (strcmp(argv[i], "--only") == 0)
            only = value;
        else if (strcmp(argv[i], "--json") == 0)
            json = value;
        else if (strcmp(argv[i], "--sample") == 0 && parse_unsigned(value, 0, 1u << 20, &random))
            sampled = true;
        else if (!(strcmp(argv[i], "--jobs") == 0 && parse_unsigned(value, 1, MAX_JOBS, &jobs)))
            return usage();
    }
    FILE *out = NULL;
    if (json != NULL && (out = fopen(json, "w")) == NULL) {
        perror(json);
        return 2;
    }
    unsigned ran = 0, failed = 0;
    for (int i = 0; i < SUBJECTS; i++) {
        const subject *s = &subjects[i];
        if (only != NULL && strcmp(only, s->name) != 0)
            continue;
        tally t = sampled ? sample(s, random) : sweep_all(s, jobs);
        ran++;
        failed += !passed(&t);
        printf("%s %u - attn_%s: %" PRIu64 " inputs, max %.6f ulp, %" PRIu64 " misrounded, "
               "%" PRIu64 " not monotone, %" PRIu64 " clause failures, %" PRIu64 " by MPFR\n",
               passed(&t) ? "ok" : "not ok", ran, s->name, t.inputs, t.max_ulp, t.misrounded,
               t.not_monotone, t.clause_failures, t.mpfr_calls);
        fflush(stdout);
        if (out != NULL)
            write_json(out, s, &t);
    }
    if (out != NULL && fclose(out) != 0) {
        perror(json);
        return 2;
    }
    if (ran == 0)
        return usage();
    printf("1..%u\n", ran);
    return failed == 0 ? 0 : 1;
}
