/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/diagnose/postmortem.h"

#include <stdio.h>
#include <string.h>

#include "certify/diagnose/diagnose.h"
#include "certify/plan/space.h"
#include "reference/oracle/model.h"

enum { MOST_OF_A_CHECK = 5, OPTIONS = 12 };
_Static_assert(ATTEST_ALL_FEATURES == (UINT64_C(1) << OPTIONS) - 1, "options");

/* Sentences and worst elements may differ by the chance of a race; what failed, and how much. */
static int same(const attest_result *a, const attest_result *b) {
    return a->verdict == b->verdict && a->broken == b->broken && a->outside == b->outside;
}

/* Right in a worker that has done nothing else: what came before decides, or chance. */
static const attest_explanation not_repeated = {
    .bug_class = CLASS_RACE,
    .classes = UINT64_C(1) << CLASS_RACE,
    .text =
        "the same case gives something else in a fresh process: by chance, or by what came before",
};

#define HIDING                                                                                     \
    (ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_WINDOW_SIZE | ATTEST_KEY_LENGTHS | ATTEST_MASK_BOOL |  \
     ATTEST_MASK_ADD)

/* A check speaks for what its cases are about when they pass. One that fails has brought into
 * question all that its problem needs. */
static void question_all(const attest_case *c, attest_ids *ids) {
    const int special = strcmp(c->check, "poison") == 0 || strcmp(c->check, "unseen") == 0;
    attest_space_ids(c, ids);
    attest_ids_add(ids, "SEM-04 SEM-06 SEM-07 NUM-01 NUM-03 NUM-04 NUM-07 MEM-06");
    if (c->features & HIDING) {
        attest_ids_add(ids, "SEM-12 ISO-01 ISO-02");
    }
    if ((c->features & HIDING) && special) {
        attest_ids_add(ids, "ISO-03 ISO-04 ISO-05");
    }
    if (c->features & (ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_WINDOW_SIZE)) {
        attest_ids_add(ids, "MASK-09");
    }
    if (c->features & ATTEST_SCALE) {
        attest_ids_add(ids, "SPV-06");
    }
    if (c->batch * c->q_heads > 1) {
        attest_ids_add(ids, "ISO-06");
    }
    if (c->queries > 1) {
        attest_ids_add(ids, "ISO-07");
    }
    if (c->qk == ATTEST_RECIPE_HOLES || c->v == ATTEST_RECIPE_HOLES) {
        attest_ids_add(ids, "SPV-01");
    }
    if (c->qk == ATTEST_RECIPE_MIXED || c->qk == ATTEST_RECIPE_RISE ||
        c->v == ATTEST_RECIPE_MIXED || c->qk == ATTEST_RECIPE_TINY || c->v == ATTEST_RECIPE_TINY) {
        attest_ids_add(ids, "SPV-04");
    }
}

/* The same problem, asked for its values alone: what failed in a check of something else may be an
 * ordinary wrong value, which can be explained. */
static void explain_plainly(attest_workbench *bench, attest_case c, attest_explanation *found) {
    attest_result plain;
    memset(c.parameter, 0, sizeof c.parameter);
    snprintf(c.check, sizeof c.check, "oracle");
    attest_run_case(bench, attest_check_find("oracle"), &c, &plain);
    if (plain.verdict == ATTEST_FAIL && plain.explanation.text[0] != '\0') {
        *found = plain.explanation;
    }
    attest_result_free(&plain);
}

/* With data that tell more: full significands, and the LSE where the kernel has one. */
static void ask_again(attest_workbench *bench, const attest_case *c, attest_result *result) {
    attest_case other = *c;
    explain_plainly(bench, other, &result->explanation);
    other.features |= bench->session.info.features & ATTEST_LSE;
    if (result->explanation.text[0] == '\0' && other.features != c->features) {
        explain_plainly(bench, other, &result->explanation);
    }
    other.qk = other.v = ATTEST_RECIPE_BELL;
    if (result->explanation.text[0] == '\0') {
        explain_plainly(bench, other, &result->explanation);
    }
}

