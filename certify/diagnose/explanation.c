/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/diagnose/explanation.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/diagnose/misreadings.h"
#include "certify/plan/data.h"
#include "reference/problem/convert.h"

enum {
    MOST_COLUMNS = 6, /* with the LSE enough that nothing fits by chance */
    MOST_MODULUS = 64
};
#define MOST_WORK (INT64_C(1) << 27) /* multiplications for one row */

/* Which keys are taken by the misreading; the fewer words it needs, the likelier. */
typedef enum family { ALL, FROM, UP_TO, RESIDUE, ONE, FAMILIES } family;

/* The sum of weights, and of weights times the columns looked at. */
typedef struct sums {
    double weight, output[MOST_COLUMNS];
} sums;

/* The wrong row of a failed case: what was asked, what was answered, what explains it so far. */
typedef struct wrong_row {
    attest_question right;
    int64_t keys, columns, column[MOST_COLUMNS];
    double actual[MOST_COLUMNS], tolerance[MOST_COLUMNS];
    int has_lse;
    double lse, lse_tolerance;
    attest_term *terms, *others; /* as asked, and as misread */
    sums *change;                /* by each key, from the one to the other */
    double unit;                 /* the score whose weight is 1 */
    int sees;                    /* the row sees a key, or has a sink */
    int best; /* rank of what was found: twice its family, one more if it is loose */
    int64_t found;
    attest_result *result;
} wrong_row;

__attribute__((format(printf, 3, 4))) static void say(wrong_row *w, const attest_misreading *m,
                                                      const char *format, ...) {
    attest_explanation *e = &w->result->explanation;
    attest_ids_add(&e->ids, m->ids);
    for (int k = 0; k < 4 && m->classes[k] > 0; k++) {
        e->classes |= UINT64_C(1) << m->classes[k];
        e->bug_class = e->bug_class == 0 ? m->classes[k] : e->bug_class;
    }
    if (e->text[0] == '\0') {
        va_list arguments;
        va_start(arguments, format);
        const int length = snprintf(e->text, sizeof e->text, "%s", m->text);
        vsnprintf(e->text + length, sizeof e->text - (size_t)length, format, arguments);
        va_end(arguments);
    }
}

static int alike(double a, double b, double tolerance) {
    if (!isfinite(a) || !isfinite(b)) {
        return (isnan(a) && isnan(b)) || a == b;
    }
    return fabs(a - b) <= tolerance;
}

/* Terms, the largest score of them and the sink. */
static double take_terms(const wrong_row *w, const attest_question *a, attest_term *terms) {
    double top = attest_question_sink(a);
    for (int64_t j = 0; j < w->keys; j++) {
        terms[j] = attest_question_key(a, j);
        top = terms[j].seen && terms[j].score > top ? terms[j].score : top;
    }
    return top;
}

static sums of_term(const wrong_row *w, const attest_question *a, const attest_term *term,
                    double top) {
    sums s = {0};
    if (!term->seen) {
        return s;
    }
    double weight = exp(term->score - w->unit), mixed = weight;
    if (a->weight != 0) {
        mixed = attn_round_to(a->weight, exp(term->score - top)) * exp(top - w->unit);
    }
    s.weight = weight;
    for (int64_t c = 0; c < w->columns; c++) {
        s.output[c] = mixed * attest_question_value(a, term, w->column[c]);
    }
    return s;
}

static void add(sums *to, const sums *more, int64_t columns) {
    to->weight += more->weight;
    for (int64_t c = 0; c < columns; c++) {
        to->output[c] += more->output[c];
    }
}

static double lse_of(const wrong_row *w, const attest_question *a, const sums *s, double top) {
    double weight = s->weight;
    if (a->lse == ATTEST_LSE_NO_SINK) {
        weight -= exp(attest_question_sink(a) - w->unit);
    }
    double lse = log(weight) + w->unit;
    lse -= a->lse == ATTEST_LSE_NO_MAXIMUM ? top : 0;
    const int base_2 =
        (a->n->profile.lse_base == ATTN_LSE_BASE_2) != (a->lse == ATTEST_LSE_OTHER_BASE);
    return base_2 ? lse / log(2) : lse;
}

/* Would these sums give what the kernel did? */
static int fits(const wrong_row *w, const attest_question *a, const sums *s, double top) {
    const int none = s->weight == 0;
    /* What binary32 leaves of a large score moves every weight. */
    const double blur = 0x1p-22 * fabs(w->unit);
    /* A row that has lost all is 0, or 0/0. */
    const int lost = none && w->sees && fabs(w->unit) < 80; /* else exp may overflow */
    if (w->has_lse && !(lost && isnan(w->lse)) &&
        !alike(none ? -(double)INFINITY : lse_of(w, a, s, top), w->lse, w->lse_tolerance + blur)) {
        return 0;
    }
    for (int64_t c = 0; c < w->columns; c++) {
        const double divisor = a->divided ? s->weight : exp(top - w->unit);
        const double slack = w->tolerance[c] + blur * fabs(w->actual[c]);
        if (!(lost && isnan(w->actual[c])) &&
            !alike(none ? 0 : s->output[c] / divisor, w->actual[c], slack)) {
            return 0;
        }
    }
    return 1;
}

