/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "certify/result/text.h"
#include "certify/run/run.h"

static void head(attest_report *report, const attest_settings *s, const attest_setup *setup) {
    *report = (attest_report){.seed = s->seed, .shard = s->shard, .shards = s->shards};
    attest_text_copy(report->target, sizeof report->target, setup->target.text);
    snprintf(report->level, sizeof report->level, "%s", attest_level_name(s->level));
    snprintf(report->sandbox, sizeof report->sandbox, "%s",
             setup->host.strict ? "strict" : "relaxed");
    attest_text_copy(report->profile, sizeof report->profile,
                     s->profile_name ? s->profile_name : "attest");
}

/* The model of problems in binary64 of a kernel whose model is of a narrower one: the same kind of
 * arithmetic one size up, if there is one. */
static const attn_model *wider(const attn_model *model) {
    const attn_model *f64 = attn_model_find("f64-strict");
    return model->score.u > f64->score.u ? f64 : model;
}

static int models(attest_setup *setup, const attest_settings *s, attest_report *report, char *why) {
    const attest_kernel_info *k = &setup->kernel;
    const char *name = s->model_name ? s->model_name : k->model;
    const attn_model *model = attn_model_find(name);
    snprintf(report->model, sizeof report->model, "%s", name);
    if (model == NULL && s->model_name != NULL) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "no model is called \"%.60s\"", name);
        return 0;
    }
    if (model == NULL) { /* the check "descriptor" fails; something must judge the others */
        model = attn_model_find("f32-strict");
    }
    setup->model = attn_model_claimed(model, k->exp_ulps, k->max_abs_score);
    setup->wide_model = attn_model_claimed(wider(model), k->exp_ulps, k->max_abs_score);
    return 1;
}

static int introduce(attest_setup *setup, const attest_settings *s, attest_report *report,
                     char *why) {
    attest_outcome outcome;
    setup->first = calloc(1, sizeof *setup->first);
    if (setup->first == NULL ||
        !attest_session_open(&setup->first->session, &setup->target, &setup->host)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "shared memory for the tensors is not available");
        free(setup->first);
        setup->first = NULL;
        return 0;
    }
    attest_session *session = &setup->first->session;
    if (!attest_session_start(session, &outcome)) {
        if (outcome.ending == ATTEST_ENDING_TROUBLE) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "%.250s", outcome.text);
            return 0;
        }
        const char *log = session->process.log_text;
        snprintf(report->load_error, sizeof report->load_error, "%.330s%s%.160s", outcome.text,
                 log[0] ? "; it printed: " : "", log);
        return -1;
    }
    setup->kernel = session->info;
    report->kernel = session->info;
    memcpy(report->notes, session->notes, sizeof report->notes);
    const char *profile = s->profile_name ? s->profile_name : setup->kernel.profile;
    attest_text_copy(report->profile, sizeof report->profile, profile);
    if (!attest_profile_find(profile, &setup->profile, why)) {
        if (s->profile_name != NULL) {
            return 0;
        }
        snprintf(report->load_error, sizeof report->load_error, "it declares: %.200s", why);
        return -1;
    }
    if (!models(setup, s, report, why)) {
        return 0;
    }
    setup->first->profile = setup->profile;
    setup->first->model = setup->model;
    setup->first->wide_model = setup->wide_model;
    return 1;
}

int attest_setup_open(attest_setup *setup, const attest_settings *s, const char *target,
                      attest_report *report, char why[ATTEST_MESSAGE_BYTES]) {
    static const char *const places[] = {"attest-worker", "../libexec/attest-worker", NULL};
    *setup = (attest_setup){0};
    if (!attest_target_parse(&setup->target, target, why)) {
        return 0;
    }
    if (!attest_find_own(setup->worker, places)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "attest-worker is not beside attest");
        return 0;
    }
    const int object = setup->target.kind == ATTEST_TARGET_OBJECT;
    if (!object && s->strict == 1) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "--sandbox strict is for shared objects alone");
        return 0;
    }
    setup->host = (attest_host_options){
        .worker = setup->worker,
        .strict = object && s->strict != 0,
        .validate = s->validate,
        .memory_bytes = s->memory_bytes,
        .load_seconds = (object ? 2 : 10) + s->call_seconds,
        .call_seconds = s->call_seconds,
        .stop = s->stop,
    };
    if (!setup->host.strict) {
        const char *base = getenv("TMPDIR");
        snprintf(setup->temporary, sizeof setup->temporary, "%.40s/attest-XXXXXX",
                 base && strlen(base) <= 40 ? base : "/tmp");
        if (mkdtemp(setup->temporary) == NULL) {
            setup->temporary[0] = '\0';
            snprintf(why, ATTEST_MESSAGE_BYTES, "no temporary directory can be made");
            return 0;
        }
        setup->host.temporary = setup->temporary;
    }
    head(report, s, setup);
    return introduce(setup, s, report, why);
}

/* The directory is flat unless a kernel made it otherwise; walk it without following links. */
static void remove_tree(int directory, const char *name) {
    int inside = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = inside < 0 ? NULL : fdopendir(inside);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(inside, entry->d_name, 0) != 0) {
            remove_tree(inside, entry->d_name);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    } else if (inside >= 0) {
        close(inside);
    }
    unlinkat(directory, name, AT_REMOVEDIR);
}

void attest_setup_close(attest_setup *setup) {
    if (setup->first != NULL) {
        attest_stage_free(&setup->first->stage);
        attest_session_close(&setup->first->session);
        free(setup->first);
        setup->first = NULL;
    }
    if (setup->temporary[0] != '\0') {
        remove_tree(AT_FDCWD, setup->temporary);
        setup->temporary[0] = '\0';
    }
}