/* What can be taken from a case besides its options. */
enum { THREADS, LAYOUT, GROUPS, PARTS };
static const struct {
    const char *name, *ids;
    int bug_class;
} parts[PARTS] = {
    [THREADS] = {"threads", "DET-03", CLASS_RACE},
    [LAYOUT] = {"strides", "MEM-08", CLASS_STRIDES},
    [GROUPS] = {"groups", "SEM-11", CLASS_KV_HEAD},
};

static int take_part(attest_case *c, int part) {
    const attest_case before = *c;
    c->threads = part == THREADS ? 1 : c->threads;
    c->layout = part == LAYOUT ? ATTEST_LAYOUT_DENSE : c->layout;
    c->q_heads = part == GROUPS ? c->kv_heads : c->q_heads;
    return c->threads != before.threads || c->layout != before.layout ||
           c->q_heads != before.q_heads;
}

/* The class that is about the option alone. */
static int option_class(uint64_t option) {
    static const struct {
        uint64_t options;
        int bug_class;
    } table[] = {
        {ATTEST_CAUSAL | ATTEST_OFFSETS, CLASS_CAUSAL_DIAGONAL},
        {ATTEST_WINDOW | ATTEST_WINDOW_SIZE | ATTEST_KEY_LENGTHS, CLASS_OFF_BY_ONE},
        {ATTEST_MASK_BOOL | ATTEST_MASK_ADD, CLASS_MASK_STRIDES},
        {ATTEST_SCALE, CLASS_HEAD_SIZE},
        {ATTEST_SOFTCAP, CLASS_SOFTCAP},
        {ATTEST_SINKS, CLASS_SINKS},
        {ATTEST_ALIBI, CLASS_ALIBI},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].options & option) {
            return table[i].bug_class;
        }
    }
    return 0;
}

static int passes(attest_workbench *bench, const attest_planned *planned, const attest_case *c) {
    attest_result result;
    attest_run_case(bench, planned->check, c, &result);
    const int passed = result.verdict == ATTEST_PASS;
    attest_result_free(&result);
    return passed;
}

/* Nothing explains the values: what the case is right without is what is left. If that is one thing
 * alone, it is suspected. */
static void leave_out(attest_workbench *bench, const attest_planned *planned,
                      attest_explanation *found) {
    char names[64] = "", name[64];
    int count = 0, bug_class = 0;
    for (int i = 0; i < OPTIONS + PARTS; i++) {
        const uint64_t option = i < OPTIONS ? UINT64_C(1) << i : 0;
        const int part = i - OPTIONS;
        attest_case c = planned->c;
        attest_case_without(&c, option);
        if (option ? !(planned->c.features & option & ~ATTEST_LSE) : !take_part(&c, part)) {
            continue;
        }
        if (!passes(bench, planned, &c) || strlen(names) >= 40) {
            continue;
        }
        attest_feature_names(option, name, sizeof name);
        if (option) {
            attest_case only = attest_case_default(planned->check->name);
            only.features = option | ATTEST_SCALE;
            only.scale = 1;
            attest_ids ids = {{0}};
            attest_space_ids(&only, &ids);
            attest_ids_remove(&ids, "SEM-01 SEM-02 MASK-04 SPV-08 MASK-09");
            attest_ids_merge(&found->ids, &ids);
        } else {
            snprintf(name, sizeof name, "%s", parts[part].name);
            attest_ids_add(&found->ids, parts[part].ids);
        }
        strcat(strcat(names, names[0] ? ", " : ""), name);
        bug_class = option ? option_class(option) : parts[part].bug_class;
        count++;
    }
    if (count > 0) {
        snprintf(found->text, sizeof found->text, "it is right without %.60s", names);
        found->bug_class = count == 1 ? bug_class : 0;
        found->classes = found->bug_class > 0 ? UINT64_C(1) << bug_class : 0;
    }
}

