/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * K19: attention over all keys is what its two parts give when they are merged by their LSE: with
 * w = 1 / (1 + exp(lse_B - lse_A)), o = w o_A + (1 - w) o_B and lse = log(exp lse_A + exp lse_B),
 * in the profile's base; a part without keys changes nothing. A sink goes with the first part.
 * Parameter 0 is how many keys the first part has.
 */
#include <math.h>
#include <stdlib.h>

#include "certify/judge/derive.h"
#include "certify/plan/data.h"
#include "certify/plan/plan.h"
#include "reference/oracle/oracle.h"

static void plan_one(attest_plan *plan, int64_t keys, int number) {
    static const uint64_t with[] = {0, ATTEST_SINKS, ATTEST_SOFTCAP, ATTEST_SCALE};
    static const attest_dtype types[] = {ATTEST_F32, ATTEST_F64, ATTEST_F16, ATTEST_BF16};
    const int64_t splits[] = {keys / 2, 1, keys - 1, 0, keys};
    for (int s = 0; s < 5; s++) {
        attest_case c = attest_case_default(plan->check->name);
        c.q_type = c.kv_type = c.o_type = types[(number + s) % 4];
        if (!(plan->kernel->dtypes >> c.q_type & 1)) {
            c.q_type = c.kv_type = c.o_type = attest_plan_type(plan);
        }
        c.features = ATTEST_LSE | (with[(number + s / 2) % 4] & plan->kernel->features);
        c.batch = 2;
        c.q_heads = plan->kernel->shapes & ATTEST_CAN_GQA ? 4 : 2;
        c.kv_heads = 2;
        c.queries = 1 + number % 3;
        c.keys = keys;
        c.head_size = c.value_size = 4;
        c.softcap = c.features & ATTEST_SOFTCAP ? 3 : 0;
        attest_plan_scale(plan, &c, 0.25);
        c.scale = c.features & ATTEST_SCALE ? 0.25 : 0;
        c.parameter[0] = splits[s];
        const int empty = splits[s] == 0 || splits[s] == keys;
        if (!empty || ((plan->kernel->shapes & ATTEST_CAN_EMPTY) &&
                       plan->profile.lse_empty == ATTN_LSE_EMPTY_NEG_INF &&
                       plan->profile.empty_row == ATTN_EMPTY_ZERO)) {
            attest_plan_add(plan, &c);
        }
    }
}

static void plan(attest_plan *plan) {
    static const int64_t keys[] = {2, 9, 34, 65, 130, 257};
    const int count = attest_plan_by_level(plan, 3, 6, 6, 6);
    int64_t lengths[13];
    const int found = attest_boundary_lengths(plan->boundaries, ATTEST_AXIS_KEYS, lengths, 13);
    for (int i = 0; i < count; i++) {
        plan_one(plan, keys[i], i);
    }
    for (int i = 0; i < found; i++) {
        if (lengths[i] > 1) {
            plan_one(plan, lengths[i], i);
        }
    }
}

/* One run: what came out, and what the oracle says of it. The LSE is in base e here. */
typedef struct outcome {
    double *o, *lse;
    attn_enclosure *right_o, *right_lse;
} outcome;

static void forget(outcome *out) {
    free(out->o);
    free(out->lse);
    free(out->right_o);
    free(out->right_lse);
}

