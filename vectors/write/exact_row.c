/* SPDX-License-Identifier: Apache-2.0 */
#include "vectors/write/exact_row.h"

#include <math.h>

#include "reference/problem/convert.h"

/* A weight below this may be 0 in some arithmetic, where an infinity in V becomes a NaN. */
#define SAFE_WEIGHT 0x1p-14

typedef attest_exact_row row;

static double load(const attest_tensor *t, int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t index[ATTEST_MAX_RANK] = {a, b, c, d};
    return attn_load(t->dtype, attn_element(t, index));
}

static double query(const row *r, int64_t d) {
    return load(&r->n->problem->q, r->b, r->h, r->i, d);
}
static double key(const row *r, int64_t j, int64_t d) {
    return load(&r->n->problem->k, r->b, r->kv_head, j, d);
}
static double value(const row *r, int64_t j, int64_t c) {
    return load(&r->n->problem->v, r->b, r->kv_head, j, c);
}

static double slope(const row *r) {
    const attest_tensor *slopes = &r->n->problem->slopes;
    return slopes->rank == 2 ? load(slopes, r->b, r->h, 0, 0) : load(slopes, r->h, 0, 0, 0);
}

static int64_t distance(const row *r, int64_t j) {
    int64_t steps = r->i + attn_offset(r->n, r->b) - j;
    return steps < 0 ? -steps : steps;
}

/* scale * q.k where an infinity or a NaN takes part; 0 for a number. */
static double special_product(const row *r, int64_t j) {
    double product = 0;
    for (int64_t d = 0; d < r->n->head_size; d++) {
        double a = query(r, d), b = key(r, j, d);
        product += isfinite(a) && isfinite(b) ? 0 : a * b;
    }
    return product == 0 ? 0 : r->n->scale * product;
}

/* What IEEE arithmetic makes of a score with an infinity or a NaN on its way; 0 for a number. */
static double special_score(const row *r, int64_t j) {
    const attn_normal *n = r->n;
    double score = special_product(r, j);
    if ((n->features & ATTEST_SOFTCAP) && isinf(score)) {
        score = 0;
    }
    if (n->features & ATTEST_MASK_ADD) {
        double mask = attn_mask_value(n, r->b, r->h, r->i, j);
        score += isfinite(mask) ? 0 : mask;
    }
    if ((n->features & ATTEST_ALIBI) && !isfinite(slope(r))) {
        score -= slope(r) * (double)distance(r, j);
    }
    return score;
}

/* The sign of an infinite scaled score that softcap has made finite; 0 for an ordinary one. */
static int capped_infinity(const row *r, int64_t j) {
    double score = special_product(r, j);
    return isinf(score) ? (score > 0 ? 1 : -1) : 0;
}

/* magnitude grows to the largest sum of absolute terms of any score. */
static void note_magnitude(row *r) {
    if (mpfr_cmp(r->bound, r->magnitude) > 0) {
        mpfr_set(r->magnitude, r->bound, MPFR_RNDU);
    }
}

static void add_term(row *r, mpfr_t score) {
    mpfr_add(score, score, r->term, MPFR_RNDN);
    mpfr_abs(r->term, r->term, MPFR_RNDU);
    mpfr_add(r->bound, r->bound, r->term, MPFR_RNDU);
}

