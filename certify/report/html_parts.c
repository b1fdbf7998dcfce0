/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/report/html_parts.h"

#include <stdlib.h>
#include <string.h>

#include "certify/plan/names.h"
#include "certify/report/escape.h"
#include "certify/report/report_tried.h"
#include "certify/worker/protection.h"

void attest_html_row(FILE *out, const char *term, const char *text) {
    fprintf(out, "<dt>%s</dt><dd>", term);
    attest_put_xml(out, text);
    fprintf(out, "</dd>\n");
}

void attest_html_key(FILE *out) {
    fprintf(out,
            "<p class=\"key\">masks:<i class=\"seen\"></i>seen<i class=\"hidden\"></i>hidden"
            "<i class=\"added\"></i>seen wrongly<i class=\"lost\"></i>lost; error / radius:"
            "<i class=\"r0\"></i>up to 1/4<i class=\"r1\"></i>1<i class=\"r2\"></i>16"
            "<i class=\"r3\"></i>4096<i class=\"r4\"></i>more, or a wrong kind of value</p>\n");
}

static void open_table(FILE *out, const char *caption) {
    fprintf(out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
            "<table><caption>%s</caption>\n",
            caption, caption);
}

static void close_table(FILE *out) { fprintf(out, "</tbody></table></div>\n"); }

static void where(FILE *out, const attest_report *r, attest_facet rows, attest_facet columns) {
    const attest_table t = attest_table_of(r, rows, columns);
    char caption[64];
    snprintf(caption, sizeof caption, "%s by %s", attest_facet_names[rows],
             attest_facet_names[columns]);
    open_table(out, caption);
    fprintf(out, "<thead><tr><td></td>");
    for (int k = 0; attest_facet_values[columns][k] != NULL; k++) {
        fprintf(out, "<th scope=\"col\">%s</th>", attest_facet_values[columns][k]);
    }
    fprintf(out, "</tr></thead>\n<tbody>\n");
    for (int i = 0; attest_facet_values[rows][i] != NULL; i++) {
        fprintf(out, "<tr><th scope=\"row\">%s</th>", attest_facet_values[rows][i]);
        for (int k = 0; attest_facet_values[columns][k] != NULL; k++) {
            const int64_t bad = t.bad[i][k], ran = t.ran[i][k];
            fprintf(out, "<td class=\"cell %s\" data-at=\"%d %d %d %d\">",
                    ran == 0         ? "none"
                    : bad == 0       ? "c0"
                    : 10 * bad < ran ? "c1"
                    : 2 * bad < ran  ? "c2"
                                     : "c3",
                    (int)rows, i, (int)columns, k);
            fprintf(out, ran > 0 ? "%lld/%lld</td>" : "-</td>", (long long)bad, (long long)ran);
        }
        fprintf(out, "</tr>\n");
    }
    close_table(out);
}

static void choice(FILE *out, attest_facet facet) {
    fprintf(out, "<label>%s <select name=\"%s\"><option value=\"\">all</option>",
            attest_facet_names[facet], attest_facet_names[facet]);
    for (int i = 0; attest_facet_values[facet][i] != NULL; i++) {
        fprintf(out, "<option value=\"%d\">%s</option>", i, attest_facet_values[facet][i]);
    }
    fprintf(out, "</select></label>\n");
}

void attest_html_where(FILE *out, const attest_report *r) {
    fprintf(out,
            "<h2 id=\"where\">Where it fails, and where not</h2>\n"
            "<p>Failed cases of those that ran. The choices hold for the list of cases too.</p>\n"
            "<form id=\"filter\">\n");
    for (int facet = 0; facet < ATTEST_FACETS; facet++) {
        choice(out, (attest_facet)facet);
    }
    fprintf(out, "<label>verdict <select name=\"verdict\"><option value=\"\">all</option>"
                 "<option value=\"bad\">failed</option>");
    for (int v = 0; v < ATTEST_VERDICTS; v++) {
        fprintf(out, "<option>%s</option>", attest_verdict_name((attest_verdict)v));
    }
    fprintf(out, "</select></label>\n<label>text <input name=\"text\" type=\"search\" "
                 "placeholder=\"id, check, option\"></label>\n"
                 "<button type=\"reset\">reset</button>\n</form>\n<div class=\"where\">\n");
    where(out, r, ATTEST_FACET_MASK, ATTEST_FACET_QUERIES);
    where(out, r, ATTEST_FACET_MASK, ATTEST_FACET_KEYS);
    where(out, r, ATTEST_FACET_MASK, ATTEST_FACET_TYPE);
    where(out, r, ATTEST_FACET_MASK, ATTEST_FACET_VALUES);
    where(out, r, ATTEST_FACET_TYPE, ATTEST_FACET_KEYS);
    where(out, r, ATTEST_FACET_VALUES, ATTEST_FACET_KEYS);
    fprintf(out, "</div>\n");
}

