/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For each head: S = scale Q K', P = exp(S - max) on the visible pairs, O = P V / sum, each step on
 * whole matrices. Entries that are not finite are taken out of the factors first and come back
 * through products of 0/1 matrices, which count the pairs that give a NaN or an infinity.
 */
#include "reference/oracle/oracle_gsl.h"

#include <float.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_matrix.h>
#include <stdlib.h>

#include "reference/oracle/oracle_gsl_view.h"

#define U 0x1p-53
#define TINY 0x1p-1060 /* 2^14 denormals: more than the underflows of a row of 2^12 keys */

/* All matrices of one head. Rows are queries, except in k and v. */
typedef struct head_work {
    gsl_matrix *q, *k, *v;
    gsl_matrix *visible, *bias, *bias_size; /* Sq x Sk */
    gsl_matrix *score, *size, *error;       /* error: of a score, then of a weight */
    gsl_matrix *nan, *above, *below;        /* pairs whose score is NaN, +inf, -inf */
    gsl_matrix *left, *right;               /* scratch copies of q and k */
    gsl_matrix *mix, *mix_error, *v_copy;   /* Sq x Dv, Sq x Dv, Sk x Dv */
    gsl_matrix *v_nan, *v_above, *v_below;  /* Sq x Dv: how many of the visible values are such */
    gsl_matrix *v_size;                     /* Sq x Dv: sum of the magnitudes of the others */
} head_work;

#define MATRICES (sizeof(head_work) / sizeof(gsl_matrix *))

static int reserve(head_work *w, size_t sq, size_t sk, size_t d, size_t dv) {
    *w = (head_work){
        gsl_matrix_calloc(sq, d),  gsl_matrix_calloc(sk, d),  gsl_matrix_calloc(sk, dv),
        gsl_matrix_calloc(sq, sk), gsl_matrix_calloc(sq, sk), gsl_matrix_calloc(sq, sk),
        gsl_matrix_calloc(sq, sk), gsl_matrix_calloc(sq, sk), gsl_matrix_calloc(sq, sk),
        gsl_matrix_calloc(sq, sk), gsl_matrix_calloc(sq, sk), gsl_matrix_calloc(sq, sk),
        gsl_matrix_calloc(sq, d),  gsl_matrix_calloc(sk, d),  gsl_matrix_calloc(sq, dv),
        gsl_matrix_calloc(sq, dv), gsl_matrix_calloc(sk, dv), gsl_matrix_calloc(sq, dv),
        gsl_matrix_calloc(sq, dv), gsl_matrix_calloc(sq, dv), gsl_matrix_calloc(sq, dv),
    };
    gsl_matrix *const *all = (gsl_matrix *const *)w;
    for (size_t m = 0; m < MATRICES; m++) {
        if (!all[m]) {
            return 0;
        }
    }
    return 1;
}

static void release(head_work *w) {
    gsl_matrix *const *all = (gsl_matrix *const *)w;
    for (size_t m = 0; m < MATRICES; m++) {
        gsl_matrix_free(all[m]);
    }
}

/* to(x) of every entry of `from`. */
static void map(gsl_matrix *result, const gsl_matrix *from, double (*to)(double)) {
    for (size_t r = 0; r < from->size1; r++) {
        for (size_t c = 0; c < from->size2; c++) {
            gsl_matrix_set(result, r, c, to(gsl_matrix_get(from, r, c)));
        }
    }
}

static double finite_part(double x) { return gsl_finite(x) ? x : 0; }
static double finite_size(double x) { return gsl_finite(x) ? fabs(x) : 0; }
static double is_nan(double x) { return gsl_isnan(x) ? 1 : 0; }
static double is_zero(double x) { return x == 0 ? 1 : 0; }
static double is_inf(double x) { return gsl_isinf(x) != 0 ? 1 : 0; }
static double is_above(double x) { return gsl_isinf(x) > 0 ? 1 : 0; }
static double is_below(double x) { return gsl_isinf(x) < 0 ? 1 : 0; }
static double is_positive(double x) { return x > 0 ? 1 : 0; }
static double is_negative(double x) { return x < 0 ? 1 : 0; }
static double is_any(double x) {
    (void)x;
    return 1;
}