/* SEM-04, SEM-05, SEM-08, MASK-06 */
static void exact_score(row *r, int64_t j) {
    const attn_normal *n = r->n;
    int capped = (n->features & ATTEST_SOFTCAP) ? capped_infinity(r, j) : 0;
    mpfr_set_zero(r->score[j], 1);
    mpfr_set_ui(r->bound, 1, MPFR_RNDU);
    for (int64_t d = 0; d < n->head_size && !capped; d++) {
        mpfr_set_d(r->term, query(r, d), MPFR_RNDN);
        mpfr_mul_d(r->term, r->term, key(r, j, d), MPFR_RNDN);
        mpfr_mul(r->term, r->term, r->scale, MPFR_RNDN);
        add_term(r, r->score[j]);
    }
    if (capped) {
        mpfr_mul_si(r->score[j], r->softcap, capped, MPFR_RNDN);
    } else if (n->features & ATTEST_SOFTCAP) {
        mpfr_div(r->score[j], r->score[j], r->softcap, MPFR_RNDN);
        mpfr_tanh(r->score[j], r->score[j], MPFR_RNDN);
        mpfr_mul(r->score[j], r->score[j], r->softcap, MPFR_RNDN);
        mpfr_add(r->bound, r->bound, r->softcap, MPFR_RNDU);
    }
    if (n->features & ATTEST_MASK_ADD) {
        mpfr_set_d(r->term, attn_mask_value(n, r->b, r->h, r->i, j), MPFR_RNDN);
        add_term(r, r->score[j]);
    }
    if (n->features & ATTEST_ALIBI) {
        mpfr_set_d(r->term, -slope(r), MPFR_RNDN);
        mpfr_set_sj(r->part, distance(r, j), MPFR_RNDN);
        mpfr_mul(r->term, r->term, r->part, MPFR_RNDN);
        add_term(r, r->score[j]);
    }
    note_magnitude(r);
}

/*
 * Relative error of a weight, and absolute error of the LSE, with p bits. A score is a sum of at
 * most D + 4 terms of two roundings each, so it is off by 2^-p (D + 8) magnitude; softcap's tanh
 * does not enlarge that. exp turns the error of a difference into a relative one; the sum of n
 * positive terms and the division add n + 8 more roundings. The factor 8 covers second order terms.
 */
static void relative_error(row *r, mpfr_t error) {
    mpfr_mul_si(error, r->magnitude, (long)r->n->head_size + 8, MPFR_RNDU);
    mpfr_add_si(error, error, (long)r->visible_count + 8, MPFR_RNDU);
    mpfr_mul_2si(error, error, 3 - (long)mpfr_get_prec(r->sum), MPFR_RNDU);
}

/* The two parts of x +- error, or 0 where the error is too large to tell. */
static int round_parts(const mpfr_t x, const mpfr_t error, attest_expected *result) {
    mpfr_t low_end, high_end;
    mpfr_prec_t precision = mpfr_get_prec(x) + 64;
    mpfr_inits2(precision, low_end, high_end, (mpfr_ptr)0);
    mpfr_sub(low_end, x, error, MPFR_RNDD);
    mpfr_add(high_end, x, error, MPFR_RNDU);
    double high = mpfr_get_d(low_end, MPFR_RNDN);
    int certain = high == mpfr_get_d(high_end, MPFR_RNDN) && isfinite(high);
    if (certain) {
        mpfr_sub_d(low_end, low_end, high, MPFR_RNDD);
        mpfr_sub_d(high_end, high_end, high, MPFR_RNDU);
        double low = mpfr_get_d(low_end, MPFR_RNDN);
        certain = low == mpfr_get_d(high_end, MPFR_RNDN);
        *result = (attest_expected){high + 0.0, low + 0.0, ATTEST_EXPECT_NUMBER};
    }
    mpfr_clears(low_end, high_end, (mpfr_ptr)0);
    return certain;
}

static attest_expected not_a_number(void) {
    return (attest_expected){(double)NAN, 0, ATTEST_EXPECT_NAN};
}

static attest_expected infinity(double sign) {
    return (attest_expected){copysign((double)INFINITY, sign), 0, ATTEST_EXPECT_INFINITY};
}

static attest_expected number(double x) {
    return isnan(x)   ? not_a_number()
           : isinf(x) ? infinity(x)
                      : (attest_expected){x, 0, ATTEST_EXPECT_NUMBER};
}

