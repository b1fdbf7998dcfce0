/* SPDX-License-Identifier: Apache-2.0 */
#include "vectors/write/corpus.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

attest_vector_recipe attest_recipe_default(void) {
    return (attest_vector_recipe){
        .batch = 2,
        .q_heads = 4,
        .kv_heads = 2,
        .queries = 4,
        .keys = 6,
        .head_size = 8,
        .value_size = 5,
        .q = ATTEST_F32,
        .kv = ATTEST_F32,
        .o = ATTEST_F32,
        .left = ATTEST_UNBOUNDED,
        .right = ATTEST_UNBOUNDED,
        .window_size = 1,
        .fill_q = ATTEST_FINE,
        .fill_k = ATTEST_FINE,
        .fill_v = ATTEST_FINE,
        .mask_type = ATTEST_BOOL,
        .mask_rank = 4,
        .mask_axes = 15,
        .slopes_rank = 1,
        .profile = "attest",
        .requirements = "",
        .flags = "",
        .wrong = "",
        .note = "",
    };
}

void attest_recipe_add(attest_recipe_list *list, const attest_vector_recipe *model,
                       const char *group, const char *name, ...) {
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        attest_vector_recipe *items = realloc(list->items, room * sizeof *items);
        if (!items) {
            list->failed = 1;
            return;
        }
        list->items = items;
        list->room = room;
    }
    attest_vector_recipe *item = &list->items[list->count++];
    *item = *model;
    snprintf(item->group, sizeof item->group, "%s", group);
    va_list words;
    va_start(words, name);
    vsnprintf(item->name, sizeof item->name, name, words);
    va_end(words);
}

int attest_corpus_recipes(attest_recipe_list *list) {
    *list = (attest_recipe_list){0};
    attest_corpus_masks(list);
    attest_corpus_scores(list);
    attest_corpus_sizes(list);
    attest_corpus_tiles(list);
    attest_corpus_values(list);
    return list->failed ? -1 : 0;
}

void attest_recipes_free(attest_recipe_list *list) {
    free(list->items);
    *list = (attest_recipe_list){0};
}