/* 1 if this family is worth a word: nothing simpler explains the row. */
static int counts(wrong_row *w, const attest_misreading *m, family f) {
    const int rank = 2 * (int)f + attest_misreading_is_loose(m);
    if (w->found > 0 && rank > w->best) {
        return 0;
    }
    if (w->found == 0 || rank < w->best) {
        w->result->explanation = (attest_explanation){.text = ""};
        w->best = rank;
    }
    w->found++;
    return 1;
}

static void try_ranges(wrong_row *w, const attest_question *a, const attest_misreading *m,
                       const sums *whole, double top) {
    sums from = *whole, up_to = *whole; /* as if all keys were right */
    for (int64_t j = w->keys - 1; j > 0; j--) {
        add(&from, &w->change[j], w->columns);
        if (w->change[j].weight != 0 && fits(w, a, &from, top) && counts(w, m, FROM)) {
            say(w, m, ", for keys from %lld on", (long long)j);
            break;
        }
    }
    for (int64_t j = 0; j < w->keys - 1; j++) {
        add(&up_to, &w->change[j], w->columns);
        if (w->change[j].weight != 0 && fits(w, a, &up_to, top) && counts(w, m, UP_TO)) {
            say(w, m, ", for keys up to %lld", (long long)j);
            break;
        }
    }
}

static void try_residues(wrong_row *w, const attest_question *a, const attest_misreading *m,
                         const sums *whole, double top) {
    for (int64_t modulus = 2; modulus <= MOST_MODULUS && modulus < w->keys; modulus++) {
        sums by[MOST_MODULUS];
        for (int64_t r = 0; r < modulus; r++) {
            by[r] = *whole;
        }
        for (int64_t j = 0; j < w->keys; j++) {
            add(&by[j % modulus], &w->change[j], w->columns);
        }
        for (int64_t r = 0; r < modulus; r++) {
            if (fits(w, a, &by[r], top) && counts(w, m, RESIDUE)) {
                say(w, m, ", for keys that are %lld modulo %lld", (long long)r, (long long)modulus);
                return;
            }
        }
    }
}

static void try_one(wrong_row *w, const attest_question *a, const attest_misreading *m,
                    const sums *whole, double top) {
    for (int64_t j = 0; j < w->keys; j++) {
        sums one = *whole;
        add(&one, &w->change[j], w->columns);
        if (fits(w, a, &one, top) && counts(w, m, ONE)) {
            say(w, m, ", for key %lld alone", (long long)j);
            return;
        }
    }
}

/* The sums of a kernel that forgets to rescale what it has when the maximum rises. */
static sums not_rescaled(const wrong_row *w, const attest_question *a, double top) {
    const int64_t tile = a->sum_tile > 0 ? a->sum_tile : a->output_tile;
    const double sink = attest_question_sink(a);
    sums all = {.weight = sink > -(double)INFINITY ? exp(sink - w->unit) : 0};
    double maximum = sink;
    for (int64_t j = 0; j < w->keys; j++) {
        for (int64_t t = j; j % tile == 0 && t < j + tile && t < w->keys; t++) {
            const int higher = w->others[t].seen && w->others[t].score > maximum;
            maximum = higher ? w->others[t].score : maximum;
        }
        sums s = of_term(w, a, &w->others[j], top);
        const double too_much = s.weight > 0 ? exp(top - maximum) : 1;
        s.weight *= a->sum_tile > 0 ? too_much : 1;
        for (int64_t c = 0; a->output_tile > 0 && c < w->columns; c++) {
            s.output[c] *= too_much;
        }
        add(&all, &s, w->columns);
    }
    return all;
}

