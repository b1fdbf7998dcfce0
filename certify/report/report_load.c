/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report back from its JSON, for merging and comparing. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/diagnose/variants.h"
#include "certify/report/boundary_json.h"
#include "certify/report/exhibit_json.h"
#include "certify/report/print.h"
#include "certify/report/report_object.h"
#include "certify/result/text.h"
#include "certify/worker/protection.h"

static void get_text(const json_t *object, const char *key, char *text, size_t size) {
    attest_text_copy(text, size, json_string_value(json_object_get(object, key)));
}

static int64_t get_number(const json_t *object, const char *key) {
    return (int64_t)json_integer_value(json_object_get(object, key));
}

static double get_hex(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? strtod(text, NULL) : 0;
}

static uint32_t load_clues(const json_t *list) {
    uint32_t clues = 0;
    size_t index;
    const json_t *name;
    json_array_foreach(list, index, name) {
        for (int clue = 0; json_is_string(name) && clue < ATTEST_CLUES; clue++) {
            const int named = strcmp(json_string_value(name), attest_clue_names[clue]) == 0;
            clues |= named ? UINT32_C(1) << clue : 0;
        }
    }
    return clues;
}

static void load_ids(const json_t *list, attest_ids *ids) {
    size_t index;
    const json_t *id;
    json_array_foreach(list, index, id) {
        const char *name = json_string_value(id);
        if (name != NULL && attest_requirement_index(name) >= 0) {
            attest_ids_add(ids, name);
        }
    }
}

static void load_explanation(const json_t *o, attest_explanation *e) {
    size_t index;
    const json_t *number;
    load_ids(json_object_get(o, "requirements"), &e->ids);
    get_text(o, "because", e->text, sizeof e->text);
    e->bug_class = (int)get_number(o, "class");
    json_array_foreach(json_object_get(o, "classes"), index, number) {
        const json_int_t bug_class = json_integer_value(number);
        if (bug_class > 0 && bug_class < ATTEST_CLASSES) {
            e->classes |= UINT64_C(1) << bug_class;
        }
    }
}

static uint32_t load_protections(const json_t *list) {
    uint32_t bits = 0;
    size_t index;
    const json_t *name;
    json_array_foreach(list, index, name) {
        for (int p = 0; json_is_string(name) && p < ATTEST_PROTECTIONS; p++) {
            const int named = strcmp(json_string_value(name), attest_protection_name(p)) == 0;
            bits |= named ? UINT32_C(1) << p : 0;
        }
    }
    return bits;
}

