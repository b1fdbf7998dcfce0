/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shrink: makes a failing case smaller, field by field, while it fails the same requirement. */
#include <stdio.h>
#include <string.h>

#include "certify/cli/commands.h"
#include "certify/result/output.h"
#include "certify/diagnose/numpy_program.h"
#include "certify/diagnose/reproducer.h"

typedef struct search {
    const attest_setup *setup;
    const attest_settings *settings;
    const attest_check *check;
    attest_case best;
    attest_verdict verdict;
    int broken;
    int tried;
    double until; /* of attest_clock(); 0: as long as it takes */
} search;

static int still_fails(search *s, const attest_case *c) {
    if ((s->settings->stop != NULL && *s->settings->stop) ||
        (s->until > 0 && attest_clock() > s->until) || memcmp(c, &s->best, sizeof *c) == 0 ||
        !attest_kernel_covers(&s->setup->kernel, &s->setup->profile, c)) {
        return 0;
    }
    attest_result result;
    s->tried++;
    attest_run_case(s->setup->first, s->check, c, &result);
    int same = result.verdict == s->verdict && result.broken == s->broken;
    attest_result_free(&result);
    if (same) {
        s->best = *c;
    }
    return same;
}

/* Halves first, then steps of one: the smallest value reached in that way. */
static int shrink_size(search *s, int64_t *in_best, int64_t least) {
    int progress = 0;
    const size_t offset = (size_t)((char *)in_best - (char *)&s->best);
    for (int64_t step = *in_best - least; step > 0;) {
        attest_case c = s->best;
        int64_t *field = (int64_t *)(void *)((char *)&c + offset);
        *field -= step;
        if (in_best == &s->best.keys) { /* unit vectors keep their distance from the last key */
            c.base = c.base > step ? c.base - step : 0;
        }
        if (*field >= least && still_fails(s, &c)) {
            progress = 1;
        } else {
            step /= 2;
        }
    }
    return progress;
}

/* A failure may need a length like 1 mod 64, which halving misses: the shortest one that fails. */
static int scan_keys(search *s) {
    const int64_t last = s->best.keys < 512 ? s->best.keys : 512,
                  distance = s->best.keys - s->best.base;
    for (int64_t keys = 1; keys < last; keys++) {
        attest_case c = s->best;
        c.keys = keys;
        c.base = keys > distance ? keys - distance : 0;
        if (still_fails(s, &c)) {
            return 1;
        }
    }
    return 0;
}

static int shrink_heads(search *s) {
    attest_case c = s->best;
    c.q_heads = c.kv_heads = 1;
    if (still_fails(s, &c)) {
        return 1;
    }
    int progress = 0;
    while (s->best.kv_heads > 1) {
        c = s->best;
        c.q_heads = c.q_heads / c.kv_heads * (c.kv_heads - 1);
        c.kv_heads--;
        if (!still_fails(s, &c)) {
            break;
        }
        progress = 1;
    }
    while (s->best.q_heads > s->best.kv_heads) {
        c = s->best;
        c.q_heads -= c.kv_heads;
        if (!still_fails(s, &c)) {
            break;
        }
        progress = 1;
    }
    return progress;
}

static int drop_features(search *s) {
    static const uint64_t sets[] = {
        ATTEST_LSE,         ATTEST_SINKS,   ATTEST_ALIBI,       ATTEST_SOFTCAP,
        ATTEST_SCALE,       ATTEST_OFFSETS, ATTEST_CAUSAL,      ATTEST_CAUSAL | ATTEST_OFFSETS,
        ATTEST_KEY_LENGTHS, ATTEST_WINDOW,  ATTEST_WINDOW_SIZE, ATTEST_MASK_BOOL | ATTEST_MASK_ADD,
    };
    int progress = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        attest_case c = s->best;
        attest_case_without(&c, sets[i]);
        if (c.features == s->best.features) {
            continue;
        }
        progress |= still_fails(s, &c);
    }
    return progress;
}

