/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fingerprint: which conventions does a kernel follow? Each probe is one small problem whose right
 * result differs between the answers; an answer is a value of a profile's field, or a known defect,
 * and counts if it gives exactly what the kernel gave. What a probe settles is used by the next.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/cli/commands.h"
#include "certify/cli/fingerprint_sizes.h"
#include "certify/diagnose/diagnose.h"
#include "certify/host/target.h"
#include "certify/plan/data.h"
#include "reference/defects/defects.h"

typedef enum field {
    SCALE,
    GQA,
    CORNER,
    CORNER_LENGTHS, /* the same field, asked with key lengths */
    WINDOW_FORM,
    MASK_WITH_CAUSAL,
    EMPTY_ROW,
    LSE_BASE,
    LSE_EMPTY,
    PROFILE_FIELDS,
    NO_FIELD
} field;

enum { MOST_ANSWERS = 5 };

typedef struct answer {
    const char *words;
    int value;  /* of the profile's field */
    int defect; /* or RIGHT */
} answer;

enum { RIGHT = ATTEST_DEFECTS };

typedef struct probe {
    const char *question;
    field settles;
    uint64_t needs, shapes;
    answer answers[MOST_ANSWERS];
} probe;

/* In this order: scale and heads first, because every later problem has them. */
static const probe probes[] = {
    {"default scale",
     SCALE,
     0,
     0,
     {{"1/sqrt(D)", ATTN_SCALE_RSQRT_D, RIGHT}, {"1", ATTN_SCALE_ONE, RIGHT}}},
    {"KV head of a query head",
     GQA,
     0,
     ATTEST_CAN_GQA,
     {{"h / (Hq/Hkv), grouped", ATTN_GQA_GROUPED, RIGHT},
      {"h mod Hkv, tiled", ATTN_GQA_TILED, RIGHT}}},
    {"causal corner",
     CORNER,
     ATTEST_CAUSAL,
     0,
     {{"bottom right", ATTN_CORNER_BOTTOM_RIGHT, RIGHT},
      {"top left", ATTN_CORNER_TOP_LEFT, RIGHT}}},
    {"causal corner with key lengths",
     CORNER_LENGTHS,
     ATTEST_CAUSAL | ATTEST_KEY_LENGTHS,
     0,
     {{"bottom right", ATTN_CORNER_BOTTOM_RIGHT, RIGHT},
      {"top left", ATTN_CORNER_TOP_LEFT, RIGHT}}},
    {"window of size W, with causal",
     WINDOW_FORM,
     ATTEST_WINDOW_SIZE | ATTEST_CAUSAL,
     0,
     {{"W keys, the own one included", ATTN_WINDOW_W_KEYS, RIGHT},
      {"W keys and the own one", ATTN_WINDOW_LEFT_W, RIGHT},
      {"W to either side", ATTN_WINDOW_BOTH_W, RIGHT}}},
    {"window of size W, alone",
     WINDOW_FORM,
     ATTEST_WINDOW_SIZE,
     0,
     {{"W keys to the left, the own one included", ATTN_WINDOW_W_KEYS, RIGHT},
      {"W to the left, no limit to the right", ATTN_WINDOW_LEFT_W, RIGHT},
      {"W to either side", ATTN_WINDOW_BOTH_W, RIGHT}}},
    {"mask together with causal",
     MASK_WITH_CAUSAL,
     ATTEST_MASK_BOOL | ATTEST_CAUSAL,
     0,
     {{"both apply", ATTN_MASK_AND_CAUSAL, RIGHT},
      {"the mask is ignored", ATTN_MASK_IGNORED, RIGHT},
      {"causal is ignored", ATTN_CAUSAL_IGNORED, RIGHT}}},
    {"output of an empty row",
     EMPTY_ROW,
     ATTEST_MASK_BOOL,
     0,
     {{"0", ATTN_EMPTY_ZERO, RIGHT},
      {"NaN", ATTN_EMPTY_NAN, RIGHT},
      {"mean of all values", ATTN_EMPTY_MEAN_OF_ALL, RIGHT}}},
    {"base of the LSE",
     LSE_BASE,
     ATTEST_LSE,
     0,
     {{"e", ATTN_LSE_NATURAL, RIGHT}, {"2", ATTN_LSE_BASE_2, RIGHT}}},
    {"LSE of an empty row",
     LSE_EMPTY,
     ATTEST_LSE | ATTEST_MASK_BOOL,
     0,
     {{"-inf", ATTN_LSE_EMPTY_NEG_INF, RIGHT}, {"+inf", ATTN_LSE_EMPTY_POS_INF, RIGHT}}},
    {"origin of a window",
     NO_FIELD,
     ATTEST_WINDOW | ATTEST_OFFSETS,
     0,
     {{"the row's position i + offset", 0, RIGHT},
      {"the row number i", 0, ATTEST_WINDOW_NOT_SHIFTED}}},
    {"softcap",
     NO_FIELD,
     ATTEST_SOFTCAP | ATTEST_MASK_ADD,
     0,
     {{"before bias and mask", 0, RIGHT},
      {"after bias and mask", 0, ATTEST_SOFTCAP_AFTER_MASK},
      {"a clamp, not tanh", 0, ATTEST_SOFTCAP_CLAMPS},
      {"ignored", 0, ATTEST_SOFTCAP_IGNORED}}},
    {"sink",
     NO_FIELD,
     ATTEST_SINKS,
     0,
     {{"joins the denominator", 0, RIGHT},
      {"is scaled first", 0, ATTEST_SINK_IS_SCALED},
      {"ignored", 0, ATTEST_SINK_IGNORED}}},
    {"ALiBi",
     NO_FIELD,
     ATTEST_ALIBI | ATTEST_LSE,
     0,
     {{"-slope |i + offset - j|", 0, RIGHT},
      {"slope j (another LSE)", 0, ATTEST_ALIBI_BY_KEY},
      {"not shifted by the offset", 0, ATTEST_ALIBI_NOT_SHIFTED},
      {"signed distance", 0, ATTEST_ALIBI_SIGNED}}},
    {"mask of rank 3",
     NO_FIELD,
     ATTEST_MASK_BOOL,
     0,
     {{"[heads, queries, keys]", 0, RIGHT},
      {"[batch, queries, keys]", 0, ATTEST_MASK_HEADS_ARE_BATCH}}},
    {"NaN behind the mask",
     NO_FIELD,
     ATTEST_MASK_BOOL,
     0,
     {{"never reaches the output", 0, RIGHT}, {"0 * NaN does", 0, ATTEST_HIDDEN_TIMES_ZERO}}},
};
enum { PROBES = sizeof probes / sizeof *probes };

