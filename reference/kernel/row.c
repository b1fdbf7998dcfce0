/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/kernel/row.h"

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
      @ loop invariant C4: lowered{Pre}(s, visible, n, max) ==> unit_exp{Pre}(s, visible, j, max);
      @ loop assigns j, e[0 .. n - 1];
      @ loop variant n - j;
      @*/
    for (size_t j = 0; j < n; j++) {
        //@ ghost Before: ;
        if (visible[j]) {
            //@ assert C4: lowered{Pre}(s, visible, n, max) ==> \is_finite(s[j]) && s[j] <= max;
            attn_real shifted = SUB(s[j], max);
            /*@ assert C4: lowered{Pre}(s, visible, n, max) ==>
              @              \is_minus_infinity(shifted) || (\is_finite(shifted) && shifted <= 0);
              @*/
            /*@ assert C4: lowered{Pre}(s, visible, n, max) ==> s[j] == max ==>
              @              \is_finite(shifted) && shifted == 0;
              @*/
            //@ assert C4: same(s[j], \at(s[\at(j, Here)], Pre));
            e[j] = EXP(shifted);
            /*@ assert C4: lowered{Pre}(s, visible, n, max) ==>
              @              unit(f_exp(f_sub(\at(s[\at(j, Here)], Pre), max)));
              @*/
            /*@ assert C4: lowered{Pre}(s, visible, n, max) ==> \at(s[\at(j, Here)], Pre) == max ==>
              @              f_exp(f_sub(\at(s[\at(j, Here)], Pre), max)) == 1;
              @*/
        } else {
            e[j] = ZERO;
        }
        //@ assert C2: same_row{Before, Here}(s, s, visible, visible, n);
        //@ assert C2: same_reals{Before, Here}(e, e, j);
        //@ assert C2: exp_row(e, s, visible, j, max);
        //@ assert C2: visible[j] != 0 ==> same(e[j], f_exp(f_sub(s[j], max)));
    }
    //@ assert C4: same_row{Pre, Here}(s, s, visible, visible, n);
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

/*@ requires \valid_read(visible + (0 .. n - 1));
  @ requires \forall integer j; 0 <= j < n && visible[j] != 0 ==>
  @            \valid_read(w + j) && \valid_read(v + j) && \valid_read(v[j] + c);
  @ terminates \true;
  @ assigns \nothing;
  @ ensures C2: same(\result, mix_of(w, v, visible, n, c));
  @*/
static attn_real mix_column(const attn_real *w, const attn_real *const *v,
                            const unsigned char *visible, size_t n, size_t c) {
    attn_real sum = ZERO;
    /*@ loop invariant 0 <= j <= n;
      @ loop invariant C2: same(sum, mix_of(w, v, visible, j, c));
      @ loop assigns j, sum;
      @ loop variant n - j;
      @*/
    for (size_t j = 0; j < n; j++) {
        if (visible[j]) {
            attn_real product = MUL(w[j], v[j][c]);
            sum = ADD(sum, product);
        }
    }
    return sum;
}

