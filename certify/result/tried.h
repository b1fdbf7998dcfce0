/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tried.h - what the passed cases of a run had: sizes, threads, types, layouts, options, models. */
#ifndef ATTEST_TRIED_H
#define ATTEST_TRIED_H

#include "certify/result/report.h"

typedef enum attest_size {
    ATTEST_SIZE_BATCH,
    ATTEST_SIZE_HEADS,
    ATTEST_SIZE_GROUP, /* query heads a KV head */
    ATTEST_SIZE_QUERIES,
    ATTEST_SIZE_KEYS,
    ATTEST_SIZE_HEAD,
    ATTEST_SIZE_VALUE,
    ATTEST_SIZES
} attest_size;

extern const char *const attest_size_names[ATTEST_SIZES];
extern const char *const attest_layout_names[ATTEST_LAYOUTS];

typedef struct attest_tried {
    int64_t largest[ATTEST_SIZES];
    int64_t work;        /* multiplications of the largest call */
    uint64_t threads;    /* bit n: n threads; bit 63: 63 or more */
    uint64_t types;      /* bits of attest_dtype */
    int mixed;           /* types in one problem */
    uint32_t layouts;    /* bits of attest_layout */
    int64_t options[64]; /* cases with each feature, by its bit */
    uint64_t presets;    /* bits by the number of preset.h */
} attest_tried;

attest_tried attest_tried_of(const attest_report *report);

/* A reason why passed cases count for nothing, and how many have it. */
typedef struct attest_mistrust {
    const char *why;
    int64_t cases;
} attest_mistrust;

enum { ATTEST_MOST_REASONS = 8 };

/* The commonest reasons first; returns how many. */
int attest_mistrusted(const attest_report *report, attest_mistrust list[ATTEST_MOST_REASONS]);

#endif
