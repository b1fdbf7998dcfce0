/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * case.h - one case: everything that decides what a kernel is given, as plain values. It has one
 * canonical line of text ("check=oracle b=2 hq=4 ..."; fields at their default are left out, so a
 * field added later changes no id), and its id is a hash of that line. The data follow from the
 * line alone.
 */
#ifndef ATTEST_CASE_H
#define ATTEST_CASE_H

#include <stddef.h>
#include <stdint.h>

#include "spec/attest.h"

#define ATTEST_ID_BYTES 17 /* 16 hexadecimal digits and the end */
#define ATTEST_LINE_BYTES 1024
#define ATTEST_PARAMETERS 4

/* How a tensor lies in memory. */
typedef enum attest_layout {
    ATTEST_LAYOUT_DENSE,     /* row-major, no gaps */
    ATTEST_LAYOUT_TOKENS,    /* [B,S,H,D] in memory: the sequence outside the heads */
    ATTEST_LAYOUT_PADDED,    /* gaps after each row and each head */
    ATTEST_LAYOUT_BROADCAST, /* K, V and masks repeat along the batch: stride 0 */
    ATTEST_LAYOUT_SPREAD,    /* elements of a row two apart */
    ATTEST_LAYOUT_MIXED,     /* each tensor its own: any order of its axes but the last, gaps */
    ATTEST_LAYOUT_HUGE,      /* one axis of one tensor strides past 2^31: attest_huge says which */
    ATTEST_LAYOUTS
} attest_layout;

/* Which parameters of a case with ATTEST_LAYOUT_HUGE say what is stretched, and how far. */
enum attest_huge {
    ATTEST_HUGE_SLOT, /* of the tensor: slots.h */
    ATTEST_HUGE_AXIS,
    ATTEST_HUGE_STRIDE /* in elements */
};

/* Values of q and k, and of v. All are dyadic rationals made from raw integer draws. */
typedef enum attest_recipe {
    ATTEST_RECIPE_COARSE, /* multiples of 1/8 in [-2, 2]: exact in every type */
    ATTEST_RECIPE_FINE,   /* 24 random bits in [-2, 2) */
    ATTEST_RECIPE_PEAKED, /* multiples of 1/2 in [-8, 8]: one key wins most rows */
    ATTEST_RECIPE_ZERO,
    ATTEST_RECIPE_ONE,
    ATTEST_RECIPE_UNIT,  /* element c of key j is 1 where c = j - base, else 0 */
    ATTEST_RECIPE_KEY,   /* every element of key j is j + 1 */
    ATTEST_RECIPE_HUGE,  /* coarse, times 2^100 (2^12 in binary16) */
    ATTEST_RECIPE_TINY,  /* coarse, times 2^-130 (2^-18 in binary16): partly denormal */
    ATTEST_RECIPE_LARGE, /* coarse, times 64: scores in the thousands */
    ATTEST_RECIPE_SMALL, /* multiples of 1/64 in [-1/4, 1/4]: no weight comes near 0 */
    /* From here on with every bit of the significand, and so are biases, slopes and sinks. */
    ATTEST_RECIPE_BELL,   /* about normal, in (-2, 2) */
    ATTEST_RECIPE_WIDE,   /* about log-normal, both signs, 2^-8 to 2^9 */
    ATTEST_RECIPE_BELOW,  /* q positive, k below -80: every score far below 0 */
    ATTEST_RECIPE_TWINS,  /* bell; only three different keys a head: maxima that are equal */
    ATTEST_RECIPE_ALIKE,  /* bell; keys that differ little from each other */
    ATTEST_RECIPE_MIXED,  /* bell, one element of eight denormal */
    ATTEST_RECIPE_RISE,   /* k denormal and q so large that it matters */
    ATTEST_RECIPE_HOLES,  /* bell; two keys a head hold one NaN each */
    ATTEST_RECIPE_NEEDLE, /* bell; each row of q points at one key, often beside an edge of what it
                             sees */
    ATTEST_RECIPE_STEEP,  /* bell; q so large that scores reach tens to thousands */
    /* As people draw them for tests of their own. */
    ATTEST_RECIPE_NORMAL,  /* normal, of variance 1, to 6 deviations */
    ATTEST_RECIPE_UNIFORM, /* in [0, 1) */
    ATTEST_RECIPE_FAINT,   /* normal, of deviation 1/50 */
    ATTEST_RECIPES
} attest_recipe;

