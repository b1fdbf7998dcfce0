/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/judge/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "certify/judge/clues.h"
#include "certify/judge/second.h"
#include "certify/judge/sensitivity.h"
#include "certify/plan/data.h"
#include "reference/oracle/oracle.h"

typedef struct tally {
    int64_t inside, outside, no_radius, out_of_domain;
    int64_t rows, seen, shown;
    attest_clue_row row; /* of the element at hand */
} tally;

/* The worst element decides what is reported; a wrong kind (NaN for a number) is worse than any
 * distance. */
static void judge_element(const attest_workbench *bench, const attn_enclosure *e, double actual,
                          int in_lse, const int64_t place[4], tally *t, attest_result *result) {
    double ratio = 0;
    int verdict = attn_judge(e, actual, &ratio);
    if (verdict == ATTN_NO_VERDICT) {
        t->no_radius += e->kind != ATTN_OUT_OF_DOMAIN;
        t->out_of_domain += e->kind == ATTN_OUT_OF_DOMAIN;
        return;
    }
    if (e->kind != ATTN_ANY) {
        t->inside += verdict == ATTN_INSIDE;
    }
    if (verdict == ATTN_INSIDE) {
        result->worst = ratio > result->worst && isfinite(ratio) ? ratio : result->worst;
        return;
    }
    const double expected = e->kind == ATTN_NAN       ? (double)NAN
                            : e->kind == ATTN_POS_INF ? (double)INFINITY
                            : e->kind == ATTN_NEG_INF ? (double)-INFINITY
                                                      : e->high + e->low;
    attest_clue_add(bench, &t->row, place, in_lse, expected, actual, result);
    if (t->outside++ == 0 || ratio > result->worst) {
        result->has_value = 1;
        result->in_lse = in_lse;
        for (int axis = 0; axis < 4; axis++) {
            result->place[axis] = place[axis];
        }
        result->expected = expected;
        result->actual = actual;
        result->radius = e->radius + e->own_error;
        result->worst = ratio;
    }
}

/* Where the model bounds nothing, weights still are weights: the output is a mean of what the row
 * sees, but for rounding. An element beyond that is judged, any other is not. Only where the
 * maximum is one of the scores it is taken from: scaled apart, it may be off by more than exp can
 * take. */
static void judge_by_hull(const attest_workbench *bench, const int64_t at[4], double actual,
                          attn_enclosure *e) {
    double low, high;
    if (attest_workbench_model(bench)->shift_roundings > 0 ||
        !attest_hull(&bench->normal, at[0], at[1], at[2], at[3], &low, &high)) {
        return;
    }
    const double margin = 0x1p-5 * fmax(fabs(low), fabs(high)), half = high / 2 - low / 2;
    if (!(actual >= low - margin && actual <= high + margin)) {
        *e = (attn_enclosure){.kind = ATTN_FINITE, .high = low + half, .radius = half + margin};
    }
}

static void judge_row(attest_workbench *bench, const int64_t at[3], const attn_enclosure *o,
                      const attn_enclosure *lse, tally *t, attest_result *result) {
    const attest_problem *p = &bench->stage.problem;
    t->row = ATTEST_CLUE_ROW_UNKNOWN;
    for (int64_t c = 0; c < bench->normal.value_size; c++) {
        const int64_t place[4] = {at[0], at[1], at[2], c};
        const double actual = attest_get(&p->o, at[0], at[1], at[2], c);
        attn_enclosure e = o[c];
        if (e.kind == ATTN_NO_RADIUS) {
            judge_by_hull(bench, place, actual, &e);
        }
        judge_element(bench, &e, actual, 0, place, t, result);
    }
    if (p->lse.dtype) {
        const int64_t place[4] = {at[0], at[1], at[2], 0};
        judge_element(bench, lse, attest_get(&p->lse, at[0], at[1], at[2], 0), 1, place, t, result);
    }
}

