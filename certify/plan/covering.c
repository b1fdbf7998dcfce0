/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/covering.h"

#include <stdlib.h>
#include <string.h>

#include "certify/plan/data.h"

enum { ATTEMPTS = 4, MOST = ATTEST_COVERING_FACTORS };

/* The tuples of one set of factors: a byte each, 1 while it is in no row. A pair has h == g. */
typedef struct block {
    size_t f, g, h;
    unsigned char *open;
    size_t tuples;
} block;

typedef struct table {
    const attest_covering *space;
    block *blocks; /* by their last factor, so that those of a factor lie together */
    size_t count, first[MOST + 1];
    unsigned char *bytes;
    attest_draws *draws;
} table;

static size_t tuples_of(const attest_covering *s, size_t f, size_t g, size_t h) {
    const size_t pairs = (size_t)s->levels[f] * (size_t)s->levels[g];
    return h == g ? pairs : pairs * (size_t)s->levels[h];
}

static size_t place(const attest_covering *s, const block *b, const int *row) {
    const size_t pair = (size_t)row[b->f] * (size_t)s->levels[b->g] + (size_t)row[b->g];
    return b->h == b->g ? pair : pair * (size_t)s->levels[b->h] + (size_t)row[b->h];
}

/* Every block that ends with factor `last`; only counted while `blocks` is NULL. */
static size_t blocks_of(const attest_covering *s, size_t last, block *blocks) {
    size_t count = 0;
    for (size_t f = 0; f < last; f++) {
        for (size_t g = f + 1; g <= last; g++) {
            const int pair = g == last;
            if (pair || (s->wants != NULL && s->wants(s, f, g, last))) {
                if (blocks != NULL) {
                    blocks[count] = (block){.f = f, .g = g, .h = last};
                    blocks[count].tuples = tuples_of(s, f, g, last);
                }
                count++;
            }
        }
    }
    return count;
}

static int make_table(table *t) {
    const attest_covering *s = t->space;
    size_t bytes = 0;
    for (size_t last = 0; last < s->factors; last++) {
        t->first[last] = t->count;
        t->count += blocks_of(s, last, NULL);
    }
    t->first[s->factors] = t->count;
    t->blocks = malloc((t->count + 1) * sizeof *t->blocks);
    for (size_t last = 0; t->blocks != NULL && last < s->factors; last++) {
        blocks_of(s, last, t->blocks + t->first[last]);
    }
    for (size_t i = 0; t->blocks != NULL && i < t->count; i++) {
        bytes += t->blocks[i].tuples;
    }
    t->bytes = t->blocks ? malloc(bytes + 1) : NULL;
    if (t->bytes == NULL) {
        return 0;
    }
    memset(t->bytes, 1, bytes);
    bytes = 0;
    for (size_t i = 0; i < t->count; i++) {
        t->blocks[i].open = t->bytes + bytes;
        bytes += t->blocks[i].tuples;
    }
    return 1;
}

/* Open tuples that end with factor f of this row. */
static int gain(const table *t, const int *row, size_t f) {
    int count = 0;
    for (size_t i = t->first[f]; i < t->first[f + 1]; i++) {
        count += t->blocks[i].open[place(t->space, &t->blocks[i], row)];
    }
    return count;
}

/* Completes a row whose fixed factors are not -1, factor by factor, each with the value that
 * closes most, or with the first that is allowed. Returns how many tuples it closes, -1 if no
 * allowed row was found. */
static int complete(const table *t, const int *fixed, int first, int *row) {
    const attest_covering *s = t->space;
    int total = 0;
    for (size_t f = 0; f < s->factors; f++) {
        const int levels = s->levels[f];
        const int start = first ? 0 : (int)attest_draw_below(t->draws, levels);
        int best = -1, best_gain = -1;
        for (int step = 0; step < levels; step++) {
            row[f] = fixed[f] >= 0 ? fixed[f] : (start + step) % levels;
            if (s->allows == NULL || s->allows(s, row, f + 1)) {
                const int g = gain(t, row, f);
                best = g > best_gain ? row[f] : best;
                best_gain = g > best_gain ? g : best_gain;
            }
            if (fixed[f] >= 0 || (first && best >= 0)) {
                break;
            }
        }
        if (best < 0) {
            return -1;
        }
        row[f] = best;
        total += best_gain;
    }
    return total;
}

static void fix(const table *t, const block *b, size_t tuple, int *fixed) {
    const int *levels = t->space->levels;
    for (size_t f = 0; f < t->space->factors; f++) {
        fixed[f] = -1;
    }
    if (b->h != b->g) {
        fixed[b->h] = (int)(tuple % (size_t)levels[b->h]);
        tuple /= (size_t)levels[b->h];
    }
    fixed[b->g] = (int)(tuple % (size_t)levels[b->g]);
    fixed[b->f] = (int)(tuple / (size_t)levels[b->g]);
}

static int add(const table *t, const int *row, int **rows, size_t *count, size_t *room) {
    const size_t factors = t->space->factors;
    if (*count == *room) {
        *room = *room ? *room * 2 : 64;
        int *grown = realloc(*rows, *room * factors * sizeof **rows);
        if (grown == NULL) {
            return 0;
        }
        *rows = grown;
    }
    memcpy(*rows + (*count)++ * factors, row, factors * sizeof *row);
    for (size_t i = 0; i < t->count; i++) {
        t->blocks[i].open[place(t->space, &t->blocks[i], row)] = 0;
    }
    return 1;
}

/* One row for an open tuple: the best of a few. 0 if there is no memory. */
static int close_tuple(table *t, const block *b, size_t tuple, int **rows, size_t *count,
                       size_t *room) {
    int fixed[MOST], row[MOST], best[MOST], best_total = -1;
    fix(t, b, tuple, fixed);
    for (int i = 0; i < ATTEMPTS || (i == ATTEMPTS && best_total < 0); i++) {
        const int total = complete(t, fixed, i == ATTEMPTS, row);
        if (total > best_total) {
            best_total = total;
            memcpy(best, row, sizeof best);
        }
    }
    b->open[tuple] = 0; /* closed by the row, or given up */
    return best_total < 0 || add(t, best, rows, count, room);
}

size_t attest_covering_rows(const attest_covering *self, uint64_t seed, int **rows) {
    table t = {.space = self, .draws = attest_draws_open(seed, 0x636f766572)};
    size_t count = 0, room = 0;
    *rows = NULL;
    int fine = t.draws != NULL && self->factors <= MOST && make_table(&t);
    /* Large blocks first: what they need fills the small ones by the way. */
    for (size_t i = t.count; fine && i-- > 0;) {
        const block *b = &t.blocks[i];
        for (size_t tuple = 0; fine && tuple < b->tuples; tuple++) {
            if (b->open[tuple]) {
                fine = close_tuple(&t, b, tuple, rows, &count, &room);
            }
        }
    }
    if (!fine) {
        free(*rows);
        *rows = NULL;
        count = 0;
    }
    free(t.blocks);
    free(t.bytes);
    attest_draws_close(t.draws);
    return count;
}