static int load_case(const json_t *o, attest_entry *entry) {
    attest_result *r = &entry->result;
    char verdict[32], broken[16], alone[16];
    get_text(o, "id", entry->id, sizeof entry->id);
    get_text(o, "check", entry->check, sizeof entry->check);
    get_text(o, "line", entry->line, sizeof entry->line);
    get_text(o, "waiver", entry->waiver, sizeof entry->waiver);
    get_text(o, "verdict", verdict, sizeof verdict);
    get_text(o, "broken", broken, sizeof broken);
    get_text(o, "what", r->what, sizeof r->what);
    get_text(o, "label", r->label, sizeof r->label);
    get_text(o, "alone", alone, sizeof alone);
    r->alone = strcmp(alone, "same") == 0    ? ATTEST_ALONE_SAME
               : strcmp(alone, "other") == 0 ? ATTEST_ALONE_OTHER
                                             : ATTEST_ALONE_NOT_TRIED;
    r->clued = json_object_get(o, "some") != NULL;
    r->some = load_clues(json_object_get(o, "some"));
    r->every = load_clues(json_object_get(o, "every"));
    r->broken = broken[0] ? attest_requirement_index(broken) : -1;
    r->bug_class = (int)get_number(o, "class");
    const json_t *worst = json_object_get(o, "worst"); /* left out where it is infinite */
    r->worst = worst != NULL ? json_number_value(worst) : (double)INFINITY;
    r->seconds = json_real_value(json_object_get(o, "seconds"));
    r->work = get_number(o, "work");
    const char *picture = json_string_value(json_object_get(o, "picture"));
    if (picture != NULL) {
        r->picture = malloc(strlen(picture) + 1);
        if (r->picture != NULL) {
            memcpy(r->picture, picture, strlen(picture) + 1);
            for (char *line = r->picture, *end; line != NULL; line = end != NULL ? end + 1 : NULL) {
                end = strchr(line, '\n');
                if (end != NULL) {
                    *end = '\0';
                }
                attest_text_clean(line);
                if (end != NULL) {
                    *end = '\n';
                }
            }
        }
    }
    entry->exhibit = attest_exhibit_load(json_object_get(o, "exhibit"));
    const json_t *seen = json_object_get(o, "keys_seen");
    r->keys_seen = seen ? json_real_value(seen) : -1;
    const json_t *value = json_object_get(o, "value"), *place = json_object_get(value, "place");
    if (value != NULL) {
        r->has_value = 1;
        r->in_lse = json_array_size(place) == 3;
        for (size_t axis = 0; axis < json_array_size(place) && axis < 4; axis++) {
            r->place[axis] = (int64_t)json_integer_value(json_array_get(place, axis));
        }
        r->expected = get_hex(value, "expected");
        r->actual = get_hex(value, "actual");
        r->radius = get_hex(value, "radius");
        r->outside = get_number(value, "outside");
    }
    load_ids(json_object_get(o, "requirements"), &r->ids);
    load_ids(json_object_get(o, "untestable"), &r->untestable);
    load_explanation(json_object_get(o, "explanation"), &r->explanation);
    size_t index;
    const json_t *defect;
    r->examined = json_object_get(o, "defects") != NULL;
    json_array_foreach(json_object_get(o, "defects"), index, defect) {
        for (int d = 0; json_is_string(defect) && d < attest_known_count(); d++) {
            if (strcmp(json_string_value(defect), attest_known_name(d)) == 0) {
                r->defects[d / 64] |= UINT64_C(1) << d % 64;
            }
        }
    }
    for (int v = 0; v < ATTEST_VERDICTS; v++) {
        if (strcmp(verdict, attest_verdict_name((attest_verdict)v)) == 0) {
            r->verdict = (attest_verdict)v;
            return strlen(entry->id) == ATTEST_ID_BYTES - 1;
        }
    }
    return 0;
}

static void load_head(const json_t *root, attest_report *r) {
    char seed[32];
    const json_t *kernel = json_object_get(root, "kernel");
    const json_t *suite = json_object_get(root, "suite");
    get_text(suite, "version", r->suite, sizeof r->suite);
    get_text(suite, "specification", r->specification, sizeof r->specification);
    get_text(root, "target", r->target, sizeof r->target);
    get_text(root, "blake2b", r->digest, sizeof r->digest);
    get_text(root, "options", r->options, sizeof r->options);
    get_text(root, "profile", r->profile, sizeof r->profile);
    get_text(root, "model", r->model, sizeof r->model);
    get_text(root, "level", r->level, sizeof r->level);
    get_text(root, "seed", seed, sizeof seed);
    get_text(root, "sandbox", r->sandbox, sizeof r->sandbox);
    r->protections = load_protections(json_object_get(root, "protections"));
    get_text(root, "incomplete", r->incomplete, sizeof r->incomplete);
    get_text(root, "load_error", r->load_error, sizeof r->load_error);
    r->seed = strtoull(seed, NULL, 10);
    r->shard = (int)get_number(root, "shard");
    r->shards = (int)get_number(root, "shards");
    r->planned = (size_t)get_number(root, "planned");
    r->seconds = json_real_value(json_object_get(root, "seconds"));
    const json_t *spent = json_object_get(root, "spent");
    r->spent = (attest_spent){json_real_value(json_object_get(spent, "load")),
                              json_real_value(json_object_get(spent, "discovery")),
                              json_real_value(json_object_get(spent, "cases")),
                              json_real_value(json_object_get(spent, "again"))};
    get_text(kernel, "name", r->kernel.name, sizeof r->kernel.name);
    get_text(kernel, "vendor", r->kernel.vendor, sizeof r->kernel.vendor);
    get_text(kernel, "version", r->kernel.version, sizeof r->kernel.version);
    get_text(kernel, "profile", r->kernel.profile, sizeof r->kernel.profile);
    get_text(kernel, "model", r->kernel.model, sizeof r->kernel.model);
    char features[256], line[300];
    char why[ATTEST_MESSAGE_BYTES];
    attest_case c;
    get_text(kernel, "features", features, sizeof features);
    snprintf(line, sizeof line, "check=x features=%.250s", features);
    r->kernel.features = attest_case_parse(&c, line, why) ? c.features : 0;
    size_t index;
    const json_t *type;
    json_array_foreach(json_object_get(kernel, "types"), index, type) {
        for (attest_dtype t = ATTEST_F32; json_is_string(type) && t <= ATTEST_BF16; t++) {
            if (strcmp(json_string_value(type), attest_dtype_name(t)) == 0) {
                r->kernel.dtypes |= UINT64_C(1) << t;
            }
        }
    }
    r->kernel.shapes = (uint64_t)get_number(kernel, "shapes");
    r->kernel.max_head_size = get_number(kernel, "max_head_size");
    r->kernel.max_queries = get_number(kernel, "max_queries");
    r->kernel.max_keys = get_number(kernel, "max_keys");
    r->kernel.max_abs_score = get_hex(kernel, "max_abs_score");
    r->kernel.exp_ulps = get_hex(kernel, "exp_ulps");
    r->kernel.finite_only = (uint32_t)get_number(kernel, "finite_only");
    r->kernel.isolation = (uint32_t)get_number(kernel, "isolation") & 7;
    r->kernel.determinism = (uint64_t)get_number(kernel, "determinism");
    r->kernel.reentrant = (uint32_t)get_number(kernel, "reentrant");
    r->kernel.alignment = (uint32_t)get_number(kernel, "alignment");
}