static int take(attest_workbench *bench, outcome *out, attest_result *result) {
    const attn_normal *n = &bench->normal;
    const attest_problem *p = &bench->stage.problem;
    const int64_t rows = n->batch * n->q_heads * n->queries, width = n->value_size;
    const double unit = bench->profile.lse_base == ATTN_LSE_BASE_2 ? log(2) : 1;
    char why[ATTEST_MESSAGE_BYTES] = "not enough memory";
    *out = (outcome){.o = calloc((size_t)(rows * width), sizeof *out->o),
                     .lse = calloc((size_t)rows, sizeof *out->lse),
                     .right_o = calloc((size_t)(rows * width), sizeof *out->right_o),
                     .right_lse = calloc((size_t)rows, sizeof *out->right_lse)};
    bench->work += rows * n->keys * (n->head_size + width);
    int fine = out->o && out->lse && out->right_o && out->right_lse;
    for (int64_t r = 0; r < rows && fine; r++) {
        const int64_t b = r / (n->q_heads * n->queries), h = r / n->queries % n->q_heads;
        const int64_t i = r % n->queries;
        attn_enclosure *lse = &out->right_lse[r];
        fine = attn_oracle_row(n, attest_workbench_model(bench), b, h, i, out->right_o + r * width,
                               lse, why) == ATTEST_OK;
        lse->radius = (lse->radius + lse->own_error) * unit;
        out->lse[r] = attest_get(&p->lse, b, h, i, 0) * unit;
        for (int64_t e = 0; e < width; e++) {
            out->o[r * width + e] = attest_get(&p->o, b, h, i, e);
            out->right_o[r * width + e].radius += out->right_o[r * width + e].own_error;
        }
    }
    if (!fine) {
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: %s", why);
    }
    return fine;
}

/* Keys `first` to `first` + `keys` - 1 of the source as a problem of their own. */
static int run_part(attest_workbench *bench, const attest_case *c, const attest_source *source,
                    int64_t first, int64_t keys, outcome *out, attest_result *result) {
    attest_case part = *c;
    part.keys = keys;
    part.features &= first > 0 || keys == 0 ? ~ATTEST_SINKS : ~UINT64_C(0);
    if (!attest_workbench_build(bench, &part, result)) {
        return 0;
    }
    const attest_problem *to = &bench->stage.problem, *from = &source->problem;
    const attn_normal *n = &bench->normal;
    for (int64_t b = 0; b < n->batch; b++) {
        for (int64_t h = 0; h < n->q_heads; h++) {
            for (int64_t at = 0; at < n->queries * n->head_size; at++) {
                const int64_t i = at / n->head_size, e = at % n->head_size;
                attest_put(&to->q, b, h, i, e, attest_get(&from->q, b, h, i, e));
            }
            if (to->sinks.dtype) {
                attest_put(&to->sinks, h, 0, 0, 0, attest_get(&from->sinks, h, 0, 0, 0));
            }
        }
        for (int64_t g = 0; g < n->kv_heads; g++) {
            for (int64_t at = 0; at < keys * n->head_size; at++) {
                const int64_t j = at / n->head_size, e = at % n->head_size;
                attest_put(&to->k, b, g, j, e, attest_get(&from->k, b, g, j + first, e));
            }
            for (int64_t at = 0; at < keys * n->value_size; at++) {
                const int64_t j = at / n->value_size, e = at % n->value_size;
                attest_put(&to->v, b, g, j, e, attest_get(&from->v, b, g, j + first, e));
            }
        }
    }
    return attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result) && take(bench, out, result);
}

static void differs(const attn_normal *n, int64_t r, int64_t column, double merged, double whole,
                    double radius, attest_result *result) {
    attest_result_bad(result, ATTEST_FAIL, "SEM-10", CLASS_LSE,
                      "merging the results of two parts of the keys by their LSE does not give the "
                      "%s of all keys",
                      column < 0 ? "LSE" : "output");
    result->has_value = 1;
    result->in_lse = column < 0;
    result->place[0] = r / (n->q_heads * n->queries);
    result->place[1] = r / n->queries % n->q_heads;
    result->place[2] = r % n->queries;
    result->place[3] = column < 0 ? 0 : column;
    result->expected = merged;
    result->actual = whole;
    result->radius = radius;
    result->worst = radius > 0 ? fabs(merged - whole) / radius : (double)INFINITY;
}

static int is_empty(const attn_enclosure *lse) { return lse->kind == ATTN_NEG_INF; }

/* One row; 1 if there was something to compare. The error of a merge: logarithms of sums move no
 * more than their terms, and odds that are off by a factor f move a share w by w (1 - w) (f -
 * 1). */