static attest_case problem_of(const attest_setup *setup, int number) {
    const probe *p = &probes[number];
    attest_case c = attest_case_default("fingerprint");
    const attest_plan types = {.kernel = &setup->kernel};
    c.seed = 1;
    c.q_type = c.kv_type = c.o_type = attest_plan_type(&types);
    c.batch = 2;
    c.q_heads = c.kv_heads = 2;
    c.queries = 4;
    c.keys = 7;
    c.head_size = c.value_size = 4;
    c.features = p->needs;
    c.q_heads = p->settles == GQA ? 6 : c.q_heads;
    if (p->settles != SCALE && (setup->kernel.features & ATTEST_SCALE)) {
        c.features |= ATTEST_SCALE;
        c.scale = 0.25;
    }
    if (c.features & ATTEST_ALIBI) { /* at offset 0 the forms of ALiBi agree */
        c.features |= setup->kernel.features & ATTEST_OFFSETS;
    }
    c.window_left = c.features & ATTEST_WINDOW ? 1 : ATTEST_UNBOUNDED;
    c.window_right = c.features & ATTEST_WINDOW ? 1 : ATTEST_UNBOUNDED;
    c.window_size = c.features & ATTEST_WINDOW_SIZE ? 2 : 0;
    c.softcap = c.features & ATTEST_SOFTCAP ? 0.75 : 0;
    c.lengths = ATTEST_LIST_RAGGED;
    c.offsets = ATTEST_LIST_ONE;
    if (c.features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
        const attest_dtype wide = c.q_type == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
        const int rank_3 = strcmp(p->question, "mask of rank 3") == 0;
        c.mask_type = c.features & ATTEST_MASK_BOOL ? ATTEST_BOOL : wide;
        c.mask_rank = rank_3 ? 3 : 2;
        c.mask_full = rank_3 ? 14 : 12;
        c.mask = p->settles == EMPTY_ROW || p->settles == LSE_EMPTY ? ATTEST_MASK_NONE_VISIBLE
                                                                    : ATTEST_MASK_RANDOM;
    }
    return c;
}

