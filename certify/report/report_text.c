/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/plan/names.h"
#include "certify/report/print.h"

static const char *paint(int color, attest_verdict v) {
    const char *bad = attest_verdict_is_bad(v) ? "\033[31m" : "\033[33m";
    return !color ? "" : v == ATTEST_PASS ? "\033[32m" : bad;
}

void attest_failure_text(FILE *out, const attest_report *report, const attest_entry *entry) {
    const attest_result *r = &entry->result;
    const attest_requirement *broken = attest_requirement_at(r->broken);
    fprintf(out, "%s %s %s\n", attest_verdict_name(r->verdict), entry->id, entry->check);
    fprintf(out, "  what         %s\n", r->what);
    if (broken != NULL) {
        fprintf(out, "  requirement  %s %s (attest explain %s)\n", broken->id, broken->title,
                broken->id);
    }
    if (r->bug_class > 0 || r->label[0]) {
        fprintf(out, "  class       ");
        if (attest_class_at(r->bug_class) != NULL) {
            fprintf(out, " %d, %s", r->bug_class, attest_class_at(r->bug_class)->title);
        }
        fprintf(out, "%s%s%s\n", r->label[0] ? " (" : "", r->label, r->label[0] ? ")" : "");
    }
    if (r->has_value) {
        fprintf(out, "  place        %s[%lld,%lld,%lld", r->in_lse ? "lse" : "o",
                (long long)r->place[0], (long long)r->place[1], (long long)r->place[2]);
        if (!r->in_lse) {
            fprintf(out, ",%lld", (long long)r->place[3]);
        }
        fprintf(out, "]\n  expected     %-24a (%.9g)\n  actual       %-24a (%.9g)\n", r->expected,
                r->expected, r->actual, r->actual);
        if (r->radius > 0) {
            fprintf(out, "  radius       %-24a (error is %.3g times that)\n", r->radius, r->worst);
        }
    }
    if (r->picture != NULL) {
        for (const char *line = r->picture; *line != '\0';) {
            size_t length = strcspn(line, "\n");
            fprintf(out, "    %.*s\n", (int)length, line);
            line += length + (line[length] == '\n');
        }
    }
    fprintf(out, "  case         %s\n", entry->line);
    if (report->level[0] == '\0') { /* of no plan, so no plan has its id */
        fprintf(out, "  reproduce    attest replay '%s' '%s'\n", entry->line, report->target);
        return;
    }
    fprintf(out, "  reproduce    attest replay %s --level %s --seed %llu '%s'\n", entry->id,
            report->level, (unsigned long long)report->seed, report->target);
}

static void failures(FILE *out, const attest_report *report) {
    enum { MOST = 10 };
    int shown = 0, hidden = 0;
    for (size_t i = 0; i < report->count; i++) {
        const attest_entry *entry = &report->entries[i];
        if (!attest_verdict_is_bad(entry->result.verdict)) {
            continue;
        }
        int repeated = 0; /* one failure a check and requirement tells most of the story */
        for (size_t k = 0; k < i && !repeated; k++) {
            const attest_entry *other = &report->entries[k];
            repeated = attest_verdict_is_bad(other->result.verdict) &&
                       strcmp(other->check, entry->check) == 0 &&
                       other->result.broken == entry->result.broken &&
                       other->result.verdict == entry->result.verdict;
        }
        if (repeated || shown >= MOST) {
            hidden++;
            continue;
        }
        shown++;
        fputc('\n', out);
        attest_failure_text(out, report, entry);
    }
    if (hidden > 0) {
        fprintf(out, "\n... and %d more like these (--json has them all)\n", hidden);
    }
}

static void group_table(FILE *out, const attest_certificate *c) {
    static const struct {
        const char *prefix, *meaning;
    } groups[] = {
        {"SEM", "semantics"},      {"MASK", "masks"},      {"NUM", "numerics"},
        {"MEM", "memory"},         {"ISO", "isolation"},   {"DET", "determinism"},
        {"SPV", "special values"}, {"ERR", "errors"},      {"CAP", "capabilities"},
    };
    fprintf(out, "\n%-6s%-16s%12s%8s%8s%10s%9s\n", "group", "", "requirements", "passed", "failed",
            "no pass", "not run");
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        int total = 0, passed = 0, failed = 0, without = 0, absent = 0;
        const size_t length = strlen(groups[g].prefix);
        for (int i = 0; i < attest_requirement_count(); i++) {
            const char *id = attest_requirement_at(i)->id;
            if (strncmp(id, groups[g].prefix, length) != 0 || id[length] != '-') {
                continue;
            }
            const attest_requirement_state *s = &c->state[i];
            total++;
            failed += s->bad > 0;
            passed += s->bad == 0 && s->passed > 0;
            without += s->bad == 0 && s->passed == 0 && s->neutral + s->waived > 0;
            absent += s->bad + s->passed + s->neutral + s->waived == 0;
        }
        fprintf(out, "%-6s%-16s%12d%8d%8d%10d%9d\n", groups[g].prefix, groups[g].meaning, total,
                passed, failed, without, absent);
    }
}