/* counts += a(Q) b(K)': how many products have one factor like this and the other like that. */
static void count_pairs(head_work *w, gsl_matrix *counts, double (*a)(double),
                        double (*b)(double)) {
    map(w->left, w->q, a);
    map(w->right, w->k, b);
    gsl_blas_dgemm(CblasNoTrans, CblasTrans, 1, w->left, w->right, 1, counts);
}

static void classify_scores(head_work *w) {
    gsl_matrix_set_zero(w->nan);
    gsl_matrix_set_zero(w->above);
    gsl_matrix_set_zero(w->below);
    count_pairs(w, w->nan, is_nan, is_any);
    count_pairs(w, w->nan, is_any, is_nan);
    count_pairs(w, w->nan, is_inf, is_zero);
    count_pairs(w, w->nan, is_zero, is_inf);
    count_pairs(w, w->above, is_above, is_positive);
    count_pairs(w, w->above, is_positive, is_above);
    count_pairs(w, w->above, is_below, is_negative);
    count_pairs(w, w->above, is_negative, is_below);
    count_pairs(w, w->below, is_above, is_negative);
    count_pairs(w, w->below, is_negative, is_above);
    count_pairs(w, w->below, is_below, is_positive);
    count_pairs(w, w->below, is_positive, is_below);
}

/* scale * q.k, with its special values put back. */
static double linear_score(const head_work *w, double scale, size_t i, size_t j) {
    int nan = gsl_matrix_get(w->nan, i, j) > 0, above = gsl_matrix_get(w->above, i, j) > 0;
    int below = gsl_matrix_get(w->below, i, j) > 0;
    if (nan || (above && below) || ((above || below) && scale == 0)) {
        return GSL_NAN;
    }
    if (above || below) {
        return above == (scale > 0) ? GSL_POSINF : GSL_NEGINF;
    }
    return scale * gsl_matrix_get(w->score, i, j);
}

/* Scores into w->score, bounds of their errors into w->error. */
static void score_head(head_work *w, const attn_gsl_view *view) {
    double d = (double)w->q->size2, scale = view->scale, cap = view->softcap;
    classify_scores(w);
    map(w->left, w->q, finite_part);
    map(w->right, w->k, finite_part);
    gsl_blas_dgemm(CblasNoTrans, CblasTrans, 1, w->left, w->right, 0, w->score);
    map(w->left, w->q, finite_size);
    map(w->right, w->k, finite_size);
    gsl_blas_dgemm(CblasNoTrans, CblasTrans, fabs(scale), w->left, w->right, 0, w->size);
    for (size_t i = 0; i < w->score->size1; i++) {
        for (size_t j = 0; j < w->score->size2; j++) {
            double x = linear_score(w, scale, i, j), y = x;
            double error = (d + 4) * gsl_matrix_get(w->size, i, j);
            if (cap > 0) {
                y = cap * tanh(x / cap);
                error += 6 * cap;
            }
            error += 4 * (fabs(y) + 3 * gsl_matrix_get(w->bias_size, i, j));
            gsl_matrix_set(w->score, i, j, y + gsl_matrix_get(w->bias, i, j));
            gsl_matrix_set(w->error, i, j, 2 * U * error + TINY * d * (1 + fabs(scale)));
        }
    }
}

typedef struct row_result {
    double maximum, sum, sum_error; /* relative error of the sum */
    int keys, nan;
} row_result;

/*
 * One row of scores becomes one of weights (not normalised), its errors those of the weights. The
 * logarithm of a weight is off by the score's error, two roundings of the argument and two ulps.
 */