static void set_field(attn_profile *profile, field f, int value) {
    switch (f) {
    case SCALE:
        profile->default_scale = (attn_default_scale)value;
        break;
    case GQA:
        profile->gqa_order = (attn_gqa_order)value;
        break;
    case CORNER:
    case CORNER_LENGTHS:
        profile->corner = (attn_corner)value;
        break;
    case WINDOW_FORM:
        profile->window_form = (attn_window_form)value;
        break;
    case MASK_WITH_CAUSAL:
        profile->mask_with_causal = (attn_mask_with_causal)value;
        break;
    case EMPTY_ROW:
        profile->empty_row = (attn_empty_row)value;
        break;
    case LSE_BASE:
        profile->lse_base = (attn_lse_base)value;
        break;
    case LSE_EMPTY:
        profile->lse_empty = (attn_lse_empty)value;
        break;
    default:
        break;
    }
}

/* NaN in every key that no row sees. */
static void poison_hidden(attest_workbench *bench) {
    const attn_normal *n = &bench->normal;
    unsigned char visible[64];
    for (int64_t j = 0; j < n->keys; j++) {
        int seen = 0;
        for (int64_t row = 0; row < n->batch * n->q_heads * n->queries; row++) {
            attn_visible_keys(n, row / (n->q_heads * n->queries), row / n->queries % n->q_heads,
                              row % n->queries, visible);
            seen |= visible[j];
        }
        for (int64_t b = 0; !seen && b < n->batch; b++) {
            for (int64_t e = 0; e < n->value_size; e++) {
                attest_put(&bench->stage.problem.v, b, 0, j, e, __builtin_nan(""));
                attest_put(&bench->stage.problem.v, b, 1, j, e, __builtin_nan(""));
            }
        }
    }
}

/* Bit a of the answer is set if answer a gives what the kernel gave; -1: it refused. */
static int ask(attest_setup *setup, int number, const attn_profile *known) {
    attest_workbench *bench = setup->first;
    const probe *p = &probes[number];
    const int hidden_nan = strcmp(p->question, "NaN behind the mask") == 0;
    attest_case c = problem_of(setup, number);
    attest_result result = {.verdict = ATTEST_PASS, .broken = -1};
    if (hidden_nan) {
        c.mask = ATTEST_MASK_HEAD;
    }
    bench->profile = *known;
    int built = attest_workbench_build(bench, &c, &result);
    if (built && hidden_nan) {
        poison_hidden(bench);
    }
    if (!built || !attest_workbench_forward(bench, ATTEST_PATTERN_NOISE, &result)) {
        return -1;
    }
    int matches = 0;
    for (int a = 0; a < MOST_ANSWERS && p->answers[a].words != NULL; a++) {
        attn_profile candidate = *known;
        char why[ATTEST_MESSAGE_BYTES];
        set_field(&candidate, p->settles, p->answers[a].value);
        if (attn_normalise(&bench->normal, &bench->stage.problem, &candidate, 0, why) ==
                ATTEST_OK &&
            attest_reproduces(bench, p->answers[a].defect)) {
            matches |= 1 << a;
        }
    }
    return matches;
}

/* What is known of each field: bit v is set while value v is possible. */
typedef struct knowledge {
    attn_profile profile; /* the likeliest value of each */
    unsigned possible[PROFILE_FIELDS];
} knowledge;

static void learn(knowledge *k, int number, int matches) {
    const probe *p = &probes[number];
    unsigned values = 0;
    int first = -1;
    for (int a = 0; matches > 0 && a < MOST_ANSWERS && p->answers[a].words != NULL; a++) {
        if (matches >> a & 1) {
            values |= 1u << p->answers[a].value;
            first = first < 0 ? a : first;
        }
    }
    if (p->settles < PROFILE_FIELDS && matches >= 0) { /* no known way: no profile fits */
        k->possible[p->settles] &= values;
        if (values != 0 && p->settles != CORNER_LENGTHS) {
            set_field(&k->profile, p->settles, p->answers[first].value);
        }
    }
}

/* With and without lengths are two questions about one field of three values. */
static int corner_fits(const knowledge *k, attn_corner corner) {
    const unsigned plain =
        corner == ATTN_CORNER_BOTTOM_RIGHT ? ATTN_CORNER_BOTTOM_RIGHT : ATTN_CORNER_TOP_LEFT;
    const unsigned lengths =
        corner == ATTN_CORNER_TOP_LEFT ? ATTN_CORNER_TOP_LEFT : ATTN_CORNER_BOTTOM_RIGHT;
    return (k->possible[CORNER] >> plain & 1) && (k->possible[CORNER_LENGTHS] >> lengths & 1);
}

