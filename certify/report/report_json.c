/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as JSON (spec/report.schema.json); report_load.c reads it back. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "certify/diagnose/variants.h"
#include "certify/host/target.h"
#include "certify/report/boundary_json.h"
#include "certify/report/exhibit_json.h"
#include "certify/report/report_object.h"
#include "certify/report/report_tried.h"
#include "certify/report/views.h"
#include "certify/result/text.h"
#include "certify/worker/protection.h"
#include "certify/worker/wire.h"

/* A path may be bytes that are no UTF-8, which JSON cannot hold: they become '?'. */
static void put_text(json_t *object, const char *key, const char *value) {
    json_t *text = json_string(value);
    if (text == NULL) {
        char plain[ATTEST_PATH_BYTES];
        attest_text_copy(plain, sizeof plain, value);
        attest_printable(plain, sizeof plain);
        text = json_string(plain);
    }
    json_object_set_new(object, key, text);
}

static void put_number(json_t *object, const char *key, int64_t value) {
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

/* Exact, and able to hold infinities and NaN. */
static void put_hex(json_t *object, const char *key, double value) {
    char text[64];
    snprintf(text, sizeof text, "%a", value);
    put_text(object, key, isnan(value) ? "nan" : text);
}

static json_t *id_list(const attest_ids *ids) {
    json_t *list = json_array();
    for (int i = 0; i < attest_requirement_count(); i++) {
        if (attest_ids_has(ids, i)) {
            json_array_append_new(list, json_string(attest_requirement_at(i)->id));
        }
    }
    return list;
}

static json_t *explanation_json(const attest_explanation *e) {
    json_t *o = json_object(), *classes = json_array();
    json_object_set_new(o, "requirements", id_list(&e->ids));
    for (int number = 1; number < ATTEST_CLASSES; number++) {
        if (e->classes >> number & 1) {
            json_array_append_new(classes, json_integer(number));
        }
    }
    json_object_set_new(o, "classes", classes);
    if (e->bug_class > 0) {
        put_number(o, "class", e->bug_class);
    }
    put_text(o, "because", e->text);
    return o;
}

static json_t *protection_list(uint32_t bits) {
    json_t *list = json_array();
    for (int p = 0; p < ATTEST_PROTECTIONS; p++) {
        if (bits >> p & 1) {
            json_array_append_new(list, json_string(attest_protection_name(p)));
        }
    }
    return list;
}

static json_t *defect_list(const attest_result *r) {
    json_t *list = json_array();
    for (int d = 0; d < attest_known_count(); d++) {
        if (r->defects[d / 64] >> d % 64 & 1) {
            json_array_append_new(list, json_string(attest_known_name(d)));
        }
    }
    return list;
}

static json_t *clue_list(uint32_t clues) {
    json_t *list = json_array();
    for (int clue = 0; clue < ATTEST_CLUES; clue++) {
        if (clues >> clue & 1) {
            json_array_append_new(list, json_string(attest_clue_names[clue]));
        }
    }
    return list;
}

static json_t *case_json(const attest_entry *entry) {
    const attest_result *r = &entry->result;
    const attest_requirement *broken = attest_requirement_at(r->broken);
    json_t *o = json_object();
    put_text(o, "id", entry->id);
    put_text(o, "check", entry->check);
    put_text(o, "line", entry->line);
    put_text(o, "verdict", attest_verdict_name(r->verdict));
    json_object_set_new(o, "requirements", id_list(&r->ids));
    if (!attest_ids_empty(&r->untestable)) {
        json_object_set_new(o, "untestable", id_list(&r->untestable));
    }
    if (r->explanation.text[0]) {
        json_object_set_new(o, "explanation", explanation_json(&r->explanation));
    }
    json_object_set_new(o, "seconds", json_real(r->seconds));
    put_number(o, "work", r->work);
    if (isfinite(r->worst)) {
        json_object_set_new(o, "worst", json_real(r->worst));
    }
    if (r->keys_seen >= 0) {
        json_object_set_new(o, "keys_seen", json_real(r->keys_seen));
    }
    if (r->what[0]) {
        put_text(o, "what", r->what);
    }
    if (broken != NULL) {
        put_text(o, "broken", broken->id);
    }
    if (r->bug_class > 0) {
        put_number(o, "class", r->bug_class);
    }
    if (r->label[0]) {
        put_text(o, "label", r->label);
    }
    if (r->examined) {
        json_object_set_new(o, "defects", defect_list(r));
    }
    if (r->clued) {
        json_object_set_new(o, "some", clue_list(r->some));
        json_object_set_new(o, "every", clue_list(r->every));
    }
    if (r->alone != ATTEST_ALONE_NOT_TRIED) {
        put_text(o, "alone", r->alone == ATTEST_ALONE_SAME ? "same" : "other");
    }
    if (r->picture != NULL) {
        put_text(o, "picture", r->picture);
    }
    if (entry->waiver[0]) {
        put_text(o, "waiver", entry->waiver);
    }
    if (entry->exhibit != NULL) {
        json_object_set_new(o, "exhibit", attest_exhibit_json(entry->exhibit));
    }
    if (r->has_value) {
        json_t *value = json_object();
        put_text(value, "tensor", r->in_lse ? "lse" : "o");
        json_t *place = json_array();
        for (int axis = 0; axis < (r->in_lse ? 3 : 4); axis++) {
            json_array_append_new(place, json_integer((json_int_t)r->place[axis]));
        }
        json_object_set_new(value, "place", place);
        put_hex(value, "expected", r->expected);
        put_hex(value, "actual", r->actual);
        put_hex(value, "radius", r->radius);
        put_number(value, "outside", r->outside);
        json_object_set_new(o, "value", value);
    }
    return o;
}

static json_t *kernel_json(const attest_kernel_info *k) {
    char features[256];
    json_t *o = json_object(), *types = json_array();
    attest_feature_names(k->features, features, sizeof features);
    put_text(o, "name", k->name);
    put_text(o, "vendor", k->vendor);
    put_text(o, "version", k->version);
    put_text(o, "profile", k->profile);
    put_text(o, "model", k->model);
    put_text(o, "features", features);
    for (attest_dtype t = ATTEST_F32; t <= ATTEST_BF16; t++) {
        if (k->dtypes >> t & 1) {
            json_array_append_new(types, json_string(attest_dtype_name(t)));
        }
    }
    json_object_set_new(o, "types", types);
    put_number(o, "shapes", (int64_t)k->shapes);
    put_number(o, "max_head_size", k->max_head_size);
    put_number(o, "max_queries", k->max_queries);
    put_number(o, "max_keys", k->max_keys);
    put_hex(o, "max_abs_score", k->max_abs_score);
    put_hex(o, "exp_ulps", k->exp_ulps);
    put_number(o, "finite_only", k->finite_only);
    put_number(o, "isolation", k->isolation);
    put_number(o, "determinism", (int64_t)k->determinism);
    put_number(o, "reentrant", k->reentrant);
    put_number(o, "alignment", k->alignment);
    return o;
}

static json_t *certificate_json(const attest_certificate *c) {
    json_t *o = json_object(), *states = json_object(), *verdicts = json_object();
    json_object_set_new(o, "certified", json_boolean(c->certified));
    put_text(o, "restricted", c->restricted);
    put_text(o, "reason", c->reason);
    for (int i = 0; i < attest_requirement_count(); i++) {
        const attest_requirement_state *s = &c->state[i];
        if (attest_requirement_word(s) != NULL) {
            put_text(states, attest_requirement_at(i)->id, attest_requirement_word(s));
        }
    }
    for (int v = 0; v < ATTEST_VERDICTS; v++) {
        put_number(verdicts, attest_verdict_name((attest_verdict)v), c->verdicts[v]);
    }
    json_object_set_new(o, "requirements", states);
    json_object_set_new(o, "verdicts", verdicts);
    return o;
}

static json_t *suspicion_json(const attest_suspicion *s) {
    json_t *o = json_object();
    put_number(o, "class", s->bug_class);
    put_text(o, "title", attest_class_at(s->bug_class)->title);
    put_number(o, "strength", s->strength);
    put_text(o, "because", s->why);
    return o;
}

static json_t *diagnosis_json(const attest_report *r) {
    json_t *list = json_array();
    for (int i = 0; i < r->suspicions; i++) {
        json_array_append_new(list, suspicion_json(&r->diagnosis[i]));
    }
    return list;
}

static json_t *causes_json(const attest_report *r) {
    json_t *list = json_array();
    for (int i = 0; i < r->cause_count; i++) {
        const attest_cause *cause = &r->causes[i];
        json_t *o = json_object();
        put_text(o, "what", cause->what);
        put_text(o, "verdict", attest_verdict_name(cause->verdict));
        put_number(o, "cases", cause->cases);
        put_text(o, "smallest", r->entries[cause->smallest].id);
        put_text(o, "requirements", cause->broken);
        if (attest_requirement_at(cause->requirement) != NULL) {
            put_text(o, "requirement", attest_requirement_at(cause->requirement)->id);
        }
        if (attest_class_at(cause->suspicion.bug_class) != NULL) {
            json_object_set_new(o, "suspicion", suspicion_json(&cause->suspicion));
        }
        if (cause->needs[0]) {
            put_text(o, "needs", cause->needs);
        }
        json_array_append_new(list, o);
    }
    return list;
}

/* What each check cost and found. */
static json_t *checks_json(const attest_report *r) {
    json_t *list = json_array();
    for (int i = 0; attest_check_at(i) != NULL; i++) {
        const char *name = attest_check_at(i)->name;
        int64_t cases = 0, bad = 0, work = 0;
        double seconds = 0;
        for (size_t k = 0; k < r->count; k++) {
            if (strcmp(r->entries[k].check, name) == 0) {
                cases++;
                bad += attest_verdict_is_bad(r->entries[k].result.verdict);
                seconds += r->entries[k].result.seconds;
                work += r->entries[k].result.work;
            }
        }
        json_array_append_new(list, json_pack("{s:s,s:I,s:I,s:I,s:f}", "name", name, "cases",
                                              (json_int_t)cases, "bad", (json_int_t)bad, "work",
                                              (json_int_t)work, "seconds", seconds));
    }
    return list;
}

static json_t *conventions_json(const attest_report *r) {
    json_t *list = json_array();
    for (int i = 0; i < r->convention_count; i++) {
        json_array_append_new(list, json_pack("{s:s,s:s}", "question", r->conventions[i].question,
                                              "answer", r->conventions[i].answer));
    }
    return list;
}

static json_t *waivers_json(const attest_report *r) {
    json_t *list = json_array();
    for (int i = 0; i < r->waiver_count; i++) {
        const attest_waiver *w = &r->waivers[i];
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:s,s:s,s:b,s:I}", "scope", w->scope, "reason",
                                        w->reason, "link", w->link, "expires", w->expires,
                                        "expired", w->expired, "cases", (json_int_t)w->cases));
    }
    return list;
}