/* Errors that are all slight may be no more than another arithmetic: the tightest looser model that
 * the case passes under. */
static void try_models(attest_workbench *bench, const attest_planned *planned,
                       attest_result *result) {
    const attn_model declared = bench->model;
    const int slight = result->clued && (result->every >> ATTEST_CLUE_SLIGHT & 1);
    int passed = 0;
    for (int i = 0; slight && !passed && attn_model_name(i) != NULL; i++) {
        const attn_model *looser = attn_model_find(attn_model_name(i));
        if (attn_model_implies(looser, &declared) || !attn_model_implies(&declared, looser)) {
            continue;
        }
        bench->model = attn_model_claimed(looser, 0, declared.max_abs_score);
        passed = passes(bench, planned, &planned->c);
        if (passed) {
            const size_t used = strlen(result->explanation.text);
            snprintf(result->explanation.text + used, sizeof result->explanation.text - used,
                     "%sit passes under model %s (attest model)", used > 0 ? "; " : "",
                     looser->name);
            attest_ids_add(&result->explanation.ids, "NUM-01");
        }
    }
    bench->model = declared;
}

enum { REPEATS = 3 };

/* Up to three times in a fresh worker. A case that ran out of time says nothing about repeating. */
static void run_again(attest_workbench *bench, const attest_planned *planned, int fresh,
                      attest_result *result) {
    if (fresh) {
        attest_session_restart(&bench->session);
    }
    for (int attempt = 0; attempt < REPEATS && result->alone != ATTEST_ALONE_OTHER; attempt++) {
        attest_result again;
        attest_run_case(bench, planned->check, &planned->c, &again);
        if (again.verdict == ATTEST_TIMEOUT || again.verdict == ATTEST_NOT_RUN) {
            attest_result_free(&again);
            return;
        }
        result->alone = same(result, &again) ? ATTEST_ALONE_SAME : ATTEST_ALONE_OTHER;
        if (attempt == 0) {
            result->explanation = again.explanation;
            result->examined = again.examined;
            result->defects[0] = again.defects[0];
            result->defects[1] = again.defects[1];
        }
        attest_result_free(&again);
    }
    if (result->alone == ATTEST_ALONE_OTHER) {
        result->explanation = not_repeated;
        result->examined = 0;
        attest_ids_add(&result->explanation.ids, "DET-01 DET-02");
        return;
    }
    if (result->explanation.text[0] == '\0' && planned->c.layout != ATTEST_LAYOUT_HUGE) {
        ask_again(bench, &planned->c, result);
    }
    try_models(bench, planned, result);
    if (result->explanation.text[0] == '\0') {
        leave_out(bench, planned, &result->explanation);
    }
}

void attest_postmortem(attest_workbench *bench, const volatile sig_atomic_t *stop, double until,
                       const attest_planned *const *cases, attest_report *report) {
    const attest_check *check = NULL;
    int looked = 0, history = 0, fresh = 1;
    bench->examiner = attest_diagnose;
    for (size_t i = 0;
         i < report->count && !(stop && *stop) && !(until > 0 && attest_clock() > until); i++) {
        attest_result *result = &report->entries[i].result;
        if (cases[i]->check != check) {
            check = cases[i]->check;
            looked = 0;
        }
        if (attest_verdict_is_bad(result->verdict)) {
            question_all(&cases[i]->c, &result->ids);
        }
        if ((result->verdict == ATTEST_FAIL || result->verdict == ATTEST_CRASH) &&
            looked++ < MOST_OF_A_CHECK) {
            run_again(bench, cases[i], fresh, result);
            history |= result->alone == ATTEST_ALONE_OTHER;
            fresh = history || bench->session.target->kind == ATTEST_TARGET_OBJECT;
        }
    }
    bench->examiner = NULL;
}