static row_result weigh_row(head_work *w, size_t i, double sink) {
    row_result row = {.maximum = sink};
    size_t n = w->score->size2;
    int seen = 0;
    row.nan = gsl_isnan(sink) || gsl_isinf(sink) > 0;
    for (size_t j = 0; j < n; j++) {
        double s = gsl_matrix_get(w->score, i, j);
        if (gsl_matrix_get(w->visible, i, j) > 0) {
            seen++;
            row.nan |= gsl_isnan(s) || gsl_isinf(s) > 0;
            row.maximum = s > row.maximum ? s : row.maximum;
        }
    }
    row.keys = seen;
    row.nan |= !gsl_finite(row.maximum); /* nothing but -inf: 0/0 */
    double sum = 0, spread = 0;
    for (size_t j = 0; j < n; j++) {
        double s = gsl_matrix_get(w->score, i, j), weight = 0, error = 0;
        if (gsl_matrix_get(w->visible, i, j) > 0 && gsl_finite(s) && gsl_finite(row.maximum)) {
            weight = exp(s - row.maximum);
            error = gsl_matrix_get(w->error, i, j) + U * (2 * (row.maximum - s) + 4);
            error = error < 0.5 ? 2 * error : weight > 0 ? GSL_POSINF : 0;
        }
        gsl_matrix_set(w->score, i, j, weight);
        gsl_matrix_set(w->error, i, j, weight > 0 ? weight * (error + ((double)n + 4) * U) : 0);
        sum += weight;
        spread += weight > 0 ? weight * error : 0;
    }
    if (gsl_finite(sink) && gsl_finite(row.maximum)) {
        double weight = exp(sink - row.maximum);
        sum += weight;
        spread += weight * 2 * U * (2 * (row.maximum - sink) + 4);
    }
    row.sum = sum;
    row.sum_error = sum > 0 ? spread / sum + ((double)n + 4) * U : 0;
    return row;
}

static void mix_head(head_work *w) {
    map(w->v_copy, w->v, finite_part);
    gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, w->score, w->v_copy, 0, w->mix);
    map(w->v_copy, w->v, finite_size);
    gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, w->error, w->v_copy, 0, w->mix_error);
    gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, w->visible, w->v_copy, 0, w->v_size);
    map(w->v_copy, w->v, is_nan);
    gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, w->visible, w->v_copy, 0, w->v_nan);
    map(w->v_copy, w->v, is_above);
    gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, w->visible, w->v_copy, 0, w->v_above);
    map(w->v_copy, w->v, is_below);
    gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, w->visible, w->v_copy, 0, w->v_below);
}

static attn_gsl_value output_value(const head_work *w, const row_result *row, size_t i, size_t c) {
    int above = gsl_matrix_get(w->v_above, i, c) > 0, below = gsl_matrix_get(w->v_below, i, c) > 0;
    if (row->nan || gsl_matrix_get(w->v_nan, i, c) > 0 || (above && below)) {
        return (attn_gsl_value){GSL_NAN, 0, 0};
    }
    if (above || below) {
        return (attn_gsl_value){above ? GSL_POSINF : GSL_NEGINF, 0, 0};
    }
    double value = gsl_matrix_get(w->mix, i, c) / row->sum;
    double error = gsl_matrix_get(w->mix_error, i, c) / row->sum;
    double total = 2 * (error + fabs(value) * (row->sum_error + 4 * U)) +
                   TINY * (1 + gsl_matrix_get(w->v_size, i, c));
    return (attn_gsl_value){value, row->sum_error < 0.1 ? total : GSL_POSINF, 0};
}

static attn_gsl_value lse_value(const row_result *row, int base_2) {
    if (row->nan) {
        return (attn_gsl_value){GSL_NAN, 0, 0};
    }
    double logarithm = log(row->sum), lse = row->maximum + logarithm;
    double error = 2 * row->sum_error + 4 * U * (fabs(row->maximum) + fabs(logarithm) + fabs(lse));
    double unit = base_2 ? M_LOG2E : 1;
    error = row->sum_error < 0.1 ? unit * error + 2 * U * fabs(lse) + TINY : GSL_POSINF;
    return (attn_gsl_value){unit * lse, error, 0};
}

