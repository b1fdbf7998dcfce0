/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * question.h - one row of a problem, evaluated key by key, as it was asked and as it may have been
 * understood. A defect seldom holds for a whole tensor: it begins at some key, or comes back every
 * so many. So a question says what one key adds to a row, and explanation.h looks for the keys that
 * were taken by another question than the right one.
 */
#ifndef ATTEST_QUESTION_H
#define ATTEST_QUESTION_H

#include "reference/problem/normal.h"

typedef enum attest_capping { ATTEST_CAP_NONE, ATTEST_CAP_FIRST, ATTEST_CAP_LAST } attest_capping;
typedef enum attest_distance {
    ATTEST_DISTANCE_NONE,
    ATTEST_DISTANCE_RIGHT,
    ATTEST_DISTANCE_SIGNED,
    ATTEST_DISTANCE_UNSHIFTED
} attest_distance;
typedef enum attest_mask_use {
    ATTEST_MASK_UNUSED,
    ATTEST_MASK_USED,
    ATTEST_MASK_NEGATED,
    ATTEST_MASK_BOUNDED /* minus infinity is -10000 */
} attest_mask_use;
typedef enum attest_lse_form {
    ATTEST_LSE_RIGHT,
    ATTEST_LSE_OTHER_BASE,
    ATTEST_LSE_NO_MAXIMUM,
    ATTEST_LSE_NO_SINK
} attest_lse_form;

/* What is asked of a row. attest_question_of() gives the right one. */
typedef struct attest_question {
    const attn_normal *n;
    int64_t b, h, i;        /* the row */
    int64_t q_row;          /* whose query it has */
    int64_t entry, kv_head; /* whose keys and values */
    int64_t k_back, v_back; /* by how many keys too early they are read */
    int64_t size;           /* elements of q that take part */
    int64_t mask_b, mask_h, mask_i;
    int64_t length_b, slope_h, sink_h;
    attest_mask_use mask;
    attest_distance distance;
    attest_capping cap;
    attest_lse_form lse;
    double scale;
    int causal, lengths;                 /* 0: as if it had not been asked for */
    int64_t offset, frontier;            /* of the row; causal sees j <= i + offset + frontier */
    int64_t left, right;                 /* of the window; ATTEST_UNBOUNDED */
    int64_t longer;                      /* than the key length */
    double times;                        /* how often a key counts */
    int sinks;                           /* how often the sink counts */
    int divided;                         /* 0: the output is not divided by the sum */
    int numbers_only;                    /* 1: a score that is NaN is left out */
    attest_dtype product, weight, added; /* the type it is rounded to; 0: none */
    int64_t sum_tile, output_tile; /* keys after which it should be rescaled and is not; 0: right */
} attest_question;

attest_question attest_question_of(const attn_normal *n, int64_t b, int64_t h, int64_t i);

/* What one key adds: seen or not, its score, the value's key and how often it counts. */
typedef struct attest_term {
    int seen;
    int64_t value; /* key whose value it meets */
    double score;
} attest_term;

attest_term attest_question_key(const attest_question *question, int64_t key);

/* The sink's score, -inf without one. */
double attest_question_sink(const attest_question *question);

/* Element c of the value that a term meets. */
double attest_question_value(const attest_question *question, const attest_term *term, int64_t c);

#endif
