/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/pairwise.h"

#include <stdlib.h>
#include <string.h>

#include "certify/plan/data.h"

typedef struct table {
    const int *levels;
    size_t factors;
    size_t start[ATTEST_MOST_FACTORS]; /* number of value 0 of each factor among all values */
    size_t values;
    unsigned char *open; /* open[u * values + v]: the pair of values u, v is in no row yet */
    int (*allowed)(const int *row, size_t known, void *context);
    void *context;
} table;

enum { CANDIDATES = 12 };

static unsigned char *pair(const table *t, size_t f, int u, size_t g, int v) {
    return &t->open[(t->start[f] + (size_t)u) * t->values + t->start[g] + (size_t)v];
}

/* Open pairs that value `v` of factor `f` would close with the factors before it. */
static int gain(const table *t, const int *row, size_t f, int v) {
    int count = 0;
    for (size_t g = 0; g < f; g++) {
        count += *pair(t, g, row[g], f, v);
    }
    return count;
}

static int open_with_later(const table *t, size_t f, int v) {
    int count = 0;
    for (size_t g = f + 1; g < t->factors; g++) {
        for (int w = 0; w < t->levels[g]; w++) {
            count += *pair(t, f, v, g, w);
        }
    }
    return count;
}

static int complete(const table *t, int *row, attest_draws *draws) {
    for (size_t f = 0; f < t->factors; f++) {
        int best = -1, best_gain = -1;
        int first = (int)attest_draw_below(draws, t->levels[f]);
        for (int step = 0; step < t->levels[f]; step++) {
            row[f] = (first + step) % t->levels[f];
            if (t->allowed != NULL && !t->allowed(row, f + 1, t->context)) {
                continue;
            }
            int g = 8 * gain(t, row, f, row[f]) + (open_with_later(t, f, row[f]) > 0);
            if (g > best_gain) {
                best_gain = g;
                best = row[f];
            }
        }
        if (best < 0) {
            return 0;
        }
        row[f] = best;
    }
    return 1;
}

static int closes(const table *t, const int *row) {
    int count = 0;
    for (size_t f = 1; f < t->factors; f++) {
        count += gain(t, row, f, row[f]);
    }
    return count;
}

static void close_pairs(const table *t, const int *row) {
    for (size_t f = 1; f < t->factors; f++) {
        for (size_t g = 0; g < f; g++) {
            *pair(t, g, row[g], f, row[f]) = 0;
        }
    }
}

size_t attest_pairwise(const int *levels, size_t factors, uint64_t seed,
                       int (*allowed)(const int *row, size_t known, void *context), void *context,
                       int **rows) {
    table t = {.levels = levels, .factors = factors, .allowed = allowed, .context = context};
    for (size_t f = 0; f < factors; f++) {
        t.start[f] = t.values;
        t.values += (size_t)levels[f];
    }
    attest_draws *draws = attest_draws_open(seed, 0x70616972);
    t.open = malloc(t.values * t.values);
    size_t count = 0, room = 0, idle = 0;
    *rows = NULL;
    if (t.open != NULL && draws != NULL) {
        memset(t.open, 1, t.values * t.values);
    }
    /* Pairs that no allowed row holds stay open: three fruitless rounds are the end. */
    while (t.open != NULL && draws != NULL && idle < 3) {
        int best[ATTEST_MOST_FACTORS] = {0}, row[ATTEST_MOST_FACTORS] = {0}, best_count = 0;
        for (int i = 0; i < CANDIDATES; i++) {
            if (complete(&t, row, draws) && closes(&t, row) > best_count) {
                best_count = closes(&t, row);
                memcpy(best, row, sizeof best);
            }
        }
        if (best_count == 0) {
            idle++;
            continue;
        }
        idle = 0;
        if (count == room) {
            room = room ? room * 2 : 64;
            int *grown = realloc(*rows, room * factors * sizeof **rows);
            if (grown == NULL) {
                count = 0;
                break;
            }
            *rows = grown;
        }
        memcpy(*rows + count++ * factors, best, factors * sizeof **rows);
        close_pairs(&t, best);
    }
    free(t.open);
    attest_draws_close(draws);
    return count;
}