static void try_misreading(wrong_row *w, const attest_misreading *m) {
    attest_question a = w->right;
    if (!m->change(&a, m->argument)) {
        return;
    }
    const double top = take_terms(w, &a, w->others), sink = attest_question_sink(&a);
    const double right_top = take_terms(w, &w->right, w->terms);
    w->unit = top > right_top ? top : right_top;
    if (!isfinite(w->unit)) {
        w->unit = 0;
    }
    sums whole = {.weight = sink > -(double)INFINITY ? exp(sink - w->unit) : 0}, changed = whole;
    int64_t changes = 0;
    for (int64_t j = 0; j < w->keys; j++) {
        const sums asked = of_term(w, &w->right, &w->terms[j], right_top);
        const sums other = of_term(w, &a, &w->others[j], top);
        add(&whole, &asked, w->columns);
        add(&changed, &other, w->columns);
        w->change[j] = other;
        w->change[j].weight -= asked.weight;
        for (int64_t c = 0; c < w->columns; c++) {
            w->change[j].output[c] -= asked.output[c];
        }
        changes += memcmp(&asked, &other, sizeof asked) != 0;
    }
    if (a.sum_tile > 0 || a.output_tile > 0) {
        changed = not_rescaled(w, &a, top);
    }
    if (fits(w, &a, &changed, top) && counts(w, m, ALL)) {
        say(w, m, "%s", "");
    } else if (!m->whole_row && changes > 1) {
        try_ranges(w, &a, m, &whole, top);
        try_residues(w, &a, m, &whole, top);
        try_one(w, &a, m, &whole, top);
    } else if (!m->whole_row && changes == 1) {
        try_one(w, &a, m, &whole, top);
    }
}

/* The store's own rounding and the arithmetic's: far below what a misreading does. */
static double tolerance_of(attest_dtype type, double value, double radius) {
    const double part = type == ATTEST_BF16 ? 0x1p-8 : type == ATTEST_F16 ? 0x1p-10 : 0x1p-18;
    return part * (fabs(value) + 0x1p-8) + 2 * radius;
}

static void read_row(wrong_row *w, const attest_workbench *bench) {
    const attest_problem *p = &bench->stage.problem;
    const attest_question *a = &w->right;
    const attest_result *r = w->result;
    const int64_t size = bench->normal.value_size, first = r->in_lse ? 0 : r->place[3];
    w->columns = size < MOST_COLUMNS ? size : MOST_COLUMNS;
    for (int64_t c = 0; c < w->columns; c++) {
        w->column[c] = (first + c * (size / w->columns)) % size;
        w->actual[c] = attest_get(&p->o, a->b, a->h, a->i, w->column[c]);
        w->tolerance[c] = tolerance_of(p->o.dtype, w->actual[c], r->in_lse ? 0 : r->radius);
    }
    w->has_lse = p->lse.dtype != 0;
    if (w->has_lse) {
        w->lse = attest_get(&p->lse, a->b, a->h, a->i, 0);
        w->lse_tolerance = 0x1p-18 * (fabs(w->lse) + 1) + (r->in_lse ? 2 * r->radius : 0);
    }
}

/* Hidden keys of the row that hold something that is not finite: bit 0 in K, bit 1 in V. */
static int hidden_specials(const attest_question *a) {
    const attest_problem *p = a->n->problem;
    int found = 0;
    for (int64_t j = 0; j < a->n->keys; j++) {
        const attest_term term = attest_question_key(a, j);
        for (int64_t c = 0; !term.seen && c < a->n->head_size; c++) {
            found |= !isfinite(attest_get(&p->k, a->b, a->kv_head, j, c));
        }
        for (int64_t c = 0; !term.seen && c < a->n->value_size; c++) {
            found |= isfinite(attest_get(&p->v, a->b, a->kv_head, j, c)) ? 0 : 2;
        }
    }
    return found;
}

/* The row as it was asked gives it too, within what can be told here: too slight to explain. */
static int right_fits(wrong_row *w) {
    const double top = take_terms(w, &w->right, w->terms), sink = attest_question_sink(&w->right);
    w->unit = isfinite(top) ? top : 0;
    sums whole = {.weight = sink > -(double)INFINITY ? exp(sink - w->unit) : 0};
    for (int64_t j = 0; j < w->keys; j++) {
        const sums term = of_term(w, &w->right, &w->terms[j], top);
        add(&whole, &term, w->columns);
    }
    return fits(w, &w->right, &whole, top);
}

/* What follows from the kind of the wrong elements alone; 1 if it decides. Before misreadings are
 * tried only what they cannot give, `last` the rest. */
