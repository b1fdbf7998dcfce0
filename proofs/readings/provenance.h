/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provenance.h - the reading in which a scalar is where it came from: the keys whose scores,
 * weights or values are in it. Each operation asserts what makes it legal in an online softmax and
 * fails with a name of its own. Sets of keys and of dimensions are bit sets.
 *
 *   kind      row  key  set                         ref
 *   ZERO      the exact number 0
 *   ONE       the exact number 1
 *   NINF      -inf: the score of a hidden pair, the maximum of nothing
 *   SCALE     a factor common to all scores
 *   QUERY     row, dim
 *   KEY       key, dim
 *   VALUE     key, dim, finite or not
 *   PRODUCT   row, key, dim
 *   SCORE     row, key             dims added so far (full once they are all)
 *   PEAK      row                  keys it covers
 *   GAP       row, key or none     target         the peak it is taken from
 *   WEIGHT    row, key             peak it is relative to
 *   FACTOR    row                  old peak -> new peak
 *   TOTAL     row                  keys summed, and the peak they are relative to
 *   TERM      row, key, dim        one weight times its value
 *   OUTPUT    row, dim             keys summed, peak
 *   RESULT    row, dim             keys, after the division
 *   LOGSUM    row                  keys
 *
 * Visible scores are taken to be finite, so that a maximum over a visible key is not -inf.
 */
#ifndef ATTN_READING_PROVENANCE_H
#define ATTN_READING_PROVENANCE_H

typedef struct attn_real {
    uint8_t kind, row, key, dim, set, ref;
} attn_real;

enum {
    P_ZERO,
    P_ONE,
    P_NINF,
    P_SCALE,
    P_QUERY,
    P_KEY,
    P_VALUE,
    P_PRODUCT,
    P_SCORE,
    P_PEAK,
    P_GAP,
    P_SHIFT,
    P_WEIGHT,
    P_FACTOR,
    P_TOTAL,
    P_TERM,
    P_OUTPUT,
    P_RESULT,
    P_LOGSUM
};

extern uint8_t provenance_visible[]; /* by row: the keys it sees */
extern uint8_t provenance_seen;      /* the keys that some row sees */

#define LEGAL(condition, name) __CPROVER_assert(condition, "C11 " name)

static attn_real p_make(uint8_t kind, uint8_t row, uint8_t key, uint8_t dim, uint8_t set,
                        uint8_t ref) {
    attn_real x = {kind, row, key, dim, set, ref};
    return x;
}

#define ZERO p_make(P_ZERO, 0, 0, 0, 0, 0)
#define ONE p_make(P_ONE, 0, 0, 0, 0, 0)
#define NEG_INF p_make(P_NINF, 0, 0, 0, 0, 0)

static _Bool p_visible(uint8_t row, uint8_t key) { return provenance_visible[row] >> key & 1; }

/* A value that takes part in an operation belongs to a key that some row sees. */
static void p_read(attn_real x) {
    LEGAL((x.kind != P_KEY && x.kind != P_VALUE) || (provenance_seen >> x.key & 1),
          "unseen key is not read");
}

/* A score with every dimension in it. */
static _Bool p_full(attn_real x) { return x.kind == P_SCORE && x.set == (1 << D) - 1; }

static attn_real p_mul(attn_real x, attn_real y) {
    p_read(x);
    p_read(y);
    if (x.kind == P_QUERY) {
        LEGAL(y.kind == P_ZERO || (y.kind == P_KEY && y.dim == x.dim), "query meets key");
        return p_make(P_PRODUCT, x.row, y.kind == P_ZERO ? 255 : y.key, x.dim, 0, 0);
    }
    if (x.kind == P_SCALE) {
        LEGAL(p_full(y), "scale meets a full score");
        return y;
    }
    if (x.kind == P_FACTOR || y.kind == P_FACTOR) { /* a sum or output moves to a new peak */
        attn_real factor = x.kind == P_FACTOR ? x : y, sum = x.kind == P_FACTOR ? y : x;
        if (sum.kind == P_ZERO) {
            return sum;
        }
        LEGAL((sum.kind == P_TOTAL || sum.kind == P_OUTPUT) && sum.row == factor.row &&
                  sum.ref == factor.set,
              "rescaled once");
        sum.ref = factor.ref;
        return sum;
    }
    if (x.kind == P_WEIGHT) {
        LEGAL(y.kind == P_VALUE && y.key == x.key, "weight meets its own value");
        return p_make(P_TERM, x.row, x.key, y.dim, 0, x.ref);
    }
    /* Zero times anything: what is lost must have been nothing, and not 0 * inf. */
    LEGAL(x.kind == P_ZERO || y.kind == P_ZERO, "known product");
    LEGAL(x.kind == P_ZERO ? y.kind == P_ZERO || (y.kind == P_VALUE && y.set) : x.kind != P_TOTAL,
          "zero meets a finite number");
    return ZERO;
}