static void conclude(const attest_workbench *bench, const tally *t, attest_result *result) {
    result->outside = t->outside;
    result->keys_seen = t->seen > 0 ? (double)t->shown / (double)t->seen : -1;
    if (t->outside > 0) {
        const int lost = !isfinite(result->actual) && isfinite(result->expected);
        const int in_lse = result->every >> ATTEST_CLUE_LSE & 1;
        const char *id = lost ? "NUM-07" : in_lse ? "NUM-05" : "NUM-01";
        attest_result_bad(result, ATTEST_FAIL, id, 0,
                          "%lld of %lld elements are outside the radius of model %s",
                          (long long)t->outside, (long long)(t->outside + t->inside),
                          attest_workbench_model(bench)->name);
        return;
    }
    if (t->inside > 0) {
        if (t->seen > 0 && t->shown == 0) {
            attest_result_mistrust(result, "no visible key's loss would leave the radius");
        }
    } else if (t->out_of_domain > 0) {
        result->verdict = ATTEST_OUT_OF_DOMAIN;
        snprintf(result->what, sizeof result->what, "an intermediate may overflow in this model");
    } else if (t->no_radius > 0) {
        attest_result_mistrust(result, "the model gives no useful radius here");
    } else {
        attest_result_mistrust(result, "the case has no output element");
    }
}

/* `list`: the rows to judge, or NULL for as many as the budget allows, evenly spaced. `loss_rows`:
 * on about so many it is asked what a lost key would show. */
static void judge(attest_workbench *bench, int64_t budget, const attest_sample *list,
                  int64_t loss_rows, attest_result *result) {
    const attn_normal *n = &bench->normal;
    const int64_t rows = n->batch * n->q_heads * n->queries;
    const int64_t work = n->keys * (n->head_size + n->value_size) + 1;
    int64_t judged = budget > 0 && rows > budget / work ? budget / work + 2 : rows;
    judged = list != NULL ? list->count : judged > rows ? rows : judged;
    bench->work += judged * work;
    attn_enclosure *o = malloc(((size_t)n->value_size + 1) * sizeof *o);
    attn_enclosure lse;
    char why[ATTEST_MESSAGE_BYTES] = "";
    tally t = {0};
    attest_second second = {0};
    if (bench->second_oracle) {
        attest_second_open(&second, bench);
        bench->second_judged += second.ready;
        bench->first_alone += !second.ready;
    }
    for (int64_t r = 0; o != NULL && r < judged; r++) {
        const int64_t row = list != NULL ? list->rows[r]
                            : judged > 1 ? r * (rows - 1) / (judged - 1)
                                         : 0;
        const int64_t at[3] = {row / (n->q_heads * n->queries), row / n->queries % n->q_heads,
                               row % n->queries};
        int64_t seen = 0, shown = 0;
        if (attn_oracle_row(n, attest_workbench_model(bench), at[0], at[1], at[2], o, &lse, why) !=
            ATTEST_OK) {
            attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: oracle: %s", why);
            break;
        }
        if (second.ready && !attest_second_replace(&second, n, row, o, &lse)) {
            attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: the two oracles disagree");
            break;
        }
        judge_row(bench, at, o, &lse, &t, result);
        /* A few rows tell whether the data can show anything. */
        if (loss_rows > 0 && (judged <= loss_rows || r % (judged / loss_rows) == 0)) {
            if (attest_key_loss(n, at[0], at[1], at[2], o, &seen, &shown)) {
                t.seen += seen;
                t.shown += shown;
            }
        }
    }
    if (o == NULL) {
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: not enough memory");
    }
    free(o);
    attest_second_close(&second);
    if (!attest_verdict_is_bad(result->verdict)) {
        conclude(bench, &t, result);
        attest_workbench_examine(bench, NULL, result);
    }
}

void attest_judge(attest_workbench *bench, int64_t budget, attest_result *result) {
    judge(bench, budget, NULL, 8, result);
}

void attest_judge_values(attest_workbench *bench, int64_t budget, attest_result *result) {
    judge(bench, budget, NULL, 0, result);
}

void attest_judge_rows(attest_workbench *bench, const attest_sample *rows, attest_result *result) {
    judge(bench, 0, rows, 1, result);
}
