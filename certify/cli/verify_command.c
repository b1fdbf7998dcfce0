/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evidence of a run: bundles and statements written, bundles judged again. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "certify/cli/commands.h"
#include "certify/evidence/statement.h"
#include "certify/report/report_object.h"
#include "certify/result/waiver.h"
#include "vectors/read/profile_read.h"

static json_t *profile_json(const attn_profile *p) {
    int numbers[ATTEST_PROFILE_FIELDS];
    attest_profile_numbers(p, numbers);
    json_t *list = json_array();
    for (int i = 0; i < ATTEST_PROFILE_FIELDS; i++) {
        json_array_append_new(list, json_integer(numbers[i]));
    }
    return list;
}

static int load_profile(const json_t *list, attn_profile *p) {
    int numbers[ATTEST_PROFILE_FIELDS];
    for (size_t i = 0; i < ATTEST_PROFILE_FIELDS; i++) {
        const json_int_t number = json_integer_value(json_array_get(list, i));
        numbers[i] =
            json_is_integer(json_array_get(list, i)) && number == (int)number ? (int)number : -1;
    }
    return attest_profile_of_numbers(p, numbers) == 0;
}

int attest_evidence_begin(attest_setup *setup, const attest_settings *s, attest_recorder **recorder,
                          char why[ATTEST_MESSAGE_BYTES]) {
    unsigned char secret[crypto_sign_SECRETKEYBYTES];
    if (s->sign != NULL && !attest_secret_load(s->sign, secret, why)) {
        return 0;
    }
    sodium_memzero(secret, sizeof secret);
    if (s->bundle != NULL) {
        *recorder = attest_recorder_open(s->bundle);
        setup->tape = *recorder != NULL ? attest_recorder_tape(*recorder) : NULL;
        snprintf(why, ATTEST_MESSAGE_BYTES, "--bundle: %.160s cannot be written", s->bundle);
        return *recorder != NULL;
    }
    return 1;
}

static json_t *machine_json(void) {
    struct utsname name;
    if (uname(&name) != 0) {
        return json_object();
    }
    return json_pack("{s:s,s:s,s:s}", "system", name.sysname, "release", name.release, "machine",
                     name.machine);
}

int attest_evidence_end(const attest_setup *setup, const attest_settings *s,
                        attest_recorder *recorder, const attest_report *report,
                        char why[ATTEST_MESSAGE_BYTES]) {
    const attest_certificate c = attest_certificate_of(report);
    unsigned char secret[crypto_sign_SECRETKEYBYTES];
    char digest[65];
    const unsigned char *key = s->sign != NULL ? secret : NULL;
    int fine = s->sign == NULL || attest_secret_load(s->sign, secret, why);
    attest_file_digest(setup->target.path, digest);
    if (recorder != NULL) {
        json_t *header = json_object();
        json_object_set_new(header, "schema", json_string("attest-bundle-1"));
        json_object_set_new(header, "sha256", json_string(digest));
        json_object_set_new(header, "time", json_integer((json_int_t)time(NULL)));
        json_object_set_new(header, "machine", machine_json());
        json_object_set_new(header, "profile", profile_json(&setup->profile));
        json_object_set_new(header, "waivers",
                            s->waivers != NULL ? json_incref(s->waivers) : json_array());
        json_object_set_new(header, "report", attest_report_object(report, &c));
        const int written = attest_recorder_close(recorder, header, report->count, key);
        json_decref(header);
        snprintf(why, ATTEST_MESSAGE_BYTES, "--bundle: %.160s cannot be written", s->bundle);
        fine = fine && written;
    }
    if (fine && s->statement != NULL &&
        !attest_statement_write(s->statement, report, &c, digest, key)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "--statement: %.160s cannot be written", s->statement);
        fine = 0;
    }
    sodium_memzero(secret, sizeof secret);
    return fine;
}

/* Of a failed case a second look may have brought more requirements into question. */
static int ids_fit(const attest_result *was, const attest_result *is) {
    const int passed = was->verdict == ATTEST_PASS;
    for (int i = 0; i < attest_requirement_count(); i++) {
        const int before = attest_ids_has(&was->ids, i), now = attest_ids_has(&is->ids, i);
        if (passed ? before != now : now && !before) {
            return 0;
        }
    }
    return 1;
}