json_t *attest_report_object(const attest_report *r, const attest_certificate *c) {
    json_t *root = json_object(), *suite = json_object(), *cases = json_array();
    put_text(root, "schema", "attest-report-1");
    put_text(suite, "version", r->suite);
    put_number(suite, "abi", ATTEST_ABI_VERSION);
    put_text(suite, "specification", r->specification);
    json_object_set_new(root, "suite", suite);
    put_text(root, "target", r->target);
    put_text(root, "blake2b", r->digest);
    put_text(root, "options", r->options);
    json_object_set_new(root, "kernel", kernel_json(&r->kernel));
    put_text(root, "profile", r->profile);
    put_text(root, "model", r->model);
    put_text(root, "level", r->level);
    char seed[24]; /* 64 bits do not fit a JSON number everywhere */
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->seed);
    put_text(root, "seed", seed);
    put_number(root, "shard", r->shard);
    put_number(root, "shards", r->shards);
    put_text(root, "sandbox", r->sandbox);
    json_object_set_new(root, "protections", protection_list(r->protections));
    json_object_set_new(root, "unprotected", protection_list(~r->protections));
    put_text(root, "incomplete", r->incomplete);
    put_text(root, "load_error", r->load_error);
    put_number(root, "planned", (int64_t)r->planned);
    json_object_set_new(root, "boundaries", attest_boundaries_json(&r->boundaries));
    put_number(root, "probes", r->boundaries.probes);
    json_object_set_new(root, "seconds", json_real(r->seconds));
    json_object_set_new(root, "spent",
                        json_pack("{s:f,s:f,s:f,s:f}", "load", r->spent.load, "discovery",
                                  r->spent.discovery, "cases", r->spent.cases, "again",
                                  r->spent.again));
    json_object_set_new(root, "tried", attest_tried_json(r));
    json_object_set_new(root, "certificate", certificate_json(c));
    json_object_set_new(root, "diagnosis", diagnosis_json(r));
    json_object_set_new(root, "causes", causes_json(r));
    for (size_t i = 0; i < r->count; i++) {
        json_array_append_new(cases, case_json(&r->entries[i]));
    }
    json_object_set_new(root, "waivers", waivers_json(r));
    json_object_set_new(root, "conventions", conventions_json(r));
    put_text(root, "fitting_profiles", r->fitting);
    json_object_set_new(root, "checks", checks_json(r));
    json_object_set_new(root, "cases", cases);
    return root;
}

void attest_report_json(FILE *out, const attest_report *r, const attest_certificate *c) {
    json_t *root = attest_report_object(r, c);
    json_dumpf(root, out, JSON_INDENT(1));
    json_decref(root);
}
