/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as one HTML page that needs no network: page.css and page.js are part of it. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "certify/plan/names.h"
#include "certify/report/escape.h"
#include "certify/report/html_parts.h"
#include "certify/report/replay_line.h"
#include "certify/report/views.h"
#include "generated/page.inc"

static void lines(FILE *out, const char *const *text) {
    for (int i = 0; text[i] != NULL; i++) {
        fputs(text[i], out);
    }
}

static void verdict(FILE *out, const attest_report *r, const attest_certificate *c) {
    fprintf(out, "<header class=\"%s\">\n<h1>%s</h1>\n", c->certified ? "good" : "bad",
            c->certified ? "Certified" : "Not certified");
    if (c->reason[0] || c->restricted[0]) {
        fprintf(out, "<p>%s", c->certified ? "restricted: " : "");
        attest_put_xml(out, c->certified ? c->restricted : c->reason);
        fprintf(out, "</p>\n");
    }
    for (int i = 0; i < r->suspicions; i++) {
        const attest_suspicion *s = &r->diagnosis[i];
        fprintf(out, "<p%s>%s: class %d, ", i == 0 ? " class=\"likely\"" : "",
                i == 0 ? "<strong>Most likely</strong>" : "or", s->bug_class);
        attest_put_xml(out, attest_class_at(s->bug_class)->title);
        fprintf(out, "; ");
        attest_put_xml(out, s->why);
        fprintf(out, "</p>\n");
    }
    fprintf(out, "<dl>\n");
    attest_html_row(out, "kernel", r->kernel.name[0] ? r->kernel.name : "not loaded");
    attest_html_row(out, "target", r->target);
    fprintf(out, "<dt>cases</dt><dd>");
    const char *separator = "";
    for (int v = 0; v < ATTEST_VERDICTS; v++) {
        if (c->verdicts[v] > 0) {
            fprintf(out, "%s%lld %s", separator, (long long)c->verdicts[v],
                    attest_verdict_name((attest_verdict)v));
            separator = ", ";
        }
    }
    fprintf(out, "</dd>\n</dl>\n</header>\n<nav aria-label=\"parts of the report\">");
    static const char *const parts[][2] = {
        {"defects", "Defects"},      {"where", "Where it fails"}, {"requirements", "Requirements"},
        {"accuracy", "Accuracy"},    {"ladder", "Determinism"},   {"conventions", "Conventions"},
        {"tried", "What was tried"}, {"cases", "Cases"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        fprintf(out, "<a href=\"#%s\">%s</a> ", parts[i][0], parts[i][1]);
    }
    fprintf(out, "</nav>\n<main>\n");
}

static void program(FILE *out, const char *language, const char *text, int number) {
    if (text == NULL) {
        return;
    }
    fprintf(out,
            "<details><summary>reproduce in %s</summary>\n<button type=\"button\" "
            "data-copy=\"p%d-%s\">copy</button>\n<pre id=\"p%d-%s\" tabindex=\"0\">",
            language, number, language, number, language);
    attest_put_xml(out, text);
    fprintf(out, "</pre></details>\n");
}

static void values(FILE *out, const attest_result *r) {
    if (!r->has_value) {
        return;
    }
    fprintf(out, "<dt>place</dt><dd><code>%s[%lld,%lld,%lld", r->in_lse ? "lse" : "o",
            (long long)r->place[0], (long long)r->place[1], (long long)r->place[2]);
    if (!r->in_lse) {
        fprintf(out, ",%lld", (long long)r->place[3]);
    }
    fprintf(out,
            "]</code></dd>\n<dt>expected</dt><dd><code>%a</code> (%.9g)</dd>\n<dt>actual</dt>"
            "<dd><code>%a</code> (%.9g)</dd>\n",
            r->expected, r->expected, r->actual, r->actual);
    if (r->radius > 0) {
        fprintf(out, "<dt>radius</dt><dd><code>%a</code>; the error is %.3g times that</dd>\n",
                r->radius, r->worst);
    }
}

static void cause(FILE *out, const attest_report *r, int number) {
    const attest_cause *cause = &r->causes[number];
    const attest_entry *e = &r->entries[cause->smallest];
    const attest_bug_class *suspected = attest_class_at(cause->suspicion.bug_class);
    const attest_requirement *broken = attest_requirement_at(e->result.broken);
    fprintf(out, "<section class=\"cause\">\n<h3>%d. ", number + 1);
    attest_put_xml(out, suspected != NULL ? suspected->title : cause->what);
    fprintf(out, "</h3>\n<p>%lld %s", (long long)cause->cases,
            cause->cases == 1 ? "case" : "cases");
    if (cause->needs[0]) {
        fprintf(out, "; all have ");
        attest_put_xml(out, cause->needs);
    }
    fprintf(out, "</p>\n<dl>\n");
    if (suspected != NULL) {
        fprintf(out, "<dt>class</dt><dd>%d: ", cause->suspicion.bug_class);
        attest_put_xml(out, cause->suspicion.why);
        fprintf(out, "</dd>\n");
    }
    attest_html_row(out, "breaks", cause->broken);
    fprintf(out, "<dt>smallest case</dt><dd>%s of <code>%s</code>, %s",
            attest_verdict_name(e->result.verdict), e->check, e->id);
    if (broken != NULL) {
        fprintf(out, ": %s ", broken->id);
        attest_put_xml(out, broken->title);
    }
    fprintf(out, "</dd>\n");
    attest_html_row(out, "what", e->result.what);
    if (e->result.explanation.text[0]) {
        attest_html_row(out, "gives the same", e->result.explanation.text);
    }
    values(out, &e->result);
    fprintf(out, "<dt>case</dt><dd><code>");
    attest_put_xml(out, e->line);
    fprintf(out, "</code></dd>\n<dt>reproduce</dt><dd><code>");
    attest_put_xml(out, attest_replay_line_of(r, e).text);
    fprintf(out, "</code></dd>\n</dl>\n");
    for (int i = 0; e->exhibit != NULL && i < e->exhibit->map_count; i++) {
        attest_draw_map(out, &e->exhibit->maps[i], e->exhibit->mask_known);
    }
    if (e->exhibit != NULL) {
        attest_html_key(out);
        program(out, "C", e->exhibit->c_program, number);
        program(out, "Python", e->exhibit->numpy_program, number);
    } else if (e->result.picture != NULL) {
        fprintf(out, "<pre tabindex=\"0\">");
        attest_put_xml(out, e->result.picture);
        fprintf(out, "</pre>\n");
    }
    fprintf(out, "</section>\n");
}

static void causes(FILE *out, const attest_report *r) {
    fprintf(out, "<h2 id=\"defects\">Defects</h2>\n");
    if (r->load_error[0] != '\0') {
        fprintf(out, "<pre tabindex=\"0\">");
        attest_put_xml(out, r->load_error);
        fprintf(out, "</pre>\n");
    } else if (r->cause_count == 0) {
        fprintf(out, "<p>No case failed.</p>\n");
    }
    for (int i = 0; i < r->cause_count; i++) {
        cause(out, r, i);
    }
}

/* For the page's script. What ends a script element has no place inside one. */
static void data(FILE *out, const attest_report *r) {
    fprintf(out, "<script type=\"application/json\" id=\"data\">[");
    const char *separator = "";
    for (size_t i = 0; i < r->count; i++) {
        const attest_entry *e = &r->entries[i];
        int f[ATTEST_FACETS];
        if (!attest_facets_of(e, f)) {
            continue;
        }
        json_t *one = json_pack(
            "{s:s,s:s,s:s,s:b,s:[iiiii],s:o,s:s}", "id", e->id, "check", e->check, "verdict",
            attest_verdict_name(e->result.verdict), "bad", attest_verdict_is_bad(e->result.verdict),
            "facets", f[0], f[1], f[2], f[3], f[4], "ratio",
            e->result.worst > 0 && isfinite(e->result.worst) ? json_real(e->result.worst)
                                                             : json_null(),
            "line", e->line);
        char *text = one != NULL ? json_dumps(one, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
        fprintf(out, "%s\n", text != NULL ? separator : "");
        separator = text != NULL ? "," : separator;
        for (const char *at = text; at != NULL && *at != '\0'; at++) {
            fputs(*at == '<' ? "\\u003c" : *at == '&' ? "\\u0026" : (const char[]){*at, '\0'}, out);
        }
        free(text);
        json_decref(one);
    }
    fprintf(out, "]</script>\n");
}

void attest_report_html(FILE *out, const attest_report *r, const attest_certificate *c) {
    fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<title>attest: ");
    attest_put_xml(out, r->kernel.name[0] ? r->kernel.name : r->target);
    fprintf(out, ", %s</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n",
            c->certified ? "certified" : "not certified");
    lines(out, page_css);
    fprintf(out, "</style>\n</head>\n<body>\n");
    verdict(out, r, c);
    causes(out, r);
    attest_html_where(out, r);
    attest_html_requirements(out, c);
    attest_html_accuracy(out, r);
    attest_html_ladder(out, r);
    attest_html_conventions(out, r);
    attest_html_tried(out, r, c);
    attest_html_cases(out);
    fprintf(out, "</main>\n");
    data(out, r);
    fprintf(out, "<script>\n");
    lines(out, page_js);
    fprintf(out, "</script>\n</body>\n</html>\n");
}
