/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corpus.h - what the corpus holds: each vector as a recipe of plain values, and the problem built
 * from it. The draws come from the caller, so that nothing here depends on a generator.
 */
#ifndef ATTEST_CORPUS_H
#define ATTEST_CORPUS_H

#include <stddef.h>

#include "spec/attest.h"

/* Elements of a tensor: multiples of 2^exponent up to half of them, one draw each; 0: fixed. */
typedef struct attest_fill {
    uint32_t half;
    int exponent;
} attest_fill;

#define ATTEST_COARSE {16, -3}      /* multiples of 1/8 in [-2, 2]: exact in every type */
#define ATTEST_FINE {1u << 23, -22} /* 24 bits in [-2, 2] */
#define ATTEST_PEAKED {16, -1}      /* multiples of 1/2 in [-8, 8]: one key wins most rows */

/* What a mask shows; an additive one has a coarse bias where it shows, -inf where it hides. */
typedef enum attest_mask_form {
    ATTEST_SHOWS_MOST, /* three of four at random */
    ATTEST_SHOWS_ALL,  /* additive: only the bias */
    ATTEST_SHOWS_NONE,
    ATTEST_SHOWS_EVEN_ROWS, /* odd rows hidden whole, else as the first */
    ATTEST_SHOWS_FRONT,     /* the last third of the keys hidden */
    ATTEST_SHOWS_BACK,      /* the first half of the keys hidden */
    ATTEST_SHOWS_DEEP       /* additive: all keys of odd rows carry -2^15, others the bias */
} attest_mask_form;

/* One element set by hand after the draws. */
typedef struct attest_poke {
    char tensor;   /* q k v m(ask) s(ink) a(libi slope); 0: none */
    int64_t index; /* row-major; negative: every element of the row -index - 1 of the last axis */
    double value;
} attest_poke;

#define ATTEST_POKES 8
#define ATTEST_ENTRIES 4 /* largest batch of a recipe with lengths or offsets */

typedef struct attest_vector_recipe {
    char group[24], name[48];
    int64_t batch, q_heads, kv_heads, queries, keys, head_size, value_size;
    attest_dtype q, kv, o;
    uint64_t features;
    double scale, softcap;
    int64_t left, right, window_size;
    attest_fill fill_q, fill_k, fill_v;
    attest_dtype mask_type;
    int mask_rank;
    unsigned mask_axes; /* bit a: axis a of [B,Hq,Sq,Sk] is full, else 1 */
    attest_mask_form mask;
    int64_t lengths[ATTEST_ENTRIES], offsets[ATTEST_ENTRIES];
    int slopes_rank;
    attest_poke pokes[ATTEST_POKES];
    const char *profile;
    const char *requirements; /* ids, one space apart */
    const char *flags;        /* names, one space apart; may be "" */
    const char *wrong;        /* defects whose output is stored, one space apart; may be "" */
    const char *note;
    int large; /* kept as recipe and hash */
} attest_vector_recipe;

typedef struct attest_recipe_list {
    attest_vector_recipe *items;
    size_t count, room;
    int failed; /* memory was short */
} attest_recipe_list;

/* Every vector, in the order of the manifest. 0, or -1 if memory is short. */
int attest_corpus_recipes(attest_recipe_list *list);
void attest_recipes_free(attest_recipe_list *list);

/* For the files that make up the list: a copy of `model` under its name, a format of printf. */
__attribute__((format(printf, 4, 5))) void attest_recipe_add(attest_recipe_list *list,
                                                             const attest_vector_recipe *model,
                                                             const char *group, const char *name,
                                                             ...);
attest_vector_recipe attest_recipe_default(void);
void attest_corpus_masks(attest_recipe_list *list);
void attest_corpus_scores(attest_recipe_list *list);
void attest_corpus_sizes(attest_recipe_list *list);
void attest_corpus_tiles(attest_recipe_list *list);
void attest_corpus_values(attest_recipe_list *list);

/* Memory of a problem built from a recipe. */
typedef struct attest_built {
    attest_problem problem; /* inputs filled; o and lse allocated, all zero */
    void *owned[10];
} attest_built;

/* The seed of a recipe: FNV-1a of "group/name", 32 bits. */
uint32_t attest_recipe_seed(const attest_vector_recipe *recipe);

/* 0, or -1 with a message. `next` gives 32-bit draws of the generator seeded as above. */
int attest_build(attest_built *built, const attest_vector_recipe *recipe,
                 uint32_t (*next)(void *state), void *state, char message[ATTEST_MESSAGE_BYTES]);
void attest_built_free(attest_built *built);

#endif
