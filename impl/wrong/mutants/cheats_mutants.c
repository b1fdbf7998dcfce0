/* SPDX-License-Identifier: Apache-2.0 */
/* cheats - kernels that want to pass without the work. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "impl/wrong/mutants/base.h"
#include "impl/wrong/mutants/kept.h"

#define FAMILY "cheats"
enum {
    CORRECT,
    ZEROS,
    CONSTANT,
    NAN_FILL,
    NOTHING_WRITTEN,
    MEAN_OF_VALUES,
    MEAN_OF_VISIBLE,
    NEAREST_VALUE,
    BEST_KEY_ONLY,
    LAST_RESULT,
    CACHED_BY_CONTENT,
    READS_HARNESS_MEMORY,
    RIGHT_FOR_SMALL_ONLY,
    FIRST_16_KEYS,
    EVERY_SECOND_ROW,
    MOST_SIMILAR_8_KEYS,
    FIRST_HEAD_FOR_ALL,
    BFLOAT_THROUGHOUT,
    RIGHT_WITHOUT_OPTIONS
};

static void fill_row(row *r, float value) {
    for (int64_t c = 0; c < r->n->value_size; c++) {
        r->out[c] = value;
    }
    r->lse = value;
}

static int is_visible(const row *r, int64_t j) { return r->visible[j] || MUTANT == MEAN_OF_VALUES; }

/* Every visible key counts the same. */
static void mean(row *r) {
    int64_t count = 0, dv = r->n->value_size, g = attn_kv_head(r->n, r->h);
    fill_row(r, 0);
    for (int64_t j = 0; j < r->n->keys; j++) {
        if (is_visible(r, j)) {
            fetch(r->v, &r->n->problem->v, r->b, g, j);
            for (int64_t c = 0; c < dv; c++) {
                r->out[c] += r->v[c];
            }
            count++;
        }
    }
    for (int64_t c = 0; c < dv && count > 0; c++) {
        r->out[c] /= (float)count;
    }
    r->lse = count > 0 ? attn_logf((float)count) : -INFINITY;
}

static float score(const row *r, int64_t j) {
    const attn_normal *n = r->n;
    float product = dot(r->q, r->k + j * n->head_size, n->head_size);
    return bend(n, (float)n->scale * product) + r->bias[j];
}

/* Leaves only the `most` keys with the largest scores visible. */
static void keep_best(row *r, int64_t most) {
    for (int64_t j = 0; j < r->n->keys; j++) {
        r->s[j] = r->visible[j] ? score(r, j) : -INFINITY;
    }
    for (int64_t left = 0; left < r->n->keys; left++) {
        int64_t count = 0, worst = -1;
        for (int64_t j = 0; j < r->n->keys; j++) {
            count += r->visible[j];
            worst = r->visible[j] && (worst < 0 || r->s[j] < r->s[worst]) ? j : worst;
        }
        if (count <= most) {
            return;
        }
        r->visible[worst] = 0;
    }
}

/* Looks for the answer in what the harness holds; without it, zeros will have to do. */
static void peek(row *r) {
    char line[256];
    int maps = open("/proc/self/maps", O_RDONLY);
    ssize_t got = maps >= 0 ? read(maps, line, sizeof line - 1) : 0;
    if (maps >= 0) {
        close(maps);
    }
    fill_row(r, 0);
    if (got > 0) {
        line[got] = '\0';
        const float *start = (const float *)(uintptr_t)strtoull(line, NULL, 16);
        for (int64_t c = 0; c < r->n->value_size; c++) {
            r->out[c] = start[c];
        }
    }
}

static void narrow(float *x, int64_t count) {
    for (int64_t at = 0; at < count; at++) {
        x[at] = (float)attn_round_to(ATTEST_BF16, (double)x[at]);
    }
}

static int shortcut(row *r) {
    const attn_normal *n = r->n;
    int options = has(n, ATTEST_SOFTCAP | ATTEST_SINKS | ATTEST_ALIBI | ATTEST_WINDOW);
    switch (MUTANT) {
    case ZEROS:
        fill_row(r, 0);
        return 1;
    case CONSTANT:
        fill_row(r, 0.5f);
        return 1;
    case NAN_FILL:
        fill_row(r, NAN);
        return 1;
    case MEAN_OF_VALUES:
    case MEAN_OF_VISIBLE:
        mean(r);
        return 1;
    case NEAREST_VALUE:
        fill_row(r, 0);
        if (n->keys > 0) {
            int64_t j = r->i < n->keys ? r->i : n->keys - 1;
            fetch(r->out, &n->problem->v, r->b, attn_kv_head(n, r->h), j);
        }
        return 1;
    case READS_HARNESS_MEMORY:
        peek(r);
        return 1;
    case RIGHT_FOR_SMALL_ONLY:
        fill_row(r, 0);
        return n->keys > 64;
    case RIGHT_WITHOUT_OPTIONS:
        mean(r);
        return options;
    default:
        return 0;
    }
}

static void one_row(row *r) {
    const attn_normal *n = r->n;
    int64_t h = r->h, i = r->i;
    if (MUTANT == NOTHING_WRITTEN) {
        return;
    }
    if (MUTANT == FIRST_HEAD_FOR_ALL) {
        r->h = 0;
    }
    if (MUTANT == EVERY_SECOND_ROW) {
        r->i -= r->i % 2;
    }
    look(r);
    for (int64_t j = 16; MUTANT == FIRST_16_KEYS && j < n->keys; j++) {
        r->visible[j] = 0;
    }
    if (!shortcut(r)) {
        gather(r);
        if (MUTANT == BFLOAT_THROUGHOUT) {
            narrow(r->q, n->head_size);
            for (int64_t j = 0; j < n->keys; j++) {
                narrow(r->k + j * n->head_size, r->visible[j] ? n->head_size : 0);
                narrow(r->v + j * n->value_size, r->visible[j] ? n->value_size : 0);
            }
        }
        if (MUTANT == BEST_KEY_ONLY || MUTANT == MOST_SIMILAR_8_KEYS) {
            keep_best(r, MUTANT == BEST_KEY_ONLY ? 1 : 8);
        }
        attend(r);
    }
    r->h = h;
    r->i = i;
    deliver(r);
}

static uint64_t scratch_bytes(const attn_normal *n) { return row_bytes(n); }

static void run(const attn_normal *n) {
    static kept_result kept;
    uint64_t key = shape_key(n);
    for (int64_t c = 0; c < n->head_size && output_count(n) > 0; c++) {
        uint32_t bits;
        float value = get(&n->problem->q, c * n->problem->q.stride[3]);
        memcpy(&bits, &value, sizeof bits);
        key = add_to_key(key, bits);
    }
    int again = (MUTANT == LAST_RESULT && kept.count == output_count(n)) ||
                (MUTANT == CACHED_BY_CONTENT && kept.key == key);
    if (again && kept.count > 0 && can_keep(n)) {
        give_again(&kept, n);
        return;
    }
    for_each_row(n, n->problem->workspace, one_row);
    if ((MUTANT == LAST_RESULT || MUTANT == CACHED_BY_CONTENT) && can_keep(n)) {
        keep(&kept, n, key);
    }
}

#include "impl/wrong/mutants/mutant_entry.h"
