/* SPDX-License-Identifier: Apache-2.0 */
#include "row.h"

attn_real ATTN_NAME(attn_dot)(const attn_real *q, const attn_real *k, size_t d) {
    attn_real sum = ZERO;
    for (size_t c = 0; c < d; c++) {
        attn_real product = MUL(q[c], k[c]);
        sum = ADD(sum, product);
    }
    return sum;
}

attn_real ATTN_NAME(attn_score)(attn_real dot, const ATTN_NAME(attn_score_options) * options) {
    attn_real score = MUL(options->scale, dot);
    if (options->has_softcap) {
        attn_real ratio = DIV(score, options->softcap);
        attn_real bent = TANH(ratio);
        score = MUL(options->softcap, bent);
    }
    return score;
}

attn_real ATTN_NAME(attn_add_alibi)(attn_real bias, attn_real slope, int64_t distance) {
    attn_real steps = FROM_INT(distance);
    attn_real penalty = MUL(slope, steps);
    return SUB(bias, penalty);
}

attn_real ATTN_NAME(attn_row_max)(const attn_real *s, const unsigned char *visible, size_t n) {
    attn_real max = NEG_INF;
    for (size_t j = 0; j < n; j++) {
        if (visible[j]) {
            max = MAX(s[j], max);
        }
    }
    return max;
}

void ATTN_NAME(attn_row_exp)(attn_real *e, const attn_real *s, const unsigned char *visible,
                             size_t n, attn_real max) {
    for (size_t j = 0; j < n; j++) {
        if (visible[j]) {
            attn_real shifted = SUB(s[j], max);
            e[j] = EXP(shifted);
        } else {
            e[j] = ZERO;
        }
    }
}

attn_real ATTN_NAME(attn_row_sum)(const attn_real *e, const unsigned char *visible, size_t n) {
    attn_real sum = ZERO;
    for (size_t j = 0; j < n; j++) {
        if (visible[j]) {
            sum = ADD(sum, e[j]);
        }
    }
    return sum;
}

void ATTN_NAME(attn_row_divide)(attn_real *w, const attn_real *e, const unsigned char *visible,
                                size_t n, attn_real sum) {
    for (size_t j = 0; j < n; j++) {
        if (visible[j]) {
            w[j] = DIV(e[j], sum);
        } else {
            w[j] = ZERO;
        }
    }
}

void ATTN_NAME(attn_row_mix)(attn_real *out, const attn_real *w, const attn_real *const *v,
                             const unsigned char *visible, size_t n, size_t dv) {
    for (size_t c = 0; c < dv; c++) {
        attn_real sum = ZERO;
        for (size_t j = 0; j < n; j++) {
            if (visible[j]) {
                attn_real product = MUL(w[j], v[j][c]);
                sum = ADD(sum, product);
            }
        }
        out[c] = sum;
    }
}

static int any_visible(const unsigned char *visible, size_t n) {
    for (size_t j = 0; j < n; j++) {
        if (visible[j]) {
            return 1;
        }
    }
    return 0;
}

/* Scores of the visible keys; the others are set to -inf so that no stale value is left. */
static void score_row(attn_real *s, const ATTN_NAME(attn_row_problem) * p) {
    for (size_t j = 0; j < p->n; j++) {
        if (p->visible[j]) {
            attn_real dot = ATTN_NAME(attn_dot)(p->q, p->k[j], p->d);
            s[j] = ATTN_NAME(attn_score)(dot, &p->score);
            if (p->bias) {
                s[j] = ADD(s[j], p->bias[j]);
            }
        } else {
            s[j] = NEG_INF;
        }
    }
}

void ATTN_NAME(attn_row)(attn_real *out, attn_real *lse, attn_real *s, attn_real *e, attn_real *w,
                         const ATTN_NAME(attn_row_problem) * p) {
    score_row(s, p);
    if (!any_visible(p->visible, p->n)) {
        ATTN_NAME(attn_row_exp)(e, s, p->visible, p->n, ZERO);
        ATTN_NAME(attn_row_divide)(w, e, p->visible, p->n, ONE);
        ATTN_NAME(attn_row_mix)(out, w, p->v, p->visible, p->n, p->dv);
        *lse = p->has_sink ? p->sink : NEG_INF;
        return;
    }
    attn_real max = ATTN_NAME(attn_row_max)(s, p->visible, p->n);
    if (p->has_sink) {
        max = MAX(p->sink, max);
    }
    ATTN_NAME(attn_row_exp)(e, s, p->visible, p->n, max);
    attn_real sum = ATTN_NAME(attn_row_sum)(e, p->visible, p->n);
    if (p->has_sink) {
        attn_real shifted = SUB(p->sink, max);
        attn_real mass = EXP(shifted);
        sum = ADD(sum, mass);
    }
    ATTN_NAME(attn_row_divide)(w, e, p->visible, p->n, sum);
    ATTN_NAME(attn_row_mix)(out, w, p->v, p->visible, p->n, p->dv);
    attn_real log_sum = LOG(sum);
    *lse = ADD(max, log_sum);
}