static int merge_row(const attn_normal *n, int64_t r, const outcome *whole, const outcome *a,
                     const outcome *b, attest_result *result) {
    const double la = a->lse[r], lb = b->lse[r], tiny = 0x1p-48;
    const attn_enclosure *ra = &a->right_lse[r], *rb = &b->right_lse[r];
    if (whole->right_lse[r].kind != ATTN_FINITE || (ra->kind != ATTN_FINITE && !is_empty(ra)) ||
        (rb->kind != ATTN_FINITE && !is_empty(rb))) {
        return 0;
    }
    if ((is_empty(ra) && la != -INFINITY) || (is_empty(rb) && lb != -INFINITY)) {
        differs(n, r, -1, -INFINITY, is_empty(ra) ? la : lb, 0, result);
        return 1;
    }
    const double w = 1 / (1 + exp(lb - la)), top = fmax(la, lb);
    const double lse = top + log1p(exp(-fabs(la - lb)));
    const double lse_radius =
        whole->right_lse[r].radius + fmax(ra->radius, rb->radius) + tiny * (1 + fabs(lse));
    if (!(fabs(lse - whole->lse[r]) <= lse_radius)) {
        differs(n, r, -1, lse, whole->lse[r], lse_radius, result);
        return 1;
    }
    const double share = w * (1 - w) * expm1(ra->radius + rb->radius);
    for (int64_t e = 0; e < n->value_size; e++) {
        const int64_t at = r * n->value_size + e;
        const double oa = a->o[at], ob = b->o[at];
        const double off_a = a->right_o[at].radius, off_b = b->right_o[at].radius;
        const double merged = w * oa + (1 - w) * ob;
        const double radius = whole->right_o[at].radius + w * off_a + (1 - w) * off_b +
                              share * (fabs(oa - ob) + off_a + off_b) +
                              tiny * (fabs(oa) + fabs(ob)) + 0x1p-1000;
        if (whole->right_o[at].kind != ATTN_FINITE || a->right_o[at].kind != ATTN_FINITE ||
            b->right_o[at].kind != ATTN_FINITE) {
            continue;
        }
        if (!(fabs(merged - whole->o[at]) <= radius)) {
            differs(n, r, e, merged, whole->o[at], radius, result);
            return 1;
        }
        result->worst = fmax(result->worst, fabs(merged - whole->o[at]) / radius);
    }
    return 1;
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    const int64_t split = c->parameter[0] > c->keys ? c->keys : c->parameter[0];
    attest_source source;
    outcome whole = {0}, a = {0}, b = {0};
    attest_ids_add(&result->ids, "SEM-10");
    if (split == 0 || split == c->keys) {
        attest_ids_add(&result->ids, "SEM-12");
    }
    if (!(c->features & ATTEST_LSE) || c->keys == 0) {
        attest_result_mistrust(result, "without the LSE, or keys, there is nothing to merge");
        return;
    }
    if (!attest_workbench_build(bench, c, result) ||
        !attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
        return;
    }
    if (!attest_source_take(&source, bench)) {
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: not enough memory");
        return;
    }
    if (take(bench, &whole, result) && run_part(bench, c, &source, 0, split, &a, result) &&
        run_part(bench, c, &source, split, c->keys - split, &b, result)) {
        const attn_normal *n = &source.normal;
        int compared = 0;
        for (int64_t r = 0; r < n->batch * n->q_heads * n->queries; r++) {
            if (!attest_verdict_is_bad(result->verdict)) {
                compared |= merge_row(n, r, &whole, &a, &b, result);
            }
        }
        if (!compared) {
            attest_result_mistrust(result, "no row has a finite LSE to merge by");
        }
    }
    attest_source_free(&source);
    forget(&whole);
    forget(&a);
    forget(&b);
}

const attest_check attest_check_merge = {
    .name = "merge",
    .sentence = "Two parts of the keys, merged by their LSE, give what all keys give.",
    .requirements = "SEM-10 SEM-12",
    .classes = {CLASS_LSE},
    .catalogue = "K19",
    .structural = 0,
    .plan = plan,
    .run = run,
};