void attest_html_requirements(FILE *out, const attest_certificate *c) {
    fprintf(out, "<h2 id=\"requirements\">Requirements</h2>\n");
    open_table(out, "by group");
    fprintf(out, "<thead><tr><th scope=\"col\">group</th><th scope=\"col\">requirements</th>"
                 "<th scope=\"col\">passed</th><th scope=\"col\">failed</th>"
                 "<th scope=\"col\">in question</th><th scope=\"col\">no pass</th>"
                 "<th scope=\"col\">not run</th></tr></thead>\n<tbody>\n");
    for (int n = 0; n < ATTEST_GROUPS; n++) {
        const attest_group g = attest_group_of(c, n);
        fprintf(out,
                "<tr><th scope=\"row\">%s %s</th><td class=\"n\">%d</td><td class=\"n\">%d</td>"
                "<td class=\"n%s\">%d</td><td class=\"n\">%d</td><td class=\"n\">%d</td>"
                "<td class=\"n\">%d</td></tr>\n",
                g.prefix, g.meaning, g.total, g.passed, g.failed ? " failed" : "", g.failed,
                g.doubted, g.without, g.absent);
    }
    close_table(out);
    fprintf(out, "<details><summary>each of them</summary>\n");
    open_table(out, "requirements");
    fprintf(out, "<thead><tr><th scope=\"col\">id</th><th scope=\"col\">title</th>"
                 "<th scope=\"col\">state</th><th scope=\"col\">passed</th>"
                 "<th scope=\"col\">failed</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < attest_requirement_count(); i++) {
        const attest_requirement *q = attest_requirement_at(i);
        const char *state = attest_state_word(&c->state[i]);
        fprintf(out, "<tr><th scope=\"row\">%s</th><td>", q->id);
        attest_put_xml(out, q->title);
        fprintf(out,
                "</td><td class=\"%s\">%s</td><td class=\"n\">%lld</td>"
                "<td class=\"n\">%lld</td></tr>\n",
                state, state, (long long)c->state[i].passed, (long long)c->state[i].bad);
    }
    close_table(out);
    fprintf(out, "</details>\n");
}

void attest_html_accuracy(FILE *out, const attest_report *r) {
    fprintf(out,
            "<h2 id=\"accuracy\">Accuracy</h2>\n<p>Largest error over radius of each case that "
            "passed; the worst is %.3f. Heights go with the square root.</p>\n",
            attest_worst_pass(r));
    attest_draw_histogram(out, r);
}

void attest_html_ladder(FILE *out, const attest_report *r) {
    fprintf(out, "<h2 id=\"ladder\">Determinism</h2>\n");
    open_table(out, "same bits whatever changes");
    fprintf(out,
            "<thead><tr><th scope=\"col\">rung</th><th scope=\"col\">claimed</th>"
            "<th scope=\"col\">held</th><th scope=\"col\">bits moved</th></tr></thead>\n<tbody>\n");
    for (int i = 0; attest_rung_table[i] != NULL; i++) {
        const attest_rung rung = attest_rung_of(r, i);
        fprintf(out,
                "<tr><th scope=\"row\">%s</th><td>%s</td><td class=\"n\">%lld</td>"
                "<td class=\"n%s\">%lld</td></tr>\n",
                attest_rung_table[i], rung.claimed ? "yes" : "no", (long long)rung.held,
                rung.claimed && rung.moved > 0 ? " failed" : "", (long long)rung.moved);
    }
    close_table(out);
}

