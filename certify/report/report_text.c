/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "certify/plan/names.h"
#include "certify/report/fold.h"
#include "certify/report/print.h"
#include "certify/report/replay_line.h"
#include "certify/report/report_tried.h"
#include "certify/report/tally.h"
#include "certify/result/varies.h"
#include "certify/worker/protection.h"

static const char *paint(const attest_style *style, attest_verdict v) {
    const char *bad = attest_verdict_is_bad(v) ? "\033[31m" : "\033[33m";
    return !style->color ? "" : v == ATTEST_PASS ? "\033[32m" : bad;
}

static const char *plain(const attest_style *style) { return style->color ? "\033[0m" : ""; }

/* A name and a text. */
static void field(FILE *out, const char *name, const char *text) {
    fprintf(out, "  %-13s%s\n", name, text);
}

static void place(FILE *out, const attest_result *r) {
    char text[160];
    int used = snprintf(text, sizeof text, "%s[%lld,%lld,%lld", r->in_lse ? "lse" : "o",
                        (long long)r->place[0], (long long)r->place[1], (long long)r->place[2]);
    if (!r->in_lse) {
        used += snprintf(text + used, sizeof text - (size_t)used, ",%lld", (long long)r->place[3]);
    }
    snprintf(text + used, sizeof text - (size_t)used, "]");
    field(out, "place", text);
    snprintf(text, sizeof text, "%-24a (%.9g)", r->expected, r->expected);
    field(out, "expected", text);
    snprintf(text, sizeof text, "%-24a (%.9g)", r->actual, r->actual);
    field(out, "actual", text);
    if (r->radius > 0) {
        snprintf(text, sizeof text, "%-24a (error is %.3g times that)", r->radius, r->worst);
        field(out, "radius", text);
    }
}

static void failure(FILE *out, const attest_report *report, const attest_entry *entry,
                    const attest_style *style) {
    const attest_result *r = &entry->result;
    const attest_requirement *broken = attest_requirement_at(r->broken);
    char text[ATTEST_LINE_BYTES + 640];
    fprintf(out, "%s%s%s %s %s\n", paint(style, r->verdict), attest_verdict_name(r->verdict),
            plain(style), entry->id, entry->check);
    field(out, "what", r->what);
    if (broken != NULL) {
        snprintf(text, sizeof text, "%s %s (attest explain %s)", broken->id, broken->title,
                 broken->id);
        field(out, "requirement", text);
    }
    if (r->explanation.text[0]) {
        char ids[128];
        attest_ids_print(&r->explanation.ids, ids, sizeof ids);
        fprintf(out, "  explained by %s (%s)\n", r->explanation.text, ids);
    }
    if (r->bug_class > 0 || r->label[0]) {
        const attest_bug_class *known = attest_class_at(r->bug_class);
        const int used = known == NULL ? 0
                                       : snprintf(text, sizeof text, "%d, %s%s", r->bug_class,
                                                  known->title, r->label[0] ? " " : "");
        snprintf(text + used, sizeof text - (size_t)used, r->label[0] ? "(%s)" : "%s", r->label);
        field(out, "class", text);
    }
    if (r->has_value) {
        place(out, r);
    }
    if (r->picture != NULL) {
        for (const char *line = r->picture; *line != '\0';) {
            size_t length = strcspn(line, "\n");
            fprintf(out, "    %.*s\n", (int)length, line);
            line += length + (line[length] == '\n');
        }
    }
    field(out, "case", entry->line);
    field(out, "reproduce", attest_replay_line_of(report, entry).text);
}

void attest_failure_text(FILE *out, const attest_report *report, const attest_entry *entry,
                         const attest_style *style) {
    attest_fold fold;
    FILE *file = attest_fold_begin(&fold, out, style->width);
    failure(file, report, entry, style);
    attest_fold_end(&fold, file);
}

/* The smallest case of each cause. */
static void failures(FILE *out, const attest_report *report, const attest_style *style) {
    enum { MOST = 10 };
    for (int i = 0; i < report->cause_count && i < MOST; i++) {
        const attest_cause *cause = &report->causes[i];
        const attest_bug_class *known = attest_class_at(cause->suspicion.bug_class);
        fprintf(out, "\ndefect %d of %d, %lld case%s", i + 1, report->cause_count,
                (long long)cause->cases, cause->cases == 1 ? "" : "s");
        fprintf(out, known != NULL ? ": class %d, %s\n" : "\n", cause->suspicion.bug_class,
                known != NULL ? known->title : "");
        if (cause->needs[0]) {
            field(out, "all have", cause->needs);
        }
        if (cause->broken[0]) {
            field(out, "breaks", cause->broken);
        }
        failure(out, report, &report->entries[cause->smallest], style);
    }
    if (report->cause_count > MOST) {
        fprintf(out, "\n... and %d more defects (--html and --json have them all)\n",
                report->cause_count - MOST);
    }
}

