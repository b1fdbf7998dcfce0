/* SPDX-License-Identifier: Apache-2.0 */
#include "row.h"

attn_real ATTN_NAME(attn_dot)(const attn_real *q, const attn_real *k, size_t d) {
    attn_real sum = ZERO;
    /*@ loop invariant 0 <= c <= d;
      @ loop invariant C2: same(sum, dot_of(q, k, c));
      @ loop assigns c, sum;
      @ loop variant d - c;
      @*/
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
    /*@ loop invariant 0 <= j <= n;
      @ loop invariant C2: same(max, max_of(s, visible, j));
      @ loop assigns j, max;
      @ loop variant n - j;
      @*/
    for (size_t j = 0; j < n; j++) {
        if (visible[j]) {
            max = MAX(s[j], max);
        }
    }
    return max;
}

void ATTN_NAME(attn_row_exp)(attn_real *e, const attn_real *s, const unsigned char *visible,
                             size_t n, attn_real max) {
    /*@ loop invariant 0 <= j <= n;
      @ loop invariant C2: exp_row(e, s, visible, j, max);
      @ loop assigns j, e[0 .. n - 1];
      @ loop variant n - j;
      @*/
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
    /*@ loop invariant 0 <= j <= n;
      @ loop invariant C2: same(sum, sum_of(e, visible, j));
      @ loop assigns j, sum;
      @ loop variant n - j;
      @*/
    for (size_t j = 0; j < n; j++) {
        if (visible[j]) {
            sum = ADD(sum, e[j]);
        }
    }
    return sum;
}

void ATTN_NAME(attn_row_divide)(attn_real *w, const attn_real *e, const unsigned char *visible,
                                size_t n, attn_real sum) {
    /*@ loop invariant 0 <= j <= n;
      @ loop invariant C2: divide_row(w, e, visible, j, sum);
      @ loop assigns j, w[0 .. n - 1];
      @ loop variant n - j;
      @*/
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
    /*@ loop invariant 0 <= c <= dv;
      @ loop invariant C2: mix_row{Pre, Here}(out, w, v, visible, n, c);
      @ loop assigns c, out[0 .. dv - 1];
      @ loop variant dv - c;
      @*/
    for (size_t c = 0; c < dv; c++) {
        attn_real sum = ZERO;
        /*@ loop invariant 0 <= j <= n;
          @ loop invariant C2: same(sum, mix_of{Pre}(w, v, visible, j, c));
          @ loop assigns j, sum;
          @ loop variant n - j;
          @*/
        for (size_t j = 0; j < n; j++) {
            if (visible[j]) {
                attn_real product = MUL(w[j], v[j][c]);
                sum = ADD(sum, product);
            }
        }
        out[c] = sum;
    }
    //@ assert C2: same_row{Pre, Here}(w, w, visible, visible, n);
    /*@ assert C2: \forall integer c; 0 <= c < dv ==>
      @              same_column{Pre, Here}(v, v, visible, n, c) &&
      @              same_mix{Pre, Here}(w, w, v, v, visible, visible, n, c);
      @*/
}

/*@ requires \valid_read(visible + (0 .. n - 1));
  @ terminates \true;
  @ assigns \nothing;
  @ ensures C2: \result != 0 <==> !empty(visible, n);
  @*/
static int any_visible(const unsigned char *visible, size_t n) {
    /*@ loop invariant 0 <= j <= n;
      @ loop invariant C2: empty(visible, j);
      @ loop assigns j;
      @ loop variant n - j;
      @*/
    for (size_t j = 0; j < n; j++) {
        if (visible[j]) {
            return 1;
        }
    }
    return 0;
}

/*@ requires readable(p) && 0 <= j < p->n && p->visible[j] != 0;
  @ terminates \true;
  @ assigns \nothing;
  @ ensures C2: same(\result, score_of(p, j));
  @*/
static attn_real score(const ATTN_NAME(attn_row_problem) * p, size_t j) {
    attn_real dot = ATTN_NAME(attn_dot)(p->q, p->k[j], p->d);
    attn_real scaled = ATTN_NAME(attn_score)(dot, &p->score);
    return p->bias ? ADD(scaled, p->bias[j]) : scaled;
}

/* Scores of the visible keys; the others are set to -inf so that no stale value is left. */
/*@ requires readable(p) && apart(s, p->n, p);
  @ terminates \true;
  @ assigns s[0 .. p->n - 1];
  @ ensures C2: score_row{Post, Post}(s, p, p->n);
  @*/
static void score_row(attn_real *s, const ATTN_NAME(attn_row_problem) * p) {
    /*@ loop invariant 0 <= j <= p->n;
      @ loop invariant C2: same_view{Pre, Here}(p, p, p->n);
      @ loop invariant C2: score_row{Pre, Here}(s, p, j);
      @ loop assigns j, s[0 .. p->n - 1];
      @ loop variant p->n - j;
      @*/
    for (size_t j = 0; j < p->n; j++) {
        s[j] = p->visible[j] ? score(p, j) : NEG_INF;
    }
}

/* What is subtracted from every score: the largest one, the sink included. */
/*@ requires readable(p) && \valid_read(s + (0 .. p->n - 1));
  @ terminates \true;
  @ assigns \nothing;
  @ ensures C2: same(\result, shift_of(s, p, p->n));
  @*/
static attn_real shift(const attn_real *s, const ATTN_NAME(attn_row_problem) * p) {
    attn_real max = ATTN_NAME(attn_row_max)(s, p->visible, p->n);
    return p->has_sink ? MAX(p->sink, max) : max;
}

/* What the exponentials are divided by: their sum, the sink's share included. */
/*@ requires readable(p) && \valid_read(e + (0 .. p->n - 1));
  @ terminates \true;
  @ assigns \nothing;
  @ ensures C2: same(\result, total_of(e, p, p->n, max));
  @*/
static attn_real total(const attn_real *e, const ATTN_NAME(attn_row_problem) * p, attn_real max) {
    attn_real sum = ATTN_NAME(attn_row_sum)(e, p->visible, p->n);
    if (p->has_sink) {
        attn_real shifted = SUB(p->sink, max);
        attn_real mass = EXP(shifted);
        sum = ADD(sum, mass);
    }
    return sum;
}

void ATTN_NAME(attn_row)(attn_real *out, attn_real *lse, attn_real *s, attn_real *e, attn_real *w,
                         const ATTN_NAME(attn_row_problem) * p) {
    score_row(s, p);
    attn_real max = shift(s, p);
    ATTN_NAME(attn_row_exp)(e, s, p->visible, p->n, max);
    attn_real sum = total(e, p, max);
    ATTN_NAME(attn_row_divide)(w, e, p->visible, p->n, sum);
    ATTN_NAME(attn_row_mix)(out, w, p->v, p->visible, p->n, p->dv);
    if (any_visible(p->visible, p->n)) {
        attn_real log_sum = LOG(sum);
        *lse = ADD(max, log_sum);
    } else {
        *lse = p->has_sink ? p->sink : NEG_INF;
    }
}
