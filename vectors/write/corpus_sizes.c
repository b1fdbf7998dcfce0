/* SPDX-License-Identifier: Apache-2.0 */
/* corpus_sizes.c - groups keys, elements, queries (landmark sizes) and large (recipe and hash). */
#include "vectors/write/corpus.h"

typedef attest_vector_recipe recipe;

static recipe small(void) {
    recipe r = attest_recipe_default();
    r.batch = 1;
    r.q_heads = r.kv_heads = 1;
    r.value_size = 2;
    return r;
}

/* Around every tile size in use, plain and causal: tails, rescaling, the frontier inside a tile. */
static void key_counts(attest_recipe_list *list) {
    static const int64_t counts[] = {1,   2,   3,   4,   5,   7,   8,   9,   15,  16,
                                     17,  24,  31,  32,  33,  48,  63,  64,  65,  96,
                                     100, 127, 128, 129, 192, 200, 255, 256, 257, 300};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        recipe r = small();
        r.keys = counts[k];
        r.queries = 3;
        r.requirements = r.keys == 1 ? "SEM-06 SPV-08" : "SEM-06 SEM-07 NUM-01";
        r.wrong = r.keys == 17 ? "last-key-dropped first-16-keys tail-of-8-dropped" : "";
        r.note = "keys around tile sizes";
        attest_recipe_add(list, &r, "keys", "plain-%d", (int)r.keys);
        r.features = ATTEST_CAUSAL;
        r.fill_q = r.fill_k = (attest_fill)ATTEST_PEAKED;
        r.requirements = "MASK-01 SEM-06";
        r.wrong = "";
        r.note = "the frontier near a tile's end, one key winning most rows";
        attest_recipe_add(list, &r, "keys", "causal-%d", (int)r.keys);
    }
    /* Scores that rise along the keys: an online softmax rescales at every tile. */
    for (int64_t keys = 40; keys <= 160; keys += 60) {
        recipe r = small();
        r.keys = keys;
        r.queries = 2;
        r.features = ATTEST_ALIBI | ATTEST_OFFSETS;
        r.offsets[0] = keys - 1;
        r.requirements = "SEM-06 NUM-07";
        r.note = "scores rise towards the last key: the running maximum changes in each tile";
        attest_recipe_add(list, &r, "keys", "rising-%d", (int)keys);
        r.offsets[0] = 0;
        r.note = "scores fall: later tiles carry little weight";
        attest_recipe_add(list, &r, "keys", "falling-%d", (int)keys);
    }
}

static void head_sizes(attest_recipe_list *list) {
    static const int64_t sizes[] = {1,  2,  3,  4,  5,  7,  8,  9,  15,  16,  17,  24,  31,
                                    32, 33, 40, 63, 64, 65, 80, 96, 127, 128, 129, 192, 256};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        recipe r = small();
        r.head_size = sizes[k];
        r.value_size = sizes[k] % 2 ? sizes[k] : sizes[k] / 2;
        r.queries = 2;
        r.keys = 5;
        r.requirements = "SEM-04 SEM-07 SEM-13";
        r.wrong = r.head_size == 65 ? "last-element-dropped first-64-elements" : "";
        r.note = "head sizes around vector and tile sizes";
        attest_recipe_add(list, &r, "elements", "d-%d", (int)r.head_size);
    }
}

static void query_counts(attest_recipe_list *list) {
    static const int64_t counts[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        recipe r = small();
        r.queries = counts[k];
        r.keys = 9;
        r.requirements = "SEM-07 ISO-07";
        r.wrong = r.queries == 9 ? "cheat-first-row" : "";
        r.note = "queries around tile sizes";
        attest_recipe_add(list, &r, "queries", "plain-%d", (int)r.queries);
        r.keys = counts[k] + 2;
        r.features = ATTEST_CAUSAL | ATTEST_WINDOW;
        r.left = 5;
        r.requirements = "MASK-01 MASK-02 ISO-07";
        r.wrong = "";
        r.note = "a band along the diagonal";
        attest_recipe_add(list, &r, "queries", "band-%d", (int)r.queries);
    }
}

static void large(attest_recipe_list *list) {
    recipe r = attest_recipe_default();
    r.large = 1;
    r.batch = 1;
    r.q_heads = 4;
    r.kv_heads = 1;
    r.head_size = r.value_size = 64;
    r.queries = 1;
    r.keys = 4096;
    r.requirements = "SEM-06 SEM-07 NUM-01";
    r.note = "decode against a long cache";
    attest_recipe_add(list, &r, "large", "decode-4096");
    r.q_heads = r.kv_heads = 1;
    r.keys = 20011;
    r.head_size = r.value_size = 32;
    r.note = "a prime number of keys";
    attest_recipe_add(list, &r, "large", "decode-20011");
    r.queries = r.keys = 192;
    r.head_size = r.value_size = 128;
    r.features = ATTEST_CAUSAL;
    r.requirements = "MASK-01 SEM-06 SEM-07 NUM-01";
    r.note = "a causal prefill";
    attest_recipe_add(list, &r, "large", "prefill-192");
    r.q_heads = 2;
    r.queries = 130;
    r.keys = 515;
    r.head_size = r.value_size = 64;
    r.features = ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_SOFTCAP | ATTEST_SINKS;
    r.left = 127;
    r.softcap = 20;
    r.requirements = "MASK-02 SEM-05 SEM-09 NUM-01";
    r.note = "window, softcap and sinks over several tiles";
    attest_recipe_add(list, &r, "large", "window-515");
}

void attest_corpus_sizes(attest_recipe_list *list) {
    key_counts(list);
    head_sizes(list);
    query_counts(list);
    large(list);
}