/* The cases of a complete run are those of its level, whatever the kernel answered. */
static int planned(const attest_report *r, const attn_profile *profile, char *why) {
    attest_plan plan = {
        .seed = r->seed, .kernel = &r->kernel, .profile = *profile, .boundaries = &r->boundaries};
    while (plan.level < ATTEST_EXHAUSTIVE && strcmp(attest_level_name(plan.level), r->level) != 0) {
        plan.level++;
    }
    int fine = attest_plan_make(&plan, NULL) && plan.count == r->count;
    for (size_t i = 0; fine && i < r->count; i++) {
        fine = strcmp(plan.cases[i].id, r->entries[i].id) == 0;
    }
    attest_plan_free(&plan);
    snprintf(why, ATTEST_MESSAGE_BYTES, "its cases are not those of level %.16s", r->level);
    return fine;
}

/* Judges one case again and puts what comes out into `again`. */
static int judge(attest_workbench *bench, const attest_bundle *b, const attest_entry *entry,
                 size_t number, attest_result *again, char *why) {
    char id[ATTEST_ID_BYTES], fault[ATTEST_MESSAGE_BYTES];
    const attest_check *check = attest_check_find(entry->check);
    attest_case c;
    if (check == NULL || !attest_case_parse(&c, entry->line, fault) ||
        strcmp(c.check, entry->check) != 0) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "case %s makes no sense", entry->id);
        return 0;
    }
    attest_case_id(&c, id);
    if (strcmp(id, entry->id) != 0) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "case %s has another id", entry->id);
        return 0;
    }
    *again = (attest_result){.verdict = ATTEST_NOT_RUN, .broken = -1, .keys_seen = -1};
    bench->number = number;
    if (entry->result.verdict != ATTEST_NOT_RUN) {
        attest_run_case(bench, check, &c, again);
    }
    if (!attest_bundle_used_up(b, number)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "case %s has answers that nobody asks for: %s %.140s",
                 entry->id, attest_verdict_name(again->verdict), again->what);
        return 0;
    }
    return 1;
}

static int judge_all(attest_workbench *bench, const attest_bundle *b, const attest_settings *s,
                     const attest_report *recorded, attest_report *decided, char *why) {
    int fine = 1;
    for (size_t i = 0; fine && i < recorded->count && !*s->stop; i++) {
        fine = judge(bench, b, &recorded->entries[i], i, &decided->entries[i].result, why);
        decided->count = i + 1;
    }
    return fine && !*s->stop;
}

/* Decided verdicts against those in the report, once waivers have had their say. */
static int compare(const attest_bundle *b, const attest_report *recorded, attest_report *decided,
                   char *why) {
    const json_int_t when = json_integer_value(json_object_get(b->header, "time"));
    attest_waive(json_object_get(b->header, "waivers"), (time_t)when, decided);
    for (size_t i = 0; i < recorded->count; i++) {
        const attest_result *was = &recorded->entries[i].result, *is = &decided->entries[i].result;
        if (was->verdict != is->verdict || was->broken != is->broken || !ids_fit(was, is)) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "case %s was %s, and is %s: %.140s",
                     recorded->entries[i].id, attest_verdict_name(was->verdict),
                     attest_verdict_name(is->verdict), is->what);
            return 0;
        }
    }
    return 1;
}

static int says_the_same(const json_t *report, const attest_certificate *c) {
    const json_t *said = json_object_get(report, "certificate");
    const char *reason = json_string_value(json_object_get(said, "reason"));
    const char *restricted = json_string_value(json_object_get(said, "restricted"));
    return json_is_boolean(json_object_get(said, "certified")) &&
           json_is_true(json_object_get(said, "certified")) == c->certified && reason != NULL &&
           restricted != NULL && strcmp(reason, c->reason) == 0 &&
           strcmp(restricted, c->restricted) == 0;
}