static void group_table(FILE *out, const attest_certificate *c) {
    fprintf(out, "\n%-6s%-15s%12s%8s%8s%13s%9s%8s\n", "group", "", "requirements", "passed",
            "failed", "in question", "no pass", "not run");
    for (int n = 0; n < ATTEST_GROUPS; n++) {
        const attest_group g = attest_group_of(c, n);
        fprintf(out, "%-6s%-15s%12d%8d%8d%13d%9d%8d\n", g.prefix, g.meaning, g.total, g.passed,
                g.failed, g.doubted, g.without, g.absent);
    }
}

static void waivers(FILE *out, const attest_report *report) {
    for (int i = 0; i < report->waiver_count; i++) {
        const attest_waiver *w = &report->waivers[i];
        if (w->expired) {
            fprintf(out, "waiver expired on %s: %s: %s %s\n", w->expires, w->scope, w->reason,
                    w->link);
        } else if (w->cases == 0) {
            fprintf(out, "waiver not needed: %s: %s %s\n", w->scope, w->reason, w->link);
        } else {
            fprintf(out, "waived: %lld case%s, %s: %s %s\n", (long long)w->cases,
                    w->cases == 1 ? "" : "s", w->scope, w->reason, w->link);
        }
    }
}

/* Rungs of the determinism ladder: what is claimed and held, and what held without being claimed */
static void ladder(FILE *out, const attest_report *r) {
    const char *separator = "determinism ";
    for (int i = 0; attest_rung_table[i] != NULL; i++) {
        const attest_rung rung = attest_rung_of(r, i);
        if (rung.held > 0 && rung.moved == 0) {
            fprintf(out, "%s%s%s", separator, attest_rung_table[i], rung.claimed ? "" : " (found)");
            separator = ", ";
        }
    }
    fputs(strcmp(separator, ", ") == 0 ? "\n" : "", out);
}

static void variations(FILE *out, const attest_report *report) {
    attest_variation list[ATTEST_MOST_VARIATIONS];
    const int found = attest_varies(report, list);
    for (int i = 0; i < found; i++) {
        fprintf(out, "%s  %s  %s\n", i == 0 ? "\nby size and spelling\n" : "", list[i].requirement,
                list[i].text);
    }
}

static void boundaries(FILE *out, const attest_boundaries *all) {
    if (all->probes > 0) {
        fprintf(out, "\n%s (%lld probes)%s\n",
                all->count > 0
                    ? "lengths at which the kernel changes its ways; cases were added there"
                    : "the kernel computes all lengths in one way, as far as bits tell",
                (long long)all->probes, all->count > 0 ? ":" : "");
    }
    for (int axis = 0; axis < ATTEST_AXES; axis++) {
        const char *separator = NULL;
        for (int i = 0; i < all->count; i++) {
            const attest_boundary *b = &all->found[i];
            if (b->axis != (attest_axis)axis) {
                continue;
            }
            if (separator == NULL) {
                fprintf(out, "  %-12s", attest_axis_table[axis]);
            }
            fprintf(out, "%s%lld", separator ? separator : "", (long long)b->at);
            if (b->period > 0) {
                fprintf(out, " and every %lld on", (long long)b->period);
            }
            separator = ", ";
        }
        fputs(separator ? "\n" : "", out);
    }
}

/* What the kernel claims, and is therefore held to. */
static void declared(FILE *out, const attest_kernel_info *k) {
    static const char *const rungs[] = {"none", "finite", "extreme", "bad keys", "full"};
    char features[256];
    attest_feature_names(k->features, features, sizeof features);
    fprintf(out, "capabilities ");
    for (const char *at = features; *at != '\0'; at++) {
        fputs(*at == ',' ? ", " : (const char[]){*at, '\0'}, out);
    }
    fprintf(out, "; types");
    for (attest_dtype t = ATTEST_F32; t <= ATTEST_BF16; t++) {
        if (k->dtypes >> t & 1) {
            fprintf(out, " %s", attest_dtype_name(t));
        }
    }
    fprintf(out, "; shapes");
    for (int bit = 0; attest_shape_table[bit] != NULL; bit++) {
        if (k->shapes >> bit & 1) {
            fprintf(out, " %s", attest_shape_table[bit]);
        }
    }
    fprintf(out, "\ndomain %s", k->finite_only ? "finite inputs" : "all inputs");
    if (k->max_abs_score > 0) {
        fprintf(out, ", scores up to %g", k->max_abs_score);
    }
    const uint32_t rung = k->isolation <= ATTEST_ISOLATION_FULL ? k->isolation : 0;
    fprintf(out, "; isolation %s\n", rungs[rung]);
}

/* Tried in the kernel's process before the kernel was there. */
static void protections(FILE *out, const attest_report *r) {
    const char *separator = ": ";
    fprintf(out, "sandbox %s", r->sandbox);
    for (int p = 0; p < ATTEST_PROTECTIONS; p++) {
        if (r->protections >> p & 1) {
            fprintf(out, "%s%s", separator, attest_protection_name(p));
            separator = ", ";
        }
    }
    separator = "; without ";
    for (int p = 0; p < ATTEST_PROTECTIONS; p++) {
        if (!(r->protections >> p & 1)) {
            fprintf(out, "%s%s", separator, attest_protection_name(p));
            separator = ", ";
        }
    }
    fputc('\n', out);
}