static attn_real p_add(attn_real x, attn_real y) {
    if (y.kind == P_ZERO) {
        return x;
    }
    if (y.kind == P_PRODUCT) {
        y = p_make(P_SCORE, y.row, y.key, 0, (uint8_t)(1 << y.dim), 0);
    }
    if (x.kind == P_ZERO && (y.kind == P_SCORE || y.kind == P_TOTAL)) {
        return y;
    }
    if (y.kind == P_SCORE) {
        LEGAL(x.kind == P_SCORE && x.row == y.row && x.key == y.key, "dot product of one pair");
        LEGAL((x.set & y.set) == 0, "each dimension once");
        x.set |= y.set;
        return x;
    }
    if (y.kind == P_TOTAL) { /* parts of a sum */
        LEGAL(x.kind == P_TOTAL && x.row == y.row && x.ref == y.ref, "sum has one peak");
        LEGAL((x.set & y.set) == 0, "once in the sum");
        x.set |= y.set;
        return x;
    }
    if (y.kind == P_WEIGHT) {
        LEGAL(p_visible(y.row, y.key), "visible in the sum");
        LEGAL(x.kind == P_ZERO || (x.kind == P_TOTAL && x.row == y.row && x.ref == y.ref),
              "sum has one peak");
        LEGAL(x.kind == P_ZERO || !(x.set >> y.key & 1), "once in the sum");
        return p_make(P_TOTAL, y.row, 0, 0, (uint8_t)((x.kind == P_ZERO ? 0 : x.set) | 1 << y.key),
                      y.ref);
    }
    if (y.kind == P_TERM) {
        LEGAL(p_visible(y.row, y.key), "visible in the output");
        LEGAL(x.kind == P_ZERO ||
                  (x.kind == P_OUTPUT && x.row == y.row && x.dim == y.dim && x.ref == y.ref),
              "output has one peak");
        LEGAL(x.kind == P_ZERO || !(x.set >> y.key & 1), "once in the output");
        return p_make(P_OUTPUT, y.row, 0, y.dim,
                      (uint8_t)((x.kind == P_ZERO ? 0 : x.set) | 1 << y.key), y.ref);
    }
    LEGAL(x.kind == P_PEAK && y.kind == P_LOGSUM && x.row == y.row && x.set == y.ref,
          "LSE joins peak and sum");
    return y;
}

static attn_real p_max(attn_real x, attn_real y) {
    if (x.kind == P_NINF) {
        return y;
    }
    LEGAL(p_full(x) && p_visible(x.row, x.key), "visible in the maximum");
    LEGAL(y.kind == P_NINF || (y.kind == P_PEAK && y.row == x.row), "maximum of one row");
    return p_make(P_PEAK, x.row, 0, 0, (uint8_t)((y.kind == P_NINF ? 0 : y.set) | 1 << x.key), 0);
}

/* x - peak: of a score (exp gives a weight) or of the peak before (exp gives a factor). */
static attn_real p_sub(attn_real x, attn_real y) {
    if (x.kind == P_NINF) {
        return x;
    }
    LEGAL(y.kind == P_PEAK && y.row == x.row, "peak of the same row is subtracted");
    if (x.kind == P_PEAK) {
        LEGAL((x.set & ~y.set) == 0, "peak only grows");
        return p_make(P_SHIFT, x.row, 0, 0, x.set, y.set);
    }
    LEGAL(x.kind == P_SCORE && (y.set >> x.key & 1), "peak covers the score");
    return p_make(P_GAP, x.row, x.key, 0, 0, y.set);
}

static attn_real p_exp(attn_real x) {
    LEGAL(x.kind == P_NINF || x.kind == P_GAP || x.kind == P_SHIFT, "exp of a difference");
    if (x.kind == P_NINF) {
        return ZERO;
    }
    x.kind = x.kind == P_GAP ? P_WEIGHT : P_FACTOR;
    return x;
}

static attn_real p_div(attn_real x, attn_real y) {
    LEGAL(y.kind == P_TOTAL, "division by the sum");
    if (x.kind == P_ZERO) {
        return x;
    }
    LEGAL(x.kind == P_OUTPUT && x.row == y.row && x.set == y.set && x.ref == y.ref,
          "numerator and denominator agree");
    x.kind = P_RESULT;
    return x;
}

static attn_real p_log(attn_real x) {
    LEGAL(x.kind == P_TOTAL, "log of the sum");
    x.kind = P_LOGSUM;
    return x;
}

static _Bool p_finite(attn_real x) {
    p_read(x);
    return x.kind == P_VALUE ? x.set : x.kind != P_NINF;
}

#define ADD(x, y) p_add(x, y)
#define SUB(x, y) p_sub(x, y)
#define MUL(x, y) p_mul(x, y)
#define DIV(x, y) p_div(x, y)
#define MAX(x, y) p_max(x, y)
#define EXP(x) p_exp(x)
#define LOG(x) p_log(x)
#define ISNINF(x) ((x).kind == P_NINF)
#define ISFINITE(x) p_finite(x)
#define SELECT(condition, x, y) ((condition) ? (x) : (y))
/* Not part of the plain frame: softcap, slopes and merged states are outside the claim. */
#define TANH(x) (x)
#define NEG(x) (x)
#define FROM_INT(n) p_make(P_SCALE, 0, 0, 0, 0, 0)
#define GT(x, y) ((void)(x), (void)(y), 0)

#endif