/* SEM-12, SPV-01: a row that sees nothing. Returns 0 where a rounding is not decided. */
/* log Z of a sink alone is the sink, in the base of the profile (SEM-10). */
static int sink_alone(row *r, attest_expected *lse) {
    *lse = number(r->sink);
    if (r->n->profile.lse_base != ATTN_LSE_BASE_2 || !isfinite(r->sink) || r->sink == 0) {
        return 1;
    }
    mpfr_const_log2(r->term, MPFR_RNDN);
    mpfr_d_div(r->part, r->sink, r->term, MPFR_RNDN);
    mpfr_abs(r->bound, r->part, MPFR_RNDU);
    mpfr_mul_2si(r->bound, r->bound, 2 - (long)mpfr_get_prec(r->part), MPFR_RNDU);
    return round_parts(r->part, r->bound, lse);
}

static int empty_row(row *r, attest_expected *o, attest_expected *lse) {
    const attn_profile *profile = &r->n->profile;
    int open = !r->has_sink && profile->empty_row == ATTN_EMPTY_UNSPECIFIED;
    int mean = !r->has_sink && profile->empty_row == ATTN_EMPTY_MEAN_OF_ALL;
    int nan = !r->has_sink && profile->empty_row == ATTN_EMPTY_NAN;
    for (int64_t c = 0; c < r->n->value_size; c++) {
        o[c] = nan ? not_a_number() : number(0);
        o[c].kind = open ? ATTEST_EXPECT_ANYTHING : o[c].kind;
        if (mean) {
            mpfr_set_zero(r->sum, 1);
            mpfr_set_zero(r->bound, 1);
            for (int64_t j = 0; j < r->n->keys; j++) {
                mpfr_set_d(r->term, value(r, j, c), MPFR_RNDN);
                add_term(r, r->sum);
            }
            mpfr_div_si(r->sum, r->sum, (long)r->n->keys, MPFR_RNDN);
            mpfr_mul_si(r->bound, r->bound, (long)r->n->keys + 8, MPFR_RNDU);
            mpfr_mul_2si(r->bound, r->bound, -(long)mpfr_get_prec(r->sum), MPFR_RNDU);
            if (!round_parts(r->sum, r->bound, &o[c])) {
                return 0;
            }
        }
    }
    if (r->has_sink) {
        return sink_alone(r, lse);
    }
    if (profile->lse_empty == ATTN_LSE_EMPTY_UNSPECIFIED) {
        *lse = (attest_expected){0, 0, ATTEST_EXPECT_ANYTHING};
    } else {
        *lse = infinity(profile->lse_empty == ATTN_LSE_EMPTY_POS_INF ? 1 : -1);
    }
    return 1;
}

/* SPV-01, SPV-02, SPV-05: 1 if the row's output is NaN. Then the LSE is NaN too, or may be the
 * limit of log Z: where no score is NaN, or one is +inf, or all are -inf. */
static int row_is_nan(row *r, attest_expected *lse) {
    int64_t numbers = 0, nan = r->has_sink && isnan(r->sink);
    int64_t above = r->has_sink && r->sink == (double)INFINITY;
    for (int64_t j = 0; j < r->n->keys; j++) {
        if (r->visible[j]) {
            r->special[j] = special_score(r, j);
            nan += isnan(r->special[j]);
            above += r->special[j] == (double)INFINITY;
            numbers += r->special[j] == 0;
        }
    }
    const attest_expected limit = {(double)NAN, (double)INFINITY, ATTEST_EXPECT_NONFINITE};
    *lse = nan > 0 ? not_a_number() : limit;
    return nan > 0 || above > 0 || (numbers == 0 && !(r->has_sink && isfinite(r->sink)));
}