static void quoted_list(FILE *out, const char *key, uint64_t bits, const char *const *table) {
    const char *separator = "";
    fprintf(out, "%s=[", key);
    for (int bit = 0; table[bit] != NULL; bit++) {
        if (bits >> bit & 1) {
            fprintf(out, "%s\"%s\"", separator, table[bit]);
            separator = ", ";
        }
    }
    fprintf(out, "]");
}

/* Of a Python function, which need not have said it: what was found by trying. */
static void decorator(FILE *out, const attest_kernel_info *k) {
    fprintf(out, "to declare the same: @kernel(");
    quoted_list(out, "features", k->features, attest_feature_table);
    quoted_list(out, ", shapes", k->shapes, attest_shape_table);
    quoted_list(out, ", types", k->dtypes, attest_type_table);
    if (k->isolation < ATTEST_ISOLATION_FULL) {
        fprintf(out, ", isolation=\"%s\"", attest_isolation_table[k->isolation]);
    }
    fprintf(out, "%s)\n", k->finite_only ? ", finite_only=True" : "");
}

static void suspicions(FILE *out, const attest_report *r) {
    for (int i = 0; i < r->suspicions; i++) {
        const attest_suspicion *s = &r->diagnosis[i];
        fprintf(out, "%s: class %d, %s; %s\n", i == 0 ? "most likely" : "or", s->bug_class,
                attest_class_at(s->bug_class)->title, s->why);
    }
}

static void verdict(FILE *out, const attest_certificate *c, const attest_style *style) {
    const char *on = paint(style, c->certified ? ATTEST_PASS : ATTEST_FAIL), *off = plain(style);
    if (!c->certified) {
        fprintf(out, "%snot certified%s: %s\n", on, off, c->reason);
    } else if (c->restricted[0] != '\0') {
        fprintf(out, "%scertified%s (restricted: %s)\n", on, off, c->restricted);
    } else {
        fprintf(out, "%scertified%s\n", on, off);
    }
}

static void certificate(FILE *out, const attest_report *r) {
    fprintf(out, "\nsuite %s, ABI %u, specification %s, level %s, seed %llu", ATTEST_SUITE_VERSION,
            ATTEST_ABI_VERSION, ATTEST_SPEC_VERSION, r->level, (unsigned long long)r->seed);
    if (r->shards > 1) {
        fprintf(out, ", shard %d/%d", r->shard, r->shards);
    }
    fprintf(out, "\n");
    if (r->load_error[0] == '\0') {
        fprintf(out, "kernel %s%s%s%s%s, profile %s, model %s\n", r->kernel.name,
                r->kernel.version[0] ? " " : "", r->kernel.version,
                r->kernel.vendor[0] ? " by " : "", r->kernel.vendor, r->profile, r->model);
        declared(out, &r->kernel);
        if (strncmp(r->target, "py:", 3) == 0) {
            decorator(out, &r->kernel);
        }
        ladder(out, r);
    }
    protections(out, r);
    waivers(out, r);
}

static void not_reached(FILE *out, const attest_report *report) {
    const char *separator = "not reached: ";
    for (size_t i = 0; i < report->count;) {
        const char *check = report->entries[i].check;
        int cases = 0, missed = 0;
        for (; i < report->count && strcmp(report->entries[i].check, check) == 0; i++) {
            cases++;
            missed += report->entries[i].result.verdict == ATTEST_NOT_RUN;
        }
        if (missed > 0) {
            fprintf(out, "%s%s %d of %d", separator, check, missed, cases);
            separator = ", ";
        }
    }
    fputs(separator[0] == ',' ? "\n" : "", out);
}

static void whole(FILE *out, const attest_report *report, const attest_certificate *c,
                  const attest_style *style) {
    fputc('\n', out);
    verdict(out, c, style);
    suspicions(out, report);
    failures(out, report, style);
    if (report->count > 0) {
        group_table(out, c);
        boundaries(out, &report->boundaries);
        variations(out, report);
        fprintf(out, "\n%zu cases:", report->count);
        for (int v = 0; v < ATTEST_VERDICTS; v++) {
            if (c->verdicts[v] > 0) {
                fprintf(out, " %lld %s", (long long)c->verdicts[v],
                        attest_verdict_name((attest_verdict)v));
            }
        }
        fprintf(out, "; worst error/radius of a pass %.3f; %.1f s", attest_worst_pass(report),
                report->seconds);
        const attest_spent *t = &report->spent;
        if (t->load + t->discovery + t->cases + t->again > 0) {
            fprintf(out, " (loading %.1f, boundaries %.1f, cases %.1f, failures again %.1f)",
                    t->load, t->discovery, t->cases, t->again);
        }
        fprintf(out, "\n");
        not_reached(out, report);
        attest_tried_text(out, report);
    }
    certificate(out, report);
    suspicions(out, report);
    verdict(out, c, style);
}

void attest_report_text(FILE *out, const attest_report *report, const attest_certificate *c,
                        const attest_style *style) {
    attest_fold fold;
    FILE *file = attest_fold_begin(&fold, out, style->width);
    whole(file, report, c, style);
    attest_fold_end(&fold, file);
}
