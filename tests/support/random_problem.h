/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_problem.h - valid problems over every option, type, stride and shape, for tests. The same
 * seed gives the same problem on every machine: integer draws, and values that are small integers
 * times powers of two rounded once to their type.
 */
#ifndef RANDOM_PROBLEM_H
#define RANDOM_PROBLEM_H

#include "reference/problem/profile.h"
#include "spec/attest.h"

typedef struct random_source {
    uint64_t state;
} random_source;

uint64_t random_bits(random_source *source);                         /* splitmix64 */
int64_t random_between(random_source *source, int64_t a, int64_t b); /* both included */
int random_chance(random_source *source, int one_in);
double random_unit(random_source *source); /* in [-1, 1], a multiple of 2^-40 */

typedef enum random_magnitude {
    RANDOM_ORDINARY, /* entries around 1, scores of a few units */
    RANDOM_SHARP,    /* scores of tens to hundreds: a few keys carry the row */
    RANDOM_TINY,     /* down to the denormals of the storage type */
    RANDOM_LARGE,    /* v and mask up to the edge of the domain, scores of hundreds */
    RANDOM_CANCEL,   /* v of both signs, so that outputs nearly vanish */
    RANDOM_MAGNITUDES
} random_magnitude;

typedef struct random_limits {
    int64_t batch, kv_heads, group, queries, keys, head_size; /* largest; each at least 1 */
    uint64_t features;                                        /* may be drawn */
    uint64_t force_features;                                  /* always on */
    uint32_t dtypes;                                          /* bits 1 << ATTEST_F32 ...; 0: any */
    int magnitude;                                            /* random_magnitude, or -1: any */
    int plain_strides;                                        /* 1: row-major without gaps */
    int empty_axes;                                           /* 1: axes of length 0 now and then */
    int specials;    /* 1: some NaN and infinities in the inputs */
    int any_profile; /* 1: the profile is drawn too; 0: attn_profile_attest */
} random_limits;

extern const random_limits random_limits_small; /* every option, up to 40 keys, no specials */

#define RANDOM_BLOCKS 12

typedef struct random_problem {
    attest_problem problem;
    attn_profile profile;
    void *blocks[RANDOM_BLOCKS];
    int block_count;
} random_problem;

/* Ends the program where there is no memory. Always gives a problem that attn_normalise accepts. */
void random_problem_make(random_problem *result, random_source *source,
                         const random_limits *limits);
void random_problem_free(random_problem *result);

/* Elements of a tensor; 1 for rank 0. */
int64_t random_elements(const attest_tensor *tensor);

#endif
