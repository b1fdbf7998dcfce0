/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h - bytes to a problem. Every byte string is one valid problem inside what a kernel
 * declares, and the empty one is the smallest. One byte a field at a fixed place, so that changing
 * a byte changes one thing; bytes that are missing are 0. After the fields come patches of four
 * bytes (tensor, element, element, value), each of which overwrites one element of an input.
 *
 * Every tensor has an allocation of its own that ends with its last element: an address sanitizer
 * then sees every access that leaves it.
 */
#ifndef ATTEST_FUZZ_DECODE_H
#define ATTEST_FUZZ_DECODE_H

#include <stddef.h>

#include "reference/problem/operand.h"
#include "reference/problem/profile.h"
#include "spec/attest.h"

enum attest_fuzz_field {
    FUZZ_BATCH,
    FUZZ_KV_HEADS,
    FUZZ_GROUP,
    FUZZ_QUERIES,
    FUZZ_KEYS,
    FUZZ_KEYS_FAR, /* from 0xc0 on: around a multiple of common tile sizes */
    FUZZ_HEAD_SIZE,
    FUZZ_VALUE_SIZE,
    FUZZ_FEATURES,
    FUZZ_FEATURES_HIGH,
    FUZZ_Q_TYPE,
    FUZZ_K_TYPE,
    FUZZ_O_TYPE,
    FUZZ_LAYOUT_Q,
    FUZZ_LAYOUT_K,
    FUZZ_LAYOUT_V,
    FUZZ_LAYOUT_MASK,
    FUZZ_LAYOUT_LISTS, /* sinks, slopes, lengths, offsets */
    FUZZ_LAYOUT_O,
    FUZZ_LAYOUT_LSE,
    FUZZ_SCALE,
    FUZZ_SOFTCAP,
    FUZZ_WINDOW_LEFT,
    FUZZ_WINDOW_RIGHT,
    FUZZ_WINDOW_SIZE,
    FUZZ_MASK_RANK,
    FUZZ_MASK_ONES, /* which axes of the mask have length 1 */
    FUZZ_MASK,
    FUZZ_MASK_TYPE,
    FUZZ_LENGTHS,
    FUZZ_OFFSETS,
    FUZZ_SLOPES_RANK,
    FUZZ_FILL_Q,
    FUZZ_FILL_K,
    FUZZ_FILL_V,
    FUZZ_FILL_BIAS,
    FUZZ_SEED,
    FUZZ_SEED_HIGH,
    FUZZ_ROW,   /* which row the relations look at */
    FUZZ_EXTRA, /* which relations that cost more are looked at */
    FUZZ_PROFILE,
    FUZZ_PROFILE_HIGH,
    FUZZ_FIELDS
};

enum { FUZZ_PATCH_BYTES = 4, FUZZ_MOST_PATCHES = 64 };
#define FUZZ_MOST_BYTES ((size_t)(FUZZ_FIELDS + FUZZ_PATCH_BYTES * FUZZ_MOST_PATCHES))

typedef struct attest_fuzz_scope {
    const attest_kernel *kernel; /* only what it declares is asked for */
    attn_profile profile;
    int any_profile;   /* 1: the profile comes from the bytes */
    int64_t most_work; /* rows * keys * (D + Dv) of a problem */
    int64_t most_keys;
} attest_fuzz_scope;

typedef struct attest_fuzz_block {
    unsigned char *memory; /* NULL for a tensor without elements */
    size_t bytes;
} attest_fuzz_block;

typedef struct attest_fuzz_problem {
    attest_problem problem;
    attn_profile profile;
    attest_fuzz_block block[ATTN_OPERANDS];
    unsigned char field[FUZZ_FIELDS];
} attest_fuzz_problem;

/* 1, or 0 where there is no memory. Either way attest_fuzz_release() may be called. */
int attest_fuzz_decode(attest_fuzz_problem *result, const attest_fuzz_scope *scope,
                       const unsigned char *bytes, size_t size);
void attest_fuzz_release(attest_fuzz_problem *result);

/* Elements of a tensor; the place of the n-th in row-major order, in elements from the start. */
int64_t attest_fuzz_count(const attest_tensor *tensor);
int64_t attest_fuzz_place(const attest_tensor *tensor, int64_t n);
void *attest_fuzz_address(const attest_tensor *tensor, int64_t n);

/* Bytes from the first to the last element. */
size_t attest_fuzz_extent(const attest_tensor *tensor);

/* fill.c: the data of every input, the patches included. */
void attest_fuzz_fill(attest_fuzz_problem *result, const attest_fuzz_scope *scope,
                      const unsigned char *patches, size_t patch_bytes);

#endif