static int fits(const knowledge *k, const attn_profile *p) {
    const int open_row = p->empty_row == ATTN_EMPTY_UNSPECIFIED;
    const int open_lse = p->lse_empty == ATTN_LSE_EMPTY_UNSPECIFIED;
    return corner_fits(k, p->corner) && (k->possible[SCALE] >> p->default_scale & 1) &&
           (k->possible[GQA] >> p->gqa_order & 1) &&
           (k->possible[WINDOW_FORM] >> p->window_form & 1) &&
           (k->possible[MASK_WITH_CAUSAL] >> p->mask_with_causal & 1) &&
           (open_row || (k->possible[EMPTY_ROW] >> p->empty_row & 1)) &&
           (k->possible[LSE_BASE] >> p->lse_base & 1) &&
           (open_lse || (k->possible[LSE_EMPTY] >> p->lse_empty & 1));
}

static void note_answers(attest_report *report, int number, int matches, const char *why) {
    const probe *p = &probes[number];
    if (report->convention_count == ATTEST_MOST_CONVENTIONS) {
        return;
    }
    attest_convention *c = &report->conventions[report->convention_count++];
    const char *separator = "";
    snprintf(c->question, sizeof c->question, "%s", p->question);
    snprintf(c->answer, sizeof c->answer, "%s%.140s",
             matches < 0    ? "refused: "
             : matches == 0 ? "none of the known ways"
                            : "",
             matches < 0 ? why : "");
    for (int a = 0; matches > 0 && a < MOST_ANSWERS && p->answers[a].words != NULL; a++) {
        const size_t used = strlen(c->answer);
        if (matches >> a & 1) {
            snprintf(c->answer + used, sizeof c->answer - used, "%s%s", separator,
                     p->answers[a].words);
            separator = " or ";
        }
    }
}

static void note_profiles(attest_report *report, const knowledge *k) {
    static const char *const places[] = {"../../spec/profiles", "../share/attest/profiles", NULL};
    char path[ATTEST_PATH_BYTES], why[ATTEST_MESSAGE_BYTES];
    struct dirent **names = NULL;
    int count = attest_find_own(path, places) ? scandir(path, &names, NULL, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(report->fitting);
        char *end = strrchr(names[i]->d_name, '.');
        attn_profile profile;
        if (end != NULL && strcmp(end, ".json") == 0) {
            *end = '\0';
            if (attest_profile_find(names[i]->d_name, &profile, why) && fits(k, &profile)) {
                snprintf(report->fitting + used, sizeof report->fitting - used, "%s%s",
                         used > 0 ? " " : "", names[i]->d_name);
            }
        }
        free(names[i]);
    }
    free(names);
}

attn_profile attest_fingerprint(attest_setup *setup, const attest_settings *s,
                                attest_report *report) {
    knowledge k = {.profile = attn_profile_attest};
    memset(k.possible, 0xff, sizeof k.possible);
    report->convention_count = 0;
    report->fitting[0] = '\0';
    for (int number = 0; number < PROBES && !*s->stop; number++) {
        const probe *p = &probes[number];
        if ((p->needs & ~setup->kernel.features) || (p->shapes & ~setup->kernel.shapes)) {
            continue;
        }
        const int matches = ask(setup, number, &k.profile);
        if (p->settles == MASK_WITH_CAUSAL && matches < 0) {
            k.possible[MASK_WITH_CAUSAL] = 1u << ATTN_MASK_CAUSAL_ERROR;
        } else if (p->settles == SCALE && matches < 0) {
            k.possible[SCALE] = 1u << ATTN_SCALE_REQUIRED;
        }
        note_answers(report, number, matches, setup->first->outcome.text);
        learn(&k, number, matches);
    }
    note_profiles(report, &k);
    return k.profile;
}

int attest_command_fingerprint(const attest_settings *s) {
    char why[ATTEST_MESSAGE_BYTES] = "";
    attest_setup setup;
    attest_report report = {0};
    const int opened = attest_setup_open(&setup, s, s->words[0], &report, why);
    if (opened == 1) {
        const attn_profile found = attest_fingerprint(&setup, s, &report);
        printf("conventions of %s, found by probes alone\n\n", setup.kernel.name);
        for (int i = 0; i < report.convention_count; i++) {
            printf("  %-34s %s\n", report.conventions[i].question, report.conventions[i].answer);
        }
        printf("\nprofiles that fit: %s\n", report.fitting[0] ? report.fitting : "none");
        if (!*s->stop) {
            attest_fingerprint_sizes(&setup, s, &found);
        }
    }
    attest_setup_close(&setup);
    return opened == 1 ? 0 : attest_trouble(opened < 0 ? report.load_error : why);
}
