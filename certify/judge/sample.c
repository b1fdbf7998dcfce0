/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/judge/sample.h"

#include <stdlib.h>

#include "certify/plan/data.h"

static int ascending(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Query rows where a kernel by tiles or by a threshold would go wrong. */
static int edges(const attn_normal *n, int64_t near, int64_t *list, int room) {
    int count = 0;
    const int64_t first[] = {0, n->queries - 1, near - 1, near, near + 1};
    for (int i = 0; i < 5 && count < room; i++) {
        if (first[i] >= 0 && first[i] < n->queries && (i < 2 || near > 0)) {
            list[count++] = first[i];
        }
    }
    for (int64_t power = 2; power <= n->queries; power *= 2) {
        for (int64_t i = power - 1; i <= power && i < n->queries && count < room; i++) {
            list[count++] = i;
        }
    }
    return count;
}

/* A place on an axis: any, or near its end, where whatever begins at some index has begun. */
static int64_t draw_place(attest_draws *draws, int64_t count, int late) {
    const int64_t reach = late ? count >> attest_draw_below(draws, 8) : count;
    return count - 1 - attest_draw_below(draws, reach > 0 ? reach : 1);
}

/* Each edge once, at heads and entries that go round: the first, the last, then others. */
static int64_t place_edges(const attn_normal *n, int64_t near, int64_t most, int64_t *rows,
                           attest_draws *draws) {
    int64_t list[64], count = 0;
    const int found = edges(n, near, list, 64);
    for (int i = 0; i < found && count < most; i++) {
        const int64_t last[] = {n->batch - 1, n->q_heads - 1};
        const int64_t drawn[] = {attest_draw_below(draws, n->batch),
                                 attest_draw_below(draws, n->q_heads)};
        const int64_t b = i % 3 == 0 ? last[0] : i % 3 == 1 ? 0 : drawn[0];
        const int64_t h = i % 3 == 0 ? last[1] : i % 3 == 1 ? 0 : drawn[1];
        rows[count++] = (b * n->q_heads + h) * n->queries + list[i];
    }
    return count;
}

attest_sample attest_sample_rows(const attn_normal *n, int64_t most, int64_t near, uint64_t seed) {
    const int64_t all = n->batch * n->q_heads * n->queries;
    const int64_t wanted = most < all ? most : all;
    attest_sample sample = {.rows = malloc(((size_t)wanted + 1) * sizeof *sample.rows)};
    attest_draws *draws = attest_draws_open(seed, 0x726f7773);
    if (sample.rows == NULL || draws == NULL) {
        free(sample.rows);
        attest_draws_close(draws);
        return (attest_sample){0};
    }
    if (wanted == all) {
        for (int64_t row = 0; row < all; row++) {
            sample.rows[row] = row;
        }
        sample.count = all;
    } else {
        int64_t drawn = place_edges(n, near, wanted, sample.rows, draws);
        while (drawn < wanted) {
            const int late = attest_draw_below(draws, 2) == 0;
            const int64_t b = draw_place(draws, n->batch, late);
            const int64_t h = draw_place(draws, n->q_heads, late);
            sample.rows[drawn++] =
                (b * n->q_heads + h) * n->queries + draw_place(draws, n->queries, late);
        }
        qsort(sample.rows, (size_t)drawn, sizeof *sample.rows, ascending);
        for (int64_t i = 0; i < drawn; i++) {
            if (sample.count == 0 || sample.rows[sample.count - 1] != sample.rows[i]) {
                sample.rows[sample.count++] = sample.rows[i];
            }
        }
    }
    attest_draws_close(draws);
    return sample;
}