void ATTN_NAME(attn_row_mix)(attn_real *out, const attn_real *w, const attn_real *const *v,
                             const unsigned char *visible, size_t n, size_t dv) {
    /*@ loop invariant 0 <= c <= dv;
      @ loop invariant C2: mix_row{Pre, Here}(out, w, v, visible, n, c);
      @ loop assigns c, out[0 .. dv - 1];
      @ loop variant dv - c;
      @*/
    for (size_t c = 0; c < dv; c++) {
        //@ assert C2: same_row{Pre, Here}(w, w, visible, visible, n);
        //@ assert C2: untouched{Pre, Here}(out, dv, out, dv, out, dv);
        //@ assert C2: clear_table{Pre}(out, dv, v, visible, n);
        //@ assert C2: same_table{Pre, Here}(v, visible, n);
        //@ assert C2: same_column{Pre, Here}(v, v, visible, n, c);
        //@ assert C2: same_mix{Pre, Here}(w, w, v, v, visible, visible, n, c);
        out[c] = mix_column(w, v, visible, n, c);
    }
    //@ assert C2: same_row{Pre, Here}(w, w, visible, visible, n);
    //@ assert C2: untouched{Pre, Here}(out, dv, out, dv, out, dv);
    //@ assert C2: clear_table{Pre}(out, dv, v, visible, n);
    //@ assert C2: same_table{Pre, Here}(v, visible, n);
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
      @ loop invariant C2: score_row{Pre, Here}(s, p, j);
      @ loop assigns j, s[0 .. p->n - 1];
      @ loop variant p->n - j;
      @*/
    for (size_t j = 0; j < p->n; j++) {
        //@ assert C2: kept{Pre, Here}(p, s, p->n, s, p->n, s, p->n);
        s[j] = p->visible[j] ? score(p, j) : NEG_INF;
    }
    //@ assert C2: kept{Pre, Here}(p, s, p->n, s, p->n, s, p->n);
    //@ assert C2: same_view{Pre, Here}(p, p, p->n);
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
  @ ensures C4: ATTN_BITS == 32 && p->has_sink != 0 && \is_finite(p->sink) && \is_finite(max) &&
  @             p->sink <= max ==>
  @               unit(mass_of(p, max)) && (p->sink == max ==> mass_of(p, max) == 1);
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

/*@ requires \valid_read(p) && \valid_read(p->visible + (0 .. p->n - 1));
  @ terminates \true;
  @ assigns \nothing;
  @ ensures C2: empty(p->visible, p->n)
  @               ? same(\result, p->has_sink != 0 ? p->sink : ATTN_NAME(f_neg_inf))
  @               : same(\result, f_add(max, f_log(sum)));
  @*/
static attn_real log_sum_exp(const ATTN_NAME(attn_row_problem) * p, attn_real max, attn_real sum) {
    if (any_visible(p->visible, p->n)) {
        attn_real log_sum = LOG(sum);
        return ADD(max, log_sum);
    }
    return p->has_sink ? p->sink : NEG_INF;
}

/* From scores to exponentials, weights and *lse. */
/*@ requires readable(p) && \valid_read(s + (0 .. p->n - 1));
  @ requires apart(lse, 1, p) && apart(e, p->n, p) && apart(w, p->n, p);
  @ requires \separated(lse, s + (0 .. p->n - 1), e + (0 .. p->n - 1), w + (0 .. p->n - 1));
  @ terminates \true;
  @ assigns *lse, e[0 .. p->n - 1], w[0 .. p->n - 1];
  @ ensures C2: same_view{Pre, Post}(p, p, p->n);
  @ ensures C2: softmax_row(lse, s, e, w, p, p->n);
  @ ensures C4: tame(s, p, p->n) ==> shares(e, p, p->n, shift_of(s, p, p->n));
  @*/
static void softmax(attn_real *lse, const attn_real *s, attn_real *e, attn_real *w,
                    const ATTN_NAME(attn_row_problem) * p) {
    attn_real max = shift(s, p);
    //@ assert C4: tame(s, p, p->n) ==> top(s, p, p->n, max);
    ATTN_NAME(attn_row_exp)(e, s, p->visible, p->n, max);
    //@ ghost Exp: ;
    attn_real sum = total(e, p, max);
    ATTN_NAME(attn_row_divide)(w, e, p->visible, p->n, sum);
    //@ ghost Divided: ;
    *lse = log_sum_exp(p, max, sum);
    //@ assert C2: same_shape{Pre, Here}(p);
    //@ assert C2: untouched{Pre, Here}(lse, 1, e, p->n, w, p->n);
    //@ assert C2: kept{Pre, Here}(p, lse, 1, e, p->n, w, p->n);
    //@ assert C2: same_view{Pre, Here}(p, p, p->n);
    //@ assert C2: same_row{Pre, Here}(s, s, p->visible, p->visible, p->n);
    //@ assert C2: same_max{Pre, Here}(s, s, p->visible, p->visible, p->n);
    //@ assert C2: same(max, shift_of(s, p, p->n));
    //@ assert C2: same_row{Exp, Here}(e, e, p->visible, p->visible, p->n);
    //@ assert C2: same_sum{Exp, Here}(e, e, p->visible, p->visible, p->n);
    //@ assert C2: same(sum, total_of(e, p, p->n, max));
    //@ assert C2: same_row{Exp, Here}(s, s, p->visible, p->visible, p->n);
    //@ assert C2: same_reals{Exp, Here}(e, e, p->n);
    //@ assert C2: exp_row(e, s, p->visible, p->n, max);
    //@ assert C2: same_row{Divided, Here}(e, e, p->visible, p->visible, p->n);
    //@ assert C2: same_reals{Divided, Here}(w, w, p->n);
    //@ assert C2: divide_row(w, e, p->visible, p->n, sum);
    //@ assert C2: lse_row(*lse, s, e, p, p->n);
    //@ assert C4: tame(s, p, p->n) ==> tame{Pre}(s, p, p->n);
    //@ assert C4: tame(s, p, p->n) ==> shares{Exp}(e, p, p->n, max);
    //@ assert C4: tame(s, p, p->n) ==> shares(e, p, p->n, max);
}

void ATTN_NAME(attn_row)(attn_real *out, attn_real *lse, attn_real *s, attn_real *e, attn_real *w,
                         const ATTN_NAME(attn_row_problem) * p) {
    score_row(s, p);
    //@ ghost Scored: ;
    softmax(lse, s, e, w, p);
    //@ assert C2: same_reals{Scored, Here}(s, s, p->n);
    //@ assert C2: score_row{Here, Here}(s, p, p->n);
    //@ ghost Weighted: ;
    ATTN_NAME(attn_row_mix)(out, w, p->v, p->visible, p->n, p->dv);
    //@ assert C2: kept{Weighted, Here}(p, out, p->dv, out, p->dv, out, p->dv);
    //@ assert C2: same_view{Weighted, Here}(p, p, p->n);
    //@ assert C2: same_reals{Weighted, Here}(s, s, p->n);
    //@ assert C2: same_reals{Weighted, Here}(e, e, p->n);
    //@ assert C2: same_reals{Weighted, Here}(w, w, p->n);
    //@ assert C2: score_row{Here, Here}(s, p, p->n);
    //@ assert C2: same_row{Weighted, Here}(s, s, p->visible, p->visible, p->n);
    //@ assert C2: same_row{Weighted, Here}(e, e, p->visible, p->visible, p->n);
    //@ assert C2: exp_row(e, s, p->visible, p->n, shift_of(s, p, p->n));
    /*@ assert C2: divide_row(w, e, p->visible, p->n, total_of(e, p, p->n, shift_of(s, p, p->n)));
      @*/
    //@ assert C2: lse_row(*lse, s, e, p, p->n);
    //@ assert C4: tame(s, p, p->n) ==> tame{Weighted}(s, p, p->n);
    //@ assert C4: tame(s, p, p->n) ==> shares(e, p, p->n, shift_of(s, p, p->n));
}