static int verify(const attest_bundle *b, const attest_settings *s, attest_report *recorded,
                  attest_report *decided, attest_workbench *bench, char *why) {
    const json_t *report = json_object_get(b->header, "report");
    if (!attest_report_of_object(report, recorded) ||
        !load_profile(json_object_get(b->header, "profile"), &bench->profile) ||
        json_array_size(b->events) != recorded->count) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "its header makes no sense");
        return 0;
    }
    if (recorded->incomplete[0] == '\0' && recorded->load_error[0] == '\0' &&
        !planned(recorded, &bench->profile, why)) {
        return 0;
    }
    attest_models_for(&recorded->kernel, recorded->model, &bench->model, &bench->wide_model);
    bench->session.info = recorded->kernel;
    *decided = *recorded; /* but for what is decided anew */
    decided->entries = calloc(recorded->count + 1, sizeof *decided->entries);
    if (decided->entries == NULL) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "not enough memory");
        return 0;
    }
    for (size_t i = 0; i < recorded->count; i++) {
        decided->entries[i] = recorded->entries[i];
        decided->entries[i].exhibit = NULL;
        decided->entries[i].result = (attest_result){.broken = -1};
    }
    if (!judge_all(bench, b, s, recorded, decided, why) || !compare(b, recorded, decided, why)) {
        return 0;
    }
    const attest_certificate c = attest_certificate_of(recorded);
    snprintf(why, ATTEST_MESSAGE_BYTES, "its certificate does not follow from its verdicts");
    return says_the_same(report, &c);
}

static int right_key(const attest_bundle *b, const attest_settings *s, char *why) {
    char digits[65];
    sodium_bin2hex(digits, sizeof digits, b->key, sizeof b->key);
    snprintf(why, ATTEST_MESSAGE_BYTES, "it is not signed by that key");
    return s->key == NULL || (b->signed_ && strcasecmp(s->key, digits) == 0);
}

int attest_command_verify(const attest_settings *s) {
    char why[ATTEST_MESSAGE_BYTES] = "", digits[65];
    attest_bundle b;
    attest_report recorded = {0}, decided = {0};
    static const attest_target none;
    const attest_host_options options = {.memory_bytes = s->memory_bytes, .stop = s->stop};
    attest_workbench *bench = calloc(1, sizeof *bench);
    if (bench == NULL || !attest_bundle_open(&b, s->words[0], why)) {
        free(bench);
        printf("not verified: %s\n", why);
        return ATTEST_EXIT_NOT_CERTIFIED;
    }
    if (!attest_session_open(&bench->session, &none, &options)) {
        attest_bundle_close(&b);
        free(bench);
        return attest_trouble("shared memory for the tensors is not available");
    }
    bench->tape = &b.tape;
    bench->second_oracle = 1;
    const int fine = right_key(&b, s, why) && verify(&b, s, &recorded, &decided, bench, why);
    if (fine) {
        const attest_certificate c = attest_certificate_of(&recorded);
        sodium_bin2hex(digits, sizeof digits, b.key, sizeof b.key);
        printf("verified: %zu cases decided again without the kernel, %lld calls by the second "
               "oracle%s\nkernel %s, sha256 %s\nbundle %s, %s%s\n%s%s%s\n",
               recorded.count, (long long)bench->second_judged,
               bench->first_alone ? ", the largest by the first alone" : "", recorded.kernel.name,
               json_string_value(json_object_get(b.header, "sha256")), b.hash,
               b.signed_ ? "signed by " : "not signed", b.signed_ ? digits : "",
               c.certified ? "certified" : "not certified: ", c.certified ? "" : c.reason,
               c.certified && c.restricted[0] ? " (restricted)" : "");
    } else {
        printf("not verified: %s\n", why);
    }
    attest_stage_free(&bench->stage);
    attest_session_close(&bench->session);
    free(bench);
    attest_report_free(&decided);
    attest_report_free(&recorded);
    attest_bundle_close(&b);
    return fine ? ATTEST_EXIT_CERTIFIED : ATTEST_EXIT_NOT_CERTIFIED;
}