static int plainer(search *s) {
    int progress = 0;
    attest_case c = s->best;
    c.layout = ATTEST_LAYOUT_DENSE;
    progress |= still_fails(s, &c);
    c = s->best;
    c.threads = 1;
    progress |= still_fails(s, &c);
    c = s->best;
    c.qk = ATTEST_RECIPE_ZERO;
    progress |= still_fails(s, &c);
    c = s->best;
    c.qk = ATTEST_RECIPE_COARSE;
    progress |= s->best.qk != ATTEST_RECIPE_ZERO && still_fails(s, &c);
    c = s->best;
    c.v = ATTEST_RECIPE_UNIT;
    progress |= still_fails(s, &c);
    return progress;
}

static int shrink(const attest_setup *setup, const attest_settings *settings,
                  const attest_check *check, const attest_result *failure, double seconds,
                  attest_case *c) {
    search s = {.setup = setup,
                .settings = settings,
                .check = check,
                .best = *c,
                .verdict = failure->verdict,
                .broken = failure->broken,
                .until = seconds > 0 ? attest_clock() + seconds : 0};
    scan_keys(&s);
    while (shrink_size(&s, &s.best.batch, 1) | shrink_heads(&s) | drop_features(&s) |
           shrink_size(&s, &s.best.keys, 0) | shrink_size(&s, &s.best.queries, 1) |
           shrink_size(&s, &s.best.head_size, 1) | shrink_size(&s, &s.best.value_size, 1) |
           plainer(&s)) {
    }
    scan_keys(&s);
    *c = s.best;
    return s.tried;
}

/* Runs the case once more, because a finished one leaves nothing staged. */
static int write_program(const char *path, const attest_setup *setup, const attest_check *check,
                         const attest_case *c, const attest_entry *entry) {
    attest_result again = {.verdict = ATTEST_PASS, .broken = -1};
    attest_output output;
    FILE *out = attest_output_open(&output, path);
    if (out == NULL) {
        return 0;
    }
    check->run(setup->first, c, &again);
    attest_result_free(&again);
    if (setup->target.kind == ATTEST_TARGET_OBJECT) {
        attest_reproducer(out, setup->first, entry);
    } else {
        attest_numpy_program(out, setup->first, entry);
    }
    return attest_output_close(&output);
}

int attest_shrink_and_tell(const attest_setup *setup, const attest_settings *settings,
                           const attest_report *report, const attest_check *check, double seconds,
                           attest_case *c) {
    attest_entry entry = {.result = {.verdict = ATTEST_NOT_RUN}};
    attest_run_case(setup->first, check, c, &entry.result);
    const attest_result failure = entry.result;
    attest_result_free(&entry.result);
    if (!attest_verdict_is_bad(failure.verdict)) {
        printf("the case does not fail: %s\n", attest_verdict_name(failure.verdict));
        return ATTEST_EXIT_CERTIFIED;
    }
    const int tried = shrink(setup, settings, check, &failure, seconds, c);
    attest_run_case(setup->first, check, c, &entry.result);
    attest_case_id(c, entry.id);
    attest_case_print(c, entry.line);
    memcpy(entry.check, c->check, sizeof entry.check);
    attest_report alone = *report;
    alone.level[0] = '\0';
    printf("shrunk in %d runs:\n", tried);
    const attest_style style = attest_style_of_terminal();
    attest_failure_text(stdout, &alone, &entry, &style);
    if (settings->output != NULL && !write_program(settings->output, setup, check, c, &entry)) {
        attest_trouble("the program cannot be written");
    }
    attest_result_free(&entry.result);
    return ATTEST_EXIT_NOT_CERTIFIED;
}

int attest_command_shrink(const attest_settings *settings) {
    char why[ATTEST_MESSAGE_BYTES] = "";
    attest_setup setup;
    attest_report report = {0};
    attest_case c;
    const attest_check *check = NULL;
    int opened = attest_setup_open(&setup, settings, settings->words[1], &report, why);
    int code = ATTEST_EXIT_TROUBLE;
    if (opened < 0) {
        attest_trouble(report.load_error);
    } else if (opened == 0 || !attest_case_named(settings->words[0], settings, &setup, &c, why)) {
        attest_trouble(why);
    } else if ((check = attest_check_find(c.check)) == NULL) {
        attest_trouble("the case's check does not exist");
    } else {
        code = attest_shrink_and_tell(&setup, settings, &report, check, settings->seconds, &c);
    }
    attest_setup_close(&setup);
    return code;
}