static void waivers(FILE *out, const attest_report *report) {
    for (size_t i = 0; i < report->count; i++) {
        if (report->entries[i].result.verdict == ATTEST_WAIVED) {
            fprintf(out, "waived: %s %s: %s\n", report->entries[i].id, report->entries[i].check,
                    report->entries[i].waiver);
        }
    }
}

/* Rungs of the determinism ladder: what is claimed and held, and what held without being claimed. */
static void ladder(FILE *out, const attest_report *r) {
    int64_t held[64] = {0}, moved[64] = {0};
    for (size_t i = 0; i < r->count; i++) {
        const attest_entry *e = &r->entries[i];
        const char *rung = strcmp(e->check, "ladder") == 0 ? strstr(e->line, " p0=") : NULL;
        const int number = rung != NULL ? atoi(rung + 4) & 63 : 0;
        if (strcmp(e->check, "ladder") == 0) {
            held[number] += e->result.verdict == ATTEST_PASS;
            moved[number] += strcmp(e->result.label, "other bits") == 0;
        }
    }
    const char *separator = "determinism ";
    for (int i = 0; attest_rung_table[i] != NULL; i++) {
        const int claimed = (int)(r->kernel.determinism >> i & 1);
        if (held[i] > 0 && moved[i] == 0) {
            fprintf(out, "%s%s%s", separator, attest_rung_table[i], claimed ? "" : " (found)");
            separator = ", ";
        }
    }
    fputs(strcmp(separator, ", ") == 0 ? "\n" : "", out);
}

static void boundaries(FILE *out, const attest_boundaries *all) {
    if (all->probes > 0) {
        fprintf(out, "\nboundaries found with %lld probes%s\n", (long long)all->probes,
                all->count > 0 ? ":" : ": none");
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
    fprintf(out, "capabilities %s; types", features);
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

static void certificate(FILE *out, const attest_report *r, const attest_certificate *c, int color) {
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
        ladder(out, r);
        fprintf(out, "sandbox %s%s%s%s\n", r->sandbox, r->notes[0] ? " (" : "", r->notes,
                r->notes[0] ? ")" : "");
    }
    waivers(out, r);
    for (int i = 0; i < r->suspicions; i++) {
        const attest_suspicion *s = &r->diagnosis[i];
        fprintf(out, "%s: class %d, %s; %s\n", i == 0 ? "most likely" : "or", s->bug_class,
                attest_class_at(s->bug_class)->title, s->why);
    }
    const char *on = paint(color, c->certified ? ATTEST_PASS : ATTEST_FAIL);
    const char *off = color ? "\033[0m" : "";
    if (!c->certified) {
        fprintf(out, "%snot certified%s: %s\n", on, off, c->reason);
    } else if (c->restricted[0] != '\0') {
        fprintf(out, "%scertified%s (restricted: %s)\n", on, off, c->restricted);
    } else {
        fprintf(out, "%scertified%s\n", on, off);
    }
}

void attest_report_text(FILE *out, const attest_report *report, const attest_certificate *c,
                        int color) {
    failures(out, report);
    double worst = 0;
    for (size_t i = 0; i < report->count; i++) {
        const attest_result *r = &report->entries[i].result;
        worst = r->verdict == ATTEST_PASS && r->worst > worst ? r->worst : worst;
    }
    if (report->count > 0) {
        group_table(out, c);
        boundaries(out, &report->boundaries);
        fprintf(out, "\n%zu cases:", report->count);
        for (int v = 0; v < ATTEST_VERDICTS; v++) {
            if (c->verdicts[v] > 0) {
                fprintf(out, " %lld %s", (long long)c->verdicts[v],
                        attest_verdict_name((attest_verdict)v));
            }
        }
        fprintf(out, "; worst error/radius of a pass %.3f; %.1f s\n", worst, report->seconds);
    }
    certificate(out, report, c, color);
}