static void load_conventions(const json_t *root, attest_report *r) {
    size_t index;
    const json_t *one;
    get_text(root, "fitting_profiles", r->fitting, sizeof r->fitting);
    json_array_foreach(json_object_get(root, "conventions"), index, one) {
        if (r->convention_count < ATTEST_MOST_CONVENTIONS) {
            attest_convention *c = &r->conventions[r->convention_count++];
            get_text(one, "question", c->question, sizeof c->question);
            get_text(one, "answer", c->answer, sizeof c->answer);
        }
    }
}

static void load_waivers(const json_t *root, attest_report *r) {
    size_t index;
    const json_t *one;
    json_array_foreach(json_object_get(root, "waivers"), index, one) {
        if (r->waiver_count < ATTEST_MOST_WAIVERS) {
            attest_waiver *w = &r->waivers[r->waiver_count++];
            get_text(one, "scope", w->scope, sizeof w->scope);
            get_text(one, "reason", w->reason, sizeof w->reason);
            get_text(one, "link", w->link, sizeof w->link);
            get_text(one, "expires", w->expires, sizeof w->expires);
            w->expired = json_is_true(json_object_get(one, "expired"));
            w->cases = get_number(one, "cases");
        }
    }
}

int attest_report_of_object(const json_t *root, attest_report *r) {
    *r = (attest_report){0};
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const json_t *cases = json_object_get(root, "cases");
    int fine = schema != NULL && strcmp(schema, "attest-report-1") == 0 && json_is_array(cases);
    if (fine) {
        load_head(root, r);
        load_conventions(root, r);
        load_waivers(root, r);
        r->boundaries.probes = get_number(root, "probes");
        attest_boundaries_load(json_object_get(root, "boundaries"), &r->boundaries);
        r->entries = calloc(json_array_size(cases) + 1, sizeof *r->entries);
        fine = r->entries != NULL && r->kernel.isolation <= ATTEST_ISOLATION_FULL;
    }
    size_t index;
    const json_t *one;
    json_array_foreach(cases, index, one) {
        if (fine) {
            fine = load_case(one, &r->entries[r->count++]);
        }
    }
    return fine;
}

int attest_report_load(const char *path, attest_report *r, char why[ATTEST_MESSAGE_BYTES]) {
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    const int fine = attest_report_of_object(root, r);
    if (!fine) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "%.120s is not a report of attest: %.100s", path,
                 root ? "wrong schema" : error.text);
        attest_report_free(r);
    }
    json_decref(root);
    return fine;
}
