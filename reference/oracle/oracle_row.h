/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle_row.h - inside the oracle: one row on its way from inputs to enclosures. Every array has
 * one entry a visible key, so what a row does not see has no place to be.
 */
#ifndef ATTN_ORACLE_ROW_H
#define ATTN_ORACLE_ROW_H

#include "reference/oracle/bound.h"
#include "reference/oracle/oracle.h"

#define ATTN_BLOCK_ROWS 8 /* at most so many rows share one widening of a key */
#define ATTN_LANES 8      /* doubles summed side by side; rows of q, k and v are padded to it */

/* One step of eight doubles; compilers split it to what the machine has. */
typedef double attn_lanes __attribute__((vector_size(8 * ATTN_LANES), aligned(8), may_alias));
typedef int64_t attn_lane_bits __attribute__((vector_size(8 * ATTN_LANES), aligned(8), may_alias));

/*
 * Built for the wider registers too, and chosen when the program starts. Every lane does the same
 * operations in the same order whatever the width, so the bits do not depend on the choice.
 */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) &&             \
    !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define ATTN_WIDE_REGISTERS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ATTN_WIDE_REGISTERS
#endif

/* What the whole call shares. */
typedef struct attn_oracle_call {
    const attn_normal *normal;
    const attn_model *model;
    attn_path least_path;
    attn_bound bound;     /* of the model */
    attn_model own_model; /* the binary64 path, as a model */
    attn_bound own_bound;
    attn_format o_format, lse_format;
    int64_t padded_d, padded_dv;
} attn_oracle_call;

typedef enum attn_row_state {
    ATTN_ROW_REGULAR,
    ATTN_ROW_EMPTY, /* sees no key */
    ATTN_ROW_NAN,   /* a score or the sink is NaN (SPV-01) */
    ATTN_ROW_ABOVE, /* one is +inf: the output is NaN, the LSE may be its limit (SPV-02) */
    ATTN_ROW_BELOW, /* all are -inf: so it is too */
    ATTN_ROW_OUT_OF_DOMAIN,
    ATTN_ROW_NO_RADIUS
} attn_row_state;

/*
 * How good an arithmetic of the oracle is on a row: its error of a weight's path in parts of
 * `weight`, and of the denominator.
 */
typedef struct attn_own_quality {
    attn_bound bound;
    attn_row_bound row;
    double part, denominator;
} attn_own_quality;

typedef struct attn_row_data {
    int64_t b, h, i, kv_head, offset;
    int64_t count; /* visible keys */
    attn_row_state state;
    int mean_of_all; /* the profile's answer to an empty row: every key, score 0 */
    int has_sink;
    double sink, slope;
    double q_sum, q_max; /* sum and largest of |q| */
    int q_special;       /* q holds an infinity or a NaN */

    unsigned char *visible; /* the one array over all keys */
    int64_t *keys;
    attn_key_facts *facts;
    double *score;    /* binary64; -inf for a key whose weight is 0 */
    double *own;      /* |score - exact| is at most this */
    double *exponent; /* exp(score - shift) */
    double *weight;   /* exponent * expm1(error of its path to the output), an upper bound */

    double shift, sum; /* largest score; sum of exponents, the sink's included */
    attn_row_bound bound;
    double denominator;           /* relative error of the model's denominator */
    attn_own_quality own_quality; /* of the binary64 path */
    double inflation;             /* pays for every rounding in the bounds themselves */
    double v_sum, v_max; /* at least sum |v_j| in any column, and |v|; finite entries only */

    double *q, *q_abs;              /* padded */
    double *output, *output_weight; /* sum exponent v, sum weight |v|; padded */
} attn_row_data;

/* oracle_load.c */

/* 0 if there is no memory. `padded` sizes are multiples of ATTN_LANES. */
int attn_row_reserve(attn_row_data *row, const attn_oracle_call *call);
void attn_row_release(attn_row_data *row);

/* Its key list, q, sink and slope. */
void attn_row_open(attn_row_data *row, const attn_oracle_call *call, int64_t b, int64_t h,
                   int64_t i);

/* One row of q, k or v (rank 4), widened exactly, zero up to `padded`; and its magnitudes. */
typedef struct attn_vector_facts {
    double sum, max; /* of finite magnitudes */
    int special;     /* holds an infinity or a NaN */
} attn_vector_facts;
attn_vector_facts attn_load_vector(const attest_tensor *tensor, int64_t b, int64_t h, int64_t s,
                                   int64_t padded, double *values, double *magnitudes);

/* q.k where q or k is not finite: the NaN or infinity that every order of IEEE operations gives. */
double attn_special_dot(const double *q, const double *k, int64_t d);

/* oracle_fast.c: the passes over K and V for `count` rows of one head */
typedef struct attn_row_block {
    attn_row_data *rows;
    int count;
    double *vectors; /* 8 * max(padded_d, padded_dv) doubles */
} attn_row_block;
void attn_block_scores(attn_row_block *block, const attn_oracle_call *call);
void attn_block_outputs(attn_row_block *block, const attn_oracle_call *call);

/* oracle_weigh.c: from facts to scores, weights and the row's bounds */
void attn_row_weigh(attn_row_data *row, const attn_oracle_call *call);

/* The bias of one visible key, in `facts`. */
void attn_key_bias(const attn_row_data *row, const attn_oracle_call *call, int64_t key,
                   attn_key_facts *facts);

void attn_own_quality_of(attn_own_quality *quality, const attn_model *arithmetic,
                         const attn_row_data *row, const attn_oracle_call *call);

/* Own error of one output and of the log-sum-exp under that arithmetic. */
double attn_own_output_error(const attn_own_quality *quality, const attn_row_data *row,
                             double value, double weighted);
double attn_own_lse_error(const attn_own_quality *quality, double lse);

/* oracle_wide.c and oracle_mpfr.c: centres again, in more digits */
typedef struct attn_precise_row attn_precise_row;

/*
 * Starts a precise evaluation of a regular row; `bits` is ignored by the double-double one. NULL if
 * there is no memory, or no such path in this build.
 */
attn_precise_row *attn_wide_row(const attn_row_data *row, const attn_oracle_call *call);
attn_precise_row *attn_mpfr_row(const attn_row_data *row, const attn_oracle_call *call, int bits);

struct attn_precise_row {
    /* centre and own error of output column c (before the bound of the radius), or of the lse */
    void (*column)(attn_precise_row *self, int64_t c, double weighted, attn_enclosure *result);
    void (*lse)(attn_precise_row *self, attn_enclosure *result);
    void (*release)(attn_precise_row *self);
    const attn_row_data *row;
    const attn_oracle_call *call;
    attn_own_quality quality;
};

#endif
