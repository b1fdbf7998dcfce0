/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provenance_full.h - provenance.h, and what it leaves out: softcap, bias, sinks, merged states, and
 * that no sum runs from one tile into the next. Each function here settles the operands that are
 * new, or asks more of the old ones, and leaves the rest to its namesake there.
 *
 *   kind      row  key  dim      set                    ref
 *   SCORE     row  key  stage    dimensions             what the bias in it is made of
 *   CAP       the softcap
 *   SLOPE     row
 *   DISTANCE       n
 *   PENALTY   row  n                                    slope times distance
 *   BIAS      row  key  n        what it is made of: the mask's element, a penalty
 *   LSE       row                keys                   peak and sum, joined
 *
 * A sink is one more key, F_SINK: there is a peak of it, and its weight in the sum, but no value.
 */
#ifndef ATTN_READING_PROVENANCE_FULL_H
#define ATTN_READING_PROVENANCE_FULL_H

#include "proofs/readings/provenance.h"

enum { F_CAP = P_LOGSUM + 1, F_SLOPE, F_DISTANCE, F_PENALTY, F_BIAS, F_LSE };
enum { F_SUMMED, F_SCALED, F_DIVIDED, F_BENT, F_CAPPED, F_BIASED }; /* stages of a score */
enum { F_MASK = 1, F_ALIBI = 2 };                                   /* what a bias is made of */

#define F_SINK (1 << 7)
#define F_NO_KEY 255 /* the key of a score of zeros, which stand in for a key that no row sees */

extern _Bool provenance_cap, provenance_sink; /* whether the block has a softcap, and sinks */
extern uint8_t provenance_bias;               /* what its biases are made of */
extern int provenance_position[];             /* by row: the key at distance 0 */

static attn_real f_to_stage(attn_real x, uint8_t from, uint8_t to) {
    LEGAL(x.kind == P_SCORE && x.dim == from, "scale, softcap and bias in order");
    x.dim = to;
    return x;
}

static attn_real f_mul(attn_real x, attn_real y) {
    if (x.kind == P_SCALE) {
        LEGAL(p_full(y), "scale meets a full score");
        return f_to_stage(y, F_SUMMED, F_SCALED);
    }
    if (x.kind == F_CAP) {
        return f_to_stage(y, F_BENT, F_CAPPED);
    }
    if (x.kind == F_SLOPE) {
        LEGAL(y.kind == F_DISTANCE, "slope meets distance");
        return p_make(F_PENALTY, x.row, y.key, 0, 0, 0);
    }
    if (x.kind == P_ONE || y.kind == P_ONE) { /* the sink's own weight moves to a new peak */
        const attn_real factor = x.kind == P_ONE ? y : x;
        LEGAL(factor.kind == P_FACTOR && factor.set == F_SINK, "rescaled once");
        return p_make(P_TOTAL, factor.row, 0, 0, F_SINK, factor.ref);
    }
    return p_mul(x, y);
}

static attn_real f_add_bias(attn_real x, attn_real bias) {
    const int far = provenance_position[x.row] - x.key;
    x = f_to_stage(x, provenance_cap ? F_CAPPED : F_SCALED, F_BIASED);
    if (bias.kind == P_NINF) {
        return bias;
    }
    LEGAL(bias.row == x.row && (!(bias.set & F_MASK) || x.key == F_NO_KEY || bias.key == x.key),
          "bias of the pair");
    LEGAL(!(bias.set & F_ALIBI) || x.key == F_NO_KEY || bias.dim == (far < 0 ? -far : far),
          "distance of the pair");
    x.ref = bias.set;
    return x;
}

static attn_real f_add(attn_real x, attn_real y) {
    if (x.kind == P_SCORE && (y.kind == F_BIAS || y.kind == P_NINF)) {
        return f_add_bias(x, y);
    }
    if (y.kind == P_WEIGHT && x.kind == P_TOTAL) {
        const uint8_t first = y.key / ATTN_TILE_KEYS * ATTN_TILE_KEYS;
        LEGAL(x.set >> first < 1 << ATTN_TILE_KEYS && (x.set & ((1 << first) - 1)) == 0,
              "sum inside an aligned tile");
    }
    if (y.kind == P_FACTOR) { /* where states are merged: the sum that attn_micro makes of factors */
        LEGAL(x.kind == P_ZERO, "a factor is in no sum");
        return y;
    }
    if (y.kind == P_OUTPUT) {
        if (x.kind == P_ZERO) {
            return y;
        }
        LEGAL(x.kind == P_OUTPUT && x.row == y.row && x.dim == y.dim && x.ref == y.ref,
              "output has one peak");
        LEGAL((x.set & y.set) == 0, "once in the output");
        x.set |= y.set;
        return x;
    }
    if (y.kind == P_LOGSUM) {
        x = p_add(x, y);
        x.kind = F_LSE;
        return x;
    }
    return p_add(x, y);
}

static attn_real f_max(attn_real x, attn_real y) {
    if (x.kind == P_PEAK) {
        LEGAL(y.kind == P_NINF || (y.kind == P_PEAK && y.row == x.row), "maximum of one row");
        x.set |= y.kind == P_NINF ? 0 : y.set;
        return x;
    }
    LEGAL(x.kind == P_NINF ||
              (x.ref == provenance_bias && x.dim == (provenance_bias  ? F_BIASED
                                                     : provenance_cap ? F_CAPPED
                                                                      : F_SCALED)),
          "a score is scaled, capped and biased");
    return p_max(x, y);
}

static attn_real f_sub(attn_real x, attn_real y) {
    if (y.kind != F_PENALTY || x.kind == P_NINF) {
        return p_sub(x, y);
    }
    LEGAL(x.kind == P_ZERO || (x.kind == F_BIAS && x.set == F_MASK && x.row == y.row),
          "penalty is taken from the mask's element");
    return p_make(F_BIAS, y.row, x.key, y.key, x.set | F_ALIBI, 0);
}

static attn_real f_div(attn_real x, attn_real y) {
    if (y.kind == F_CAP) {
        return f_to_stage(x, F_SCALED, F_DIVIDED);
    }
    LEGAL((y.set >> 7 & 1) == provenance_sink, "sink in the sum");
    y.set &= F_SINK - 1;
    return p_div(x, y);
}

static attn_real f_distance(int64_t n) {
    LEGAL(0 <= n && n < F_NO_KEY, "distance is not negative");
    return p_make(F_DISTANCE, 0, (uint8_t)n, 0, 0, 0);
}

#undef ADD
#undef SUB
#undef MUL
#undef DIV
#undef MAX
#undef TANH
#undef FROM_INT
#undef NEG
#undef GT
#define ADD(x, y) f_add(x, y)
#define SUB(x, y) f_sub(x, y)
#define MUL(x, y) f_mul(x, y)
#define DIV(x, y) f_div(x, y)
#define MAX(x, y) f_max(x, y)
#define TANH(x) f_to_stage(x, F_DIVIDED, F_BENT)
#define FROM_INT(n) f_distance(n)

#endif