/* What K and V hold at keys that no row sees, whatever the recipe. */
typedef enum attest_unseen {
    ATTEST_UNSEEN_PLAIN, /* the recipe's values */
    ATTEST_UNSEEN_NAN,
    ATTEST_UNSEEN_LARGEST, /* the type's largest finite number, both signs */
    ATTEST_UNSEENS
} attest_unseen;

typedef enum attest_mask_recipe {
    ATTEST_MASK_RANDOM, /* three of four visible, the first key always */
    ATTEST_MASK_SPARSE, /* one of eight visible, rows without any among them */
    ATTEST_MASK_SINGLE, /* one key a row, walking through all */
    ATTEST_MASK_TRIANGLE,
    ATTEST_MASK_HEAD, /* the first half of the keys hidden */
    ATTEST_MASK_NONE_VISIBLE,
    ATTEST_MASK_ALL_VISIBLE,
    ATTEST_MASK_RECIPES
} attest_mask_recipe;

/* Values per batch entry: key lengths in [0, Sk], offsets of row 0. */
typedef enum attest_list_recipe {
    ATTEST_LIST_FULL,   /* Sk; offset Sk - Sq */
    ATTEST_LIST_RAGGED, /* at random, the first entry short, the last one full */
    ATTEST_LIST_ZERO,
    ATTEST_LIST_ONE,
    ATTEST_LIST_NEGATIVE, /* offsets below zero: rows that see nothing */
    ATTEST_LIST_FAR,      /* offsets beyond 2^40 */
    ATTEST_LIST_RECIPES
} attest_list_recipe;

typedef struct attest_case {
    char check[24];
    int64_t batch, q_heads, kv_heads, queries, keys, head_size, value_size;
    attest_dtype q_type, kv_type, o_type;
    uint64_t features;
    double scale, softcap;
    int64_t window_left, window_right, window_size;
    attest_dtype mask_type;
    int64_t mask_rank;
    int64_t mask_full; /* bit a: axis a of [B,Hq,Sq,Sk] is full, else 1; bits outside rank are 0 */
    int64_t mask;      /* attest_mask_recipe */
    int64_t lengths;   /* attest_list_recipe */
    int64_t offsets;
    int64_t slopes_rank;
    int64_t layout;
    int64_t qk, v;  /* attest_recipe */
    int64_t base;   /* of ATTEST_RECIPE_UNIT */
    int64_t unseen; /* attest_unseen */
    int64_t threads;
    int64_t parameter
        [ATTEST_PARAMETERS]; /* of the check, whose plan gives them meaning, or of the layout */
    uint64_t seed;
} attest_case;

/* The case from which all others differ: a small dense problem in binary32. */
attest_case attest_case_default(const char *check);

/* Takes features away, and with them the values that they give meaning to. */
void attest_case_without(attest_case *c, uint64_t features);

/* Writes the line; returns its length. */
size_t attest_case_print(const attest_case *c, char line[ATTEST_LINE_BYTES]);

/* 1, or 0 with a reason. */
int attest_case_parse(attest_case *c, const char *line, char why[ATTEST_MESSAGE_BYTES]);

void attest_case_id(const attest_case *c, char id[ATTEST_ID_BYTES]);

/* Names of features, comma-separated, in the order of their bits; "none" for 0. */
void attest_feature_names(uint64_t features, char *text, size_t size);
const char *attest_dtype_name(attest_dtype dtype);

#endif
