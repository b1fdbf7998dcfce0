/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "certify/result/text.h"
#include "certify/run/run.h"

/* Empty if it is no file: a module is found by the interpreter alone. */
static void digest(const char *path, char digits[65]) {
    unsigned char bytes[1 << 14], hash[32];
    crypto_generichash_state state;
    struct stat found;
    const int file = stat(path, &found) == 0 && S_ISREG(found.st_mode)
                         ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
                         : -1;
    ssize_t got = -1;
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    while (file >= 0 && (got = read(file, bytes, sizeof bytes)) > 0) {
        crypto_generichash_update(&state, bytes, (unsigned long long)got);
    }
    if (file >= 0) {
        close(file);
    }
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2hex(digits, 65, hash, sizeof hash);
    digits[got == 0 ? 64 : 0] = '\0';
}

static void note_options(const attest_settings *s, const attest_setup *setup, char *text,
                         size_t size) {
    FILE *out = fmemopen(text, size, "w");
    if (out == NULL) {
        return;
    }
    fprintf(out, "--call-time %g --load-time %g --memory %llu", setup->host.call_seconds,
            setup->host.load_seconds, (unsigned long long)(setup->host.memory_bytes >> 20));
    if (s->only != NULL) {
        fprintf(out, " --only %s", s->only);
    }
    if (s->skip != NULL) {
        fprintf(out, " --skip %s", s->skip);
    }
    for (int i = 0; i < s->named.folder_count; i++) {
        fprintf(out, " --read %s", s->named.folders[i]);
    }
    for (int i = 0; i < s->named.variable_count; i++) {
        fprintf(out, " --env %s", s->named.variables[i]);
    }
    fclose(out);
}

static void head(attest_report *report, const attest_settings *s, const attest_setup *setup) {
    *report = (attest_report){.seed = s->seed,
                              .shard = s->shard,
                              .shards = s->shards,
                              .suite = ATTEST_SUITE_VERSION,
                              .specification = ATTEST_SPEC_VERSION};
    digest(setup->target.path, report->digest);
    note_options(s, setup, report->options, sizeof report->options);
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

int attest_models_for(const attest_kernel_info *k, const char *name, attn_model *model,
                      attn_model *wide_model) {
    const attn_model *found = attn_model_find(name);
    const attn_model *used = found != NULL ? found : attn_model_find("f32-strict");
    *model = attn_model_claimed(used, k->exp_ulps, k->max_abs_score);
    *wide_model = attn_model_claimed(wider(used), k->exp_ulps, k->max_abs_score);
    return found != NULL;
}

static int models(attest_setup *setup, const attest_settings *s, attest_report *report, char *why) {
    const attest_kernel_info *k = &setup->kernel;
    const char *name = s->model_name ? s->model_name : k->model;
    snprintf(report->model, sizeof report->model, "%s", name);
    /* Of a descriptor that names no model the check "descriptor" fails; something must judge the
     * others. */
    if (!attest_models_for(k, name, &setup->model, &setup->wide_model) && s->model_name != NULL) {
        int used =
            snprintf(why, ATTEST_MESSAGE_BYTES, "no model is called \"%.60s\"; there are", name);
        for (int n = 0; attn_model_name(n) != NULL && used < ATTEST_MESSAGE_BYTES; n++) {
            used += snprintf(why + used, ATTEST_MESSAGE_BYTES - (size_t)used, " %s",
                             attn_model_name(n));
        }
        return 0;
    }
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
    const int started = attest_session_start(session, &outcome);
    report->protections = session->protections;
    if (!started) {
        if (outcome.ending == ATTEST_ENDING_TROUBLE) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "%.250s", outcome.text);
            return 0;
        }
        const char *log = session->process.log_text;
        snprintf(report->load_error, sizeof report->load_error, "%.900s%s%.300s", outcome.text,
                 log[0] ? "; it printed: " : "", log);
        return -1;
    }
    setup->kernel = session->info;
    report->kernel = session->info;
    const char *profile = s->profile_name ? s->profile_name : setup->kernel.profile;
    attest_text_copy(report->profile, sizeof report->profile, profile);
    if (s->profile_name == NULL && !attest_is_bare_name(profile)) {
        snprintf(report->load_error, sizeof report->load_error,
                 "it declares a profile \"%.64s\": not a name (only --profile may be a file)",
                 profile);
        return -1;
    }
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
        .load_seconds = s->load_seconds > 0 ? s->load_seconds
                        : object            ? 12
                                            : 60,
        .call_seconds = s->call_seconds,
        .stop = s->stop,
    };
    attest_temporary_sweep();
    if (!setup->host.strict) {
        if (!attest_temporary_open(&setup->temporary)) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "no temporary folder can be made: %.60s",
                     strerror(errno));
            return 0;
        }
        setup->host.temporary = setup->temporary.path;
    }
    if (!attest_grants_make(&setup->host.grants, &setup->target, &s->named, setup->host.temporary,
                            why)) {
        return 0;
    }
    head(report, s, setup);
    return introduce(setup, s, report, why);
}

void attest_setup_close(attest_setup *setup) {
    if (setup->first != NULL) {
        attest_stage_free(&setup->first->stage);
        attest_session_close(&setup->first->session);
        free(setup->first);
        setup->first = NULL;
    }
    attest_grants_free(&setup->host.grants);
    attest_temporary_close(&setup->temporary);
}