static int by_kind(const attest_workbench *bench, wrong_row *w, int last) {
    static const attest_misreading
        unwritten = {"elements are not written", "MEM-06", {CLASS_NOT_WRITTEN}, 1, NULL, 0},
        empty = {"a row that sees nothing is not empty", "SEM-12", {CLASS_EMPTY_ROW}, 1, NULL, 0},
        leak_k = {"K of hidden keys reaches the row", "ISO-04", {CLASS_HIDDEN_VALUE}, 1, NULL, 0},
        leak_v = {"V of hidden keys reaches the row", "ISO-05", {CLASS_HIDDEN_VALUE}, 1, NULL, 0},
        overflow = {"scores overflow", "NUM-07", {CLASS_MAXIMUM, CLASS_SCORE_OVERFLOW}, 1, NULL, 0},
        swallowed = {
            "a NaN or an infinity is missing", "SPV-01 SPV-02", {CLASS_NAN_SWALLOWED}, 1, NULL, 0};
    const attest_result *r = w->result;
    unsigned char *visible = malloc((size_t)w->keys + 1);
    const attest_question *a = &w->right;
    const int none = visible && attn_visible_keys(&bench->normal, a->b, a->h, a->i, visible) == 0;
    free(visible);
    const int hidden = isnan(r->actual) && isfinite(r->expected) ? hidden_specials(a) : 0;
    const int is_unwritten = r->some >> ATTEST_CLUE_UNWRITTEN & 1;
    if (is_unwritten) {
        say(w, &unwritten, "%s", "");
    } else if (none && (last || (isnan(r->actual) && !w->sees))) {
        say(w, &empty, "%s", "");
    } else if (hidden > 0) {
        if (hidden & 2) {
            say(w, &leak_v, "%s", "");
        }
        if (hidden & 1) {
            say(w, &leak_k, "%s", "");
        }
    } else if (last && isfinite(r->expected) && !isfinite(r->actual)) {
        say(w, &overflow, "%s", "");
    } else if (last && !isfinite(r->expected) && isfinite(r->actual)) {
        say(w, &swallowed, "%s", "");
    } else {
        return 0;
    }
    return 1;
}

void attest_explain_outputs(const attest_workbench *bench, attest_result *result) {
    const attn_normal *n = &bench->normal;
    const int64_t work = n->keys * (n->head_size + MOST_COLUMNS * MOST_MODULUS);
    if (!result->has_value || n->value_size == 0 || n->head_size == 0) {
        return;
    }
    wrong_row w = {.right =
                       attest_question_of(n, result->place[0], result->place[1], result->place[2]),
                   .keys = n->keys,
                   .result = result};
    int misreadings = 0;
    while (attest_misreading_at(misreadings) != NULL) {
        misreadings++;
    }
    read_row(&w, bench);
    w.sees = w.right.sinks > 0;
    for (int64_t j = 0; j < n->keys && !w.sees; j++) {
        w.sees = attest_question_key(&w.right, j).seen;
    }
    if (by_kind(bench, &w, 0)) {
        return;
    }
    w.terms = malloc(((size_t)n->keys + 1) * sizeof *w.terms);
    w.others = malloc(((size_t)n->keys + 1) * sizeof *w.others);
    w.change = malloc(((size_t)n->keys + 1) * sizeof *w.change);
    const int fine = w.terms && w.others && w.change && work * misreadings <= MOST_WORK * 16;
    const int slight = fine && isfinite(result->expected) && right_fits(&w);
    for (int k = 0; k < misreadings && fine && !slight; k++) {
        try_misreading(&w, attest_misreading_at(k));
    }
    if (w.found == 0) {
        by_kind(bench, &w, 1);
    }
    free(w.terms);
    free(w.others);
    free(w.change);
}

/* Of the cells that differ, how many this misreading gets right as well. */
static int explains_mask(const attest_workbench *bench, const attest_misreading *m,
                         const unsigned char *used, int exactly) {
    const attn_normal *n = &bench->normal;
    const int64_t rows = n->batch * n->q_heads * n->queries;
    int64_t differing = 0;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t b = row / (n->q_heads * n->queries), h = row / n->queries % n->q_heads;
        const attest_question right = attest_question_of(n, b, h, row % n->queries);
        attest_question other = right;
        const int can = m->change(&other, m->argument);
        for (int64_t j = 0; j < n->keys; j++) {
            const int seen = attest_question_key(&right, j).seen;
            const int mine = can ? attest_question_key(&other, j).seen : seen;
            const int is = used[row * n->keys + j] != 0;
            differing += is != seen;
            if (is != mine && (exactly || is != seen)) {
                return 0;
            }
        }
    }
    return differing > 0;
}

void attest_explain_mask(const attest_workbench *bench, const unsigned char *used,
                         attest_result *result) {
    const attn_normal *n = &bench->normal;
    wrong_row w = {.result = result};
    if (n->batch * n->q_heads * n->queries * n->keys * n->head_size > INT64_C(1) << 18) {
        return;
    }
    /* First what gives the whole mask, then what gives each cell that is wrong. */
    for (int exactly = 1; exactly >= 0 && result->explanation.text[0] == '\0'; exactly--) {
        for (int k = 0; attest_misreading_at(k) != NULL; k++) {
            const attest_misreading *m = attest_misreading_at(k);
            if (!attest_misreading_is_loose(m) && explains_mask(bench, m, used, exactly)) {
                say(&w, m, "%s", exactly ? "" : ", for some rows or keys");
            }
        }
    }
    /* The first is that keys are left out, which would give any mask with too few. */
    if (result->explanation.text[0] == '\0' &&
        explains_mask(bench, attest_misreading_at(0), used, 0)) {
        say(&w, attest_misreading_at(0), ", for some rows or keys");
    }
}
