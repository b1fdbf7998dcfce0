/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/diagnose/postmortem.h"

#include <stdio.h>
#include <string.h>

#include "certify/diagnose/diagnose.h"
#include "certify/plan/space.h"
#include "reference/oracle/model.h"

enum { MOST_OF_A_CHECK = 5 };

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

/* Nothing explains the values: the options without which the case is right are what is left. */
static void drop_options(attest_workbench *bench, const attest_planned *planned,
                         attest_result *result) {
    char names[64] = "", name[64];
    for (uint64_t bit = 1; bit != 0 && bit <= ATTEST_ALL_FEATURES; bit <<= 1) {
        attest_case c = planned->c;
        attest_result without;
        if (!(c.features & bit & ~ATTEST_LSE)) {
            continue;
        }
        attest_case_without(&c, bit);
        attest_run_case(bench, planned->check, &c, &without);
        if (without.verdict == ATTEST_PASS && strlen(names) < 40) {
            attest_case only = attest_case_default(planned->check->name);
            only.features = bit | ATTEST_SCALE;
            only.scale = 1;
            attest_ids ids = {{0}};
            attest_space_ids(&only, &ids);
            attest_ids_remove(&ids, "SEM-01 SEM-02 MASK-04 SPV-08 MASK-09");
            attest_ids_merge(&result->explanation.ids, &ids);
            attest_feature_names(bit, name, sizeof name);
            strcat(strcat(names, names[0] ? ", " : ""), name);
        }
        attest_result_free(&without);
    }
    if (names[0] != '\0') {
        snprintf(result->explanation.text, sizeof result->explanation.text,
                 "it is right without %.60s", names);
    }
}

/* Errors that are all slight may be no more than another arithmetic: the tightest looser model that
 * the case passes under. */
static void try_models(attest_workbench *bench, const attest_planned *planned,
                       attest_result *result) {
    const attn_model declared = bench->model;
    const int slight = result->clued && (result->every >> ATTEST_CLUE_SLIGHT & 1);
    int passes = 0;
    for (int i = 0; slight && !passes && attn_model_name(i) != NULL; i++) {
        const attn_model *looser = attn_model_find(attn_model_name(i));
        attest_result again;
        if (attn_model_implies(looser, &declared) || !attn_model_implies(&declared, looser)) {
            continue;
        }
        bench->model = attn_model_claimed(looser, 0, declared.max_abs_score);
        attest_run_case(bench, planned->check, &planned->c, &again);
        passes = again.verdict == ATTEST_PASS;
        attest_result_free(&again);
        if (passes) {
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
        drop_options(bench, planned, result);
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