static void weigh(row *r) {
    int none = 1;
    for (int64_t j = 0; j < r->n->keys; j++) {
        if (r->visible[j] && r->special[j] == 0) {
            exact_score(r, j);
            if (none || mpfr_cmp(r->score[j], r->maximum) > 0) {
                mpfr_set(r->maximum, r->score[j], MPFR_RNDN);
            }
            none = 0;
        }
    }
    int live_sink = r->has_sink && isfinite(r->sink);
    if (live_sink) {
        mpfr_set_d(r->bound, fabs(r->sink) + 1, MPFR_RNDU);
        note_magnitude(r);
        if (none || mpfr_cmp_d(r->maximum, r->sink) < 0) {
            mpfr_set_d(r->maximum, r->sink, MPFR_RNDN);
        }
    }
    mpfr_set_zero(r->sum, 1);
    for (int64_t j = 0; j < r->n->keys; j++) {
        mpfr_set_zero(r->weight[j], 1);
        if (r->visible[j] && r->special[j] == 0) {
            mpfr_sub(r->weight[j], r->score[j], r->maximum, MPFR_RNDN);
            mpfr_exp(r->weight[j], r->weight[j], MPFR_RNDN);
            mpfr_add(r->sum, r->sum, r->weight[j], MPFR_RNDN);
        }
    }
    if (live_sink) {
        mpfr_d_sub(r->term, r->sink, r->maximum, MPFR_RNDN);
        mpfr_exp(r->term, r->term, MPFR_RNDN);
        mpfr_add(r->sum, r->sum, r->term, MPFR_RNDN);
    }
}

/* The infinity or NaN that visible values make of an element; 0 for a number. */
static attest_expected special_output(row *r, int64_t c) {
    double found = 0;
    int weak = 0;
    for (int64_t j = 0; j < r->n->keys; j++) {
        double v = r->visible[j] ? value(r, j, c) : 0;
        if (!isfinite(v)) {
            found += v;
            mpfr_div(r->term, r->weight[j], r->sum, MPFR_RNDN);
            weak |= mpfr_cmp_d(r->term, SAFE_WEIGHT) < 0;
        }
    }
    attest_expected result = number(found);
    if (weak && result.kind == ATTEST_EXPECT_INFINITY) {
        result = (attest_expected){(double)NAN, (double)INFINITY, ATTEST_EXPECT_NONFINITE};
    }
    return result;
}

static int exact_output(row *r, int64_t c, const mpfr_t relative, attest_expected *result) {
    *result = special_output(r, c);
    if (result->kind != ATTEST_EXPECT_NUMBER) {
        return 1;
    }
    mpfr_set_zero(r->part, 1);
    mpfr_set_zero(r->bound, 1);
    for (int64_t j = 0; j < r->n->keys; j++) {
        if (r->visible[j]) {
            mpfr_mul_d(r->term, r->weight[j], value(r, j, c), MPFR_RNDN);
            add_term(r, r->part);
        }
    }
    mpfr_div(r->part, r->part, r->sum, MPFR_RNDN);
    mpfr_div(r->bound, r->bound, r->sum, MPFR_RNDU);
    mpfr_mul(r->bound, r->bound, relative, MPFR_RNDU);
    return round_parts(r->part, r->bound, result);
}

static int exact_lse(row *r, const mpfr_t relative, attest_expected *result) {
    mpfr_log(r->part, r->sum, MPFR_RNDN);
    mpfr_add(r->part, r->part, r->maximum, MPFR_RNDN);
    mpfr_mul_ui(r->bound, relative, 4, MPFR_RNDU);
    if (r->n->profile.lse_base == ATTN_LSE_BASE_2) {
        mpfr_const_log2(r->term, MPFR_RNDN);
        mpfr_div(r->part, r->part, r->term, MPFR_RNDN);
    }
    return round_parts(r->part, r->bound, result);
}

/* SEM-06, SEM-07, SEM-09, SEM-10 */
int attest_exact_one_row(row *r, attest_expected *o, attest_expected *lse) {
    if (r->visible_count == 0) {
        return empty_row(r, o, lse);
    }
    if (row_is_nan(r, lse)) {
        for (int64_t c = 0; c < r->n->value_size; c++) {
            o[c] = not_a_number();
        }
        return 1;
    }
    weigh(r);
    mpfr_t relative;
    mpfr_init2(relative, 64);
    relative_error(r, relative);
    int certain = exact_lse(r, relative, lse);
    for (int64_t c = 0; certain && c < r->n->value_size; c++) {
        certain = exact_output(r, c, relative, &o[c]);
    }
    mpfr_clear(relative);
    return certain;
}