void attest_html_conventions(FILE *out, const attest_report *r) {
    fprintf(out, "<h2 id=\"conventions\">Conventions</h2>\n");
    if (r->convention_count == 0) {
        fprintf(out, "<p>Not asked in this run; <code>attest fingerprint</code> does.</p>\n");
        return;
    }
    fprintf(out, "<p>Found by probes. Profiles that fit: ");
    attest_put_xml(out, r->fitting[0] ? r->fitting : "none");
    fprintf(out, "</p>\n<dl>\n");
    for (int i = 0; i < r->convention_count; i++) {
        attest_html_row(out, r->conventions[i].question, r->conventions[i].answer);
    }
    fprintf(out, "</dl>\n");
}

void attest_html_tried(FILE *out, const attest_report *r, const attest_certificate *c) {
    fprintf(out, "<h2 id=\"tried\">What was tried, and what not</h2>\n<dl>\n");
    fprintf(out, "<dt>suite</dt><dd>attest %s, ABI %u, specification %s</dd>\n",
            ATTEST_SUITE_VERSION, ATTEST_ABI_VERSION, ATTEST_SPEC_VERSION);
    fprintf(out, "<dt>level</dt><dd>%s, seed %llu, %zu of %zu cases here", r->level,
            (unsigned long long)r->seed, r->count, r->planned);
    if (r->shards > 1) {
        fprintf(out, ", shard %d/%d", r->shard, r->shards);
    }
    fprintf(out, "; %lld not run</dd>\n", (long long)c->verdicts[ATTEST_NOT_RUN]);
    attest_html_row(out, "profile", r->profile);
    attest_html_row(out, "arithmetic", r->model);
    fprintf(out, "<dt>sandbox</dt><dd>%s ", r->sandbox);
    for (int k = 0; k < ATTEST_PROTECTIONS; k++) {
        fprintf(out, "%s%s%s", k ? ", " : "", r->protections >> k & 1 ? "" : "without ",
                attest_protection_name(k));
    }
    fprintf(out, "</dd>\n");
    for (int i = 0; i < r->waiver_count; i++) {
        const attest_waiver *w = &r->waivers[i];
        fprintf(out, "<dt>waiver</dt><dd class=\"%s\">",
                w->expired || w->cases == 0 ? "no" : "waived");
        attest_put_xml(out, w->scope);
        fprintf(out, ": ");
        attest_put_xml(out, w->reason);
        fprintf(out, " ");
        attest_put_xml(out, w->link);
        fprintf(out, w->expired ? " (expired)</dd>\n" : " (%lld cases)</dd>\n",
                (long long)w->cases);
    }
    fprintf(out, "<dt>boundaries found</dt><dd>");
    for (int i = 0; i < r->boundaries.count; i++) {
        const attest_boundary *b = &r->boundaries.found[i];
        fprintf(out, "%s%s %lld", i ? ", " : "", attest_axis_table[b->axis], (long long)b->at);
        if (b->period > 0) {
            fprintf(out, " and every %lld on", (long long)b->period);
        }
    }
    fprintf(out, "%s (%lld probes)</dd>\n</dl>\n", r->boundaries.count ? "" : "none",
            (long long)r->boundaries.probes);
    char *text = NULL;
    size_t size = 0;
    FILE *words = open_memstream(&text, &size);
    if (words != NULL) {
        attest_tried_text(words, r);
        if (fclose(words) == 0) {
            fprintf(out, "<pre class=\"words\" tabindex=\"0\">");
            attest_put_xml(out, text);
            fprintf(out, "</pre>\n");
        }
        free(text);
    }
}

void attest_html_cases(FILE *out) {
    fprintf(out, "<div id=\"cases\"><h2>Cases</h2>\n<p id=\"count\" role=\"status\"></p>\n");
    open_table(out, "those chosen above, failed ones first");
    fprintf(out, "<thead><tr><th scope=\"col\">verdict</th><th scope=\"col\">id</th>"
                 "<th scope=\"col\">check</th><th scope=\"col\">error/radius</th>"
                 "<th scope=\"col\">case</th></tr></thead>\n<tbody id=\"list\">");
    close_table(out);
    fprintf(out, "</div>\n");
}
