/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as SARIF 2.1.0: a rule a requirement, a result a cause, at the kernel's own file. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "certify/report/replay_line.h"
#include "certify/report/views.h"

static json_t *text_of(const char *text) { return json_pack("{s:s}", "text", text); }

static json_t *rules(void) {
    json_t *list = json_array();
    for (int i = 0; i < attest_requirement_count(); i++) {
        const attest_requirement *q = attest_requirement_at(i);
        json_array_append_new(list, json_pack("{s:s,s:s,s:o,s:o}", "id", q->id, "name", q->title,
                                              "shortDescription", text_of(q->title), "help",
                                              text_of("attest explain shows the requirement.")));
    }
    return list;
}

/* A path as a URI reference: what is not unreserved or a slash is written %XX. */
static char *uri_of(const char *path) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    char *uri = malloc(3 * strlen(path) + 1), *end = uri;
    for (; uri != NULL && *path != '\0'; path++) {
        if (strchr(plain, *path) != NULL) {
            *end++ = *path;
        } else {
            end += snprintf(end, 4, "%%%02X", (unsigned char)*path);
        }
    }
    if (uri != NULL) {
        *end = '\0';
    }
    return uri;
}

static json_t *location(const attest_report *r, const attest_entry *e) {
    char *uri = uri_of(r->target);
    json_t *o =
        json_pack("{s:{s:{s:s},s:{s:i}},s:[{s:s,s:s}]}", "physicalLocation", "artifactLocation",
                  "uri", uri != NULL ? uri : "kernel", "region", "startLine", 1, "logicalLocations",
                  "name", e != NULL ? e->check : "certificate", "kind", "module");
    free(uri);
    return o;
}

static json_t *result(const attest_report *r, const attest_cause *cause) {
    const attest_entry *e = &r->entries[cause->smallest];
    const attest_bug_class *suspected = attest_class_at(cause->suspicion.bug_class);
    const attest_requirement *rule = attest_requirement_at(cause->requirement);
    char text[4096];
    snprintf(text, sizeof text, "%s%s%lld cases. %.500s. Smallest: %s. %s",
             suspected != NULL ? suspected->title : "", suspected != NULL ? "; " : "",
             (long long)cause->cases, e->result.what, e->line, attest_replay_line_of(r, e).text);
    json_t *o = json_pack("{s:s,s:o,s:[o],s:{s:s},s:{s:s,s:s,s:I}}", "level", "error", "message",
                          text_of(text), "locations", location(r, e), "partialFingerprints",
                          "attestCase/v1", e->id, "properties", "case", e->line, "requirements",
                          cause->broken, "cases", (json_int_t)cause->cases);
    if (rule != NULL) {
        json_object_set_new(o, "ruleId", json_string(rule->id));
        json_object_set_new(o, "ruleIndex", json_integer(cause->requirement));
    }
    return o;
}

/* No case failed and yet there is no certificate. */
static json_t *uncertified(const attest_report *r, const attest_certificate *c) {
    return json_pack("{s:s,s:o,s:[o]}", "level", "warning", "message", text_of(c->reason),
                     "locations", location(r, NULL));
}

void attest_report_sarif(FILE *out, const attest_report *r, const attest_certificate *c) {
    json_t *results = json_array();
    for (int i = 0; i < r->cause_count; i++) {
        json_array_append_new(results, result(r, &r->causes[i]));
    }
    if (!c->certified && r->cause_count == 0) {
        json_array_append_new(results, uncertified(r, c));
    }
    json_t *driver = json_pack("{s:s,s:s,s:o}", "name", "attest", "version", ATTEST_SUITE_VERSION,
                               "rules", rules());
    json_t *run = json_pack("{s:{s:o},s:s,s:o}", "tool", "driver", driver, "columnKind",
                            "utf16CodeUnits", "results", results);
    json_t *root =
        json_pack("{s:s,s:s,s:[o]}", "$schema", "https://json.schemastore.org/sarif-2.1.0.json",
                  "version", "2.1.0", "runs", run);
    json_dumpf(root, out, JSON_INDENT(1));
    json_decref(root);
}