/* A row that sees no key: the profile's word, or the sink alone. */
static void empty_row(const head_work *w, const attn_gsl_view *view, double sink, attn_gsl_value *o,
                      attn_gsl_value *lse) {
    static const double lse_of[] = {-INFINITY, INFINITY, 0};
    size_t n = (size_t)view->problem->k.shape[2];
    for (size_t c = 0; c < w->v->size2; c++) {
        double sum = 0, size = 0;
        for (size_t j = 0; j < n; j++) {
            sum += gsl_matrix_get(w->v, j, c);
            size += fabs(gsl_matrix_get(w->v, j, c));
        }
        double mean = sum / (double)n;
        attn_gsl_value zero = {0, 0, 0}, nan = {GSL_NAN, 0, 0}, open = {0, 0, 1};
        attn_gsl_value average = {mean, gsl_finite(mean) ? 2 * U * size + TINY : 0, n == 0};
        attn_gsl_value choice[] = {zero, nan, average, open};
        o[c] = view->has_sinks ? zero : choice[view->profile->empty_row];
    }
    if (view->has_sinks) {
        row_result only = {sink, 1, 0, 0, gsl_isnan(sink)};
        *lse = gsl_isinf(sink) ? (attn_gsl_value){sink, 0, 0} : lse_value(&only, view->base_2);
    } else {
        attn_lse_empty rule = view->profile->lse_empty;
        *lse = (attn_gsl_value){lse_of[rule], 0, rule == ATTN_LSE_EMPTY_UNSPECIFIED};
    }
}

static void solve_head(head_work *w, const attn_gsl_view *view, int64_t b, int64_t h,
                       attn_gsl_value *o, attn_gsl_value *lse) {
    attn_gsl_load(view, b, h, w->q, w->k, w->v);
    attn_gsl_mask(view, b, h, w->visible, w->bias, w->bias_size);
    double sink = view->has_sinks ? attn_gsl_sink(view, h) : GSL_NEGINF;
    score_head(w, view);
    size_t rows = w->q->size1, columns = w->v->size2;
    row_result *row = calloc(rows, sizeof *row);
    for (size_t i = 0; row && i < rows; i++) {
        row[i] = weigh_row(w, i, sink);
    }
    mix_head(w);
    for (size_t i = 0; row && i < rows; i++) {
        if (row[i].keys == 0) {
            empty_row(w, view, sink, o + i * columns, lse + i);
            continue;
        }
        for (size_t c = 0; c < columns; c++) {
            o[i * columns + c] = output_value(w, &row[i], i, c);
        }
        lse[i] = lse_value(&row[i], view->base_2);
    }
    free(row);
}

attest_status attn_oracle_gsl(const attest_problem *problem, const attn_profile *profile,
                              attn_gsl_value *o, attn_gsl_value *lse) {
    attn_gsl_view view;
    head_work w;
    attn_gsl_resolve(&view, problem, profile);
    int64_t heads = problem->q.shape[1], sq = problem->q.shape[2], dv = problem->v.shape[3];
    if (problem->q.shape[0] == 0 || heads == 0 || sq == 0) {
        return ATTEST_OK;
    }
    size_t columns = dv > 0 ? (size_t)dv : 1, keys = (size_t)problem->k.shape[2];
    if (!reserve(&w, (size_t)sq, keys ? keys : 1, (size_t)problem->q.shape[3], columns)) {
        release(&w);
        return ATTEST_NO_MEMORY;
    }
    attn_gsl_value *spare = calloc((size_t)sq * columns, sizeof *spare);
    for (int64_t at = 0; spare && at < problem->q.shape[0] * heads; at++) {
        attn_gsl_value *rows = dv > 0 ? o + at * sq * dv : spare;
        solve_head(&w, &view, at / heads, at % heads, rows, lse + at * sq);
    }
    release(&w);
    attest_status status = spare ? ATTEST_OK : ATTEST_NO_MEMORY;
    free(spare);
    return status;
}
