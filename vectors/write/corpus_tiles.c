/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corpus_tiles.c - groups decode and tiles: what only shows where a kernel has a path of its own,
 * for one query against a cache, or where a row spans several tiles or splits.
 */
#include <math.h>
#include "vectors/write/corpus.h"

typedef attest_vector_recipe recipe;

static const struct {
    const char *name;
    uint64_t features;
    attest_mask_form mask;
} options[] = {
    {"plain", 0, 0},
    {"causal", ATTEST_CAUSAL | ATTEST_OFFSETS, 0},
    {"window", ATTEST_WINDOW, 0},
    {"lengths", ATTEST_KEY_LENGTHS, 0},
    {"causal-lengths", ATTEST_CAUSAL | ATTEST_KEY_LENGTHS, 0},
    {"front", ATTEST_MASK_BOOL, ATTEST_SHOWS_FRONT},
    {"back", ATTEST_MASK_BOOL, ATTEST_SHOWS_BACK},
    {"back-add", ATTEST_MASK_ADD, ATTEST_SHOWS_BACK},
    {"back-sinks", ATTEST_MASK_BOOL | ATTEST_SINKS, ATTEST_SHOWS_BACK},
    {"sinks", ATTEST_SINKS, 0},
    {"alibi", ATTEST_ALIBI, 0},
    {"softcap", ATTEST_SOFTCAP, 0},
};
#define OPTIONS (sizeof options / sizeof *options)

static recipe with_option(size_t k, int64_t batch, int64_t keys) {
    recipe r = attest_recipe_default();
    r.features = options[k].features;
    r.mask = options[k].mask;
    r.mask_type = r.features & ATTEST_MASK_ADD ? ATTEST_F32 : ATTEST_BOOL;
    r.batch = batch;
    r.q_heads = 3; /* not a power of two */
    r.kv_heads = 1;
    r.keys = keys;
    r.head_size = 4;
    r.value_size = 3;
    r.softcap = 3;
    r.left = 3;
    r.right = 0;
    r.offsets[0] = 3;
    r.offsets[1] = keys - 1;
    r.offsets[2] = keys / 2;
    r.lengths[0] = keys / 7 + 1;
    r.lengths[1] = keys;
    r.lengths[2] = keys / 2;
    return r;
}

static void decode(attest_recipe_list *list) {
    static const int64_t keys[] = {9, 70};
    for (size_t n = 0; n < 2; n++) {
        for (size_t k = 0; k < OPTIONS; k++) {
            recipe r = with_option(k, 3, keys[n]);
            r.queries = 1;
            r.requirements = "SEM-15 MASK-04 ISO-06";
            r.note = "one query for each of three batch entries";
            attest_recipe_add(list, &r, "decode", "%s-%d", options[k].name, (int)keys[n]);
        }
    }
}

static void tiles(attest_recipe_list *list) {
    for (size_t k = 0; k < OPTIONS; k++) {
        recipe r = with_option(k, 1, 40);
        r.queries = 5;
        r.left = 20;
        r.requirements = "SEM-06 MASK-04 NUM-07";
        r.note = "a row over several tiles; whole tiles hidden";
        attest_recipe_add(list, &r, "tiles", "%s-40", options[k].name);
    }
    static const int64_t long_rows[] = {520, 710, 1030};
    for (size_t k = 0; k < 3; k++) {
        recipe r = attest_recipe_default();
        r.batch = 1;
        r.q_heads = r.kv_heads = 1;
        r.queries = 1;
        r.keys = long_rows[k];
        r.head_size = 4;
        r.value_size = 1;
        r.requirements = "SEM-06 SEM-07";
        r.note = "a long row";
        attest_recipe_add(list, &r, "tiles", "plain-%d", (int)r.keys);
        r.features = ATTEST_MASK_BOOL;
        r.requirements = "MASK-05 SEM-06";
        r.note = "a long mask";
        attest_recipe_add(list, &r, "tiles", "bool-%d", (int)r.keys);
    }
    static const int64_t columns[] = {15, 16, 17, 20, 33, 65};
    for (size_t k = 0; k < 6; k++) {
        recipe r = with_option(10, 1, 40); /* ALiBi towards the last key: the maximum moves */
        r.queries = 2;
        r.value_size = columns[k];
        r.requirements = "SEM-07 NUM-07";
        r.note = "every value column is rescaled when the maximum moves";
        attest_recipe_add(list, &r, "tiles", "columns-%d", (int)columns[k]);
    }
}

/* NaN at the start and the end of a tile, and behind a weight that has underflowed. */
static void bad_values(attest_recipe_list *list) {
    static const int64_t places[] = {0, 7, 8, 31, 32, 39};
    for (size_t k = 0; k < 6; k++) {
        recipe r = with_option(0, 1, 40);
        r.q_heads = 1;
        r.queries = 2;
        r.pokes[0] = (attest_poke){'k', places[k] * r.head_size, (double)NAN};
        r.requirements = "SPV-01";
        r.note = "NaN in one key makes the row NaN wherever that key stands in a tile";
        attest_recipe_add(list, &r, "tiles", "nan-key-%d", (int)places[k]);
        r.pokes[0] = (attest_poke){'v', places[k] * r.value_size, (double)NAN};
        r.features = ATTEST_SCALE;
        r.scale = 256;
        r.note = "NaN in a value appears also where its weight underflows to 0";
        attest_recipe_add(list, &r, "tiles", "nan-value-%d", (int)places[k]);
    }
}

void attest_corpus_tiles(attest_recipe_list *list) {
    decode(list);
    tiles(list);
    bad_values(list);
}
