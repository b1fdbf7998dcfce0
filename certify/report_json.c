/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as JSON (spec/report.schema.json) and back. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boundary_json.h"
#include "report.h"
#include "variants.h"

static void put_text(json_t *object, const char *key, const char *value) {
    json_object_set_new(object, key, json_string(value));
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
    json_object_set_new(o, "seconds", json_real(r->seconds));
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
        if (s->passed + s->bad + s->neutral + s->waived > 0) {
            const char *state = s->bad ? "failed" : s->passed ? "passed" : s->waived ? "waived"
                                                                                     : "no pass";
            put_text(states, attest_requirement_at(i)->id, state);
        }
    }
    for (int v = 0; v < ATTEST_VERDICTS; v++) {
        put_number(verdicts, attest_verdict_name((attest_verdict)v), c->verdicts[v]);
    }
    json_object_set_new(o, "requirements", states);
    json_object_set_new(o, "verdicts", verdicts);
    return o;
}

/* What each check cost and found. */
static json_t *checks_json(const attest_report *r) {
    json_t *list = json_array();
    for (int i = 0; attest_check_at(i) != NULL; i++) {
        const char *name = attest_check_at(i)->name;
        int64_t cases = 0, bad = 0;
        double seconds = 0;
        for (size_t k = 0; k < r->count; k++) {
            if (strcmp(r->entries[k].check, name) == 0) {
                cases++;
                bad += attest_verdict_is_bad(r->entries[k].result.verdict);
                seconds += r->entries[k].result.seconds;
            }
        }
        json_array_append_new(list, json_pack("{s:s,s:I,s:I,s:f}", "name", name, "cases",
                                              (json_int_t)cases, "bad", (json_int_t)bad,
                                              "seconds", seconds));
    }
    return list;
}

int attest_report_json(const char *path, const attest_report *r, const attest_certificate *c,
                       char why[ATTEST_MESSAGE_BYTES]) {
    json_t *root = json_object(), *suite = json_object(), *cases = json_array();
    put_text(root, "schema", "attest-report-1");
    put_text(suite, "version", ATTEST_SUITE_VERSION);
    put_number(suite, "abi", ATTEST_ABI_VERSION);
    put_text(suite, "specification", ATTEST_SPEC_VERSION);
    json_object_set_new(root, "suite", suite);
    put_text(root, "target", r->target);
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
    put_text(root, "notes", r->notes);
    put_text(root, "incomplete", r->incomplete);
    put_text(root, "load_error", r->load_error);
    put_number(root, "planned", (int64_t)r->planned);
    json_object_set_new(root, "boundaries", attest_boundaries_json(&r->boundaries));
    put_number(root, "probes", r->boundaries.probes);
    json_object_set_new(root, "seconds", json_real(r->seconds));
    json_object_set_new(root, "certificate", certificate_json(c));
    for (size_t i = 0; i < r->count; i++) {
        json_array_append_new(cases, case_json(&r->entries[i]));
    }
    json_object_set_new(root, "checks", checks_json(r));
    json_object_set_new(root, "cases", cases);
    int written = json_dump_file(root, path, JSON_INDENT(1)) == 0;
    json_decref(root);
    if (!written) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "%.180s cannot be written", path);
    }
    return written;
}

static void get_text(const json_t *object, const char *key, char *text, size_t size) {
    const char *value = json_string_value(json_object_get(object, key));
    snprintf(text, size, "%s", value ? value : "");
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
    r->worst = json_real_value(json_object_get(o, "worst"));
    r->seconds = json_real_value(json_object_get(o, "seconds"));
    const char *picture = json_string_value(json_object_get(o, "picture"));
    if (picture != NULL) {
        r->picture = malloc(strlen(picture) + 1);
        if (r->picture != NULL) {
            memcpy(r->picture, picture, strlen(picture) + 1);
        }
    }
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
    size_t index;
    const json_t *id;
    json_array_foreach(json_object_get(o, "requirements"), index, id) {
        const char *name = json_string_value(id);
        if (name != NULL && attest_requirement_index(name) >= 0) {
            attest_ids_add(&r->ids, name);
        }
    }
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
    get_text(root, "target", r->target, sizeof r->target);
    get_text(root, "profile", r->profile, sizeof r->profile);
    get_text(root, "model", r->model, sizeof r->model);
    get_text(root, "level", r->level, sizeof r->level);
    get_text(root, "seed", seed, sizeof seed);
    get_text(root, "sandbox", r->sandbox, sizeof r->sandbox);
    get_text(root, "notes", r->notes, sizeof r->notes);
    get_text(root, "incomplete", r->incomplete, sizeof r->incomplete);
    get_text(root, "load_error", r->load_error, sizeof r->load_error);
    r->seed = strtoull(seed, NULL, 10);
    r->shard = (int)get_number(root, "shard");
    r->shards = (int)get_number(root, "shards");
    r->planned = (size_t)get_number(root, "planned");
    r->seconds = json_real_value(json_object_get(root, "seconds"));
    get_text(kernel, "name", r->kernel.name, sizeof r->kernel.name);
    get_text(kernel, "vendor", r->kernel.vendor, sizeof r->kernel.vendor);
    get_text(kernel, "version", r->kernel.version, sizeof r->kernel.version);
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

int attest_report_load(const char *path, attest_report *r, char why[ATTEST_MESSAGE_BYTES]) {
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    *r = (attest_report){0};
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const json_t *cases = json_object_get(root, "cases");
    int fine = schema != NULL && strcmp(schema, "attest-report-1") == 0 && json_is_array(cases);
    if (fine) {
        load_head(root, r);
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
    if (!fine) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "%.120s is not a report of attest: %.100s", path,
                 root ? "wrong schema" : error.text);
        attest_report_free(r);
    }
    json_decref(root);
    return fine;
}
