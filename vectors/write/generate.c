/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * generate.c - writes the corpus: OUT/manifest.json and OUT/data. Every byte follows from the
 * recipes in this directory and the profiles; the one thing that comes from outside is which
 * compiled mutants each vector kills, a measurement that MUTANTS holds.
 *
 *   generate OUT PROFILES [MUTANTS]
 */
#include <errno.h>
#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "vectors/read/profile_read.h"
#include "vectors/write/corpus.h"
#include "vectors/write/emit.h"

typedef struct corpus {
    const char *out, *profiles;
    json_t *groups; /* array */
    json_t *kills;  /* object: vector id to list of mutants, or NULL */
    attest_group group;
    int in_group;
    size_t vectors, wrong;
} corpus;

static uint32_t next_draw(void *state) { return (uint32_t)gsl_rng_get(state); }

static int close_group(corpus *c, char *message) {
    char path[4096];
    if (!c->in_group) {
        return 0;
    }
    json_t *entry = json_object();
    snprintf(path, sizeof path, "%s/data", c->out);
    int status = attest_group_write(&c->group, path, entry, message);
    json_array_append_new(c->groups, entry);
    attest_group_close(&c->group);
    c->in_group = 0;
    return status;
}

static int enter_group(corpus *c, const char *name, char *message) {
    if (c->in_group && strcmp(c->group.name, name) == 0) {
        return 0;
    }
    if (close_group(c, message) != 0 || attest_group_open(&c->group, name) != 0) {
        return -1;
    }
    c->in_group = 1;
    return 0;
}

static json_t *fill_of(attest_fill fill) {
    return json_pack("{s:I, s:i}", "half", (json_int_t)fill.half, "exponent", fill.exponent);
}

/* Everything from which the inputs of a large vector follow. */
static json_t *recipe_of(const attest_vector_recipe *r) {
    return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o*}", "generator", "mt19937", "seed",
                     (json_int_t)attest_recipe_seed(r), "q", fill_of(r->fill_q), "k",
                     fill_of(r->fill_k), "v", fill_of(r->fill_v), "sinks",
                     r->features & ATTEST_SINKS ? fill_of((attest_fill)ATTEST_COARSE) : NULL);
}

static void add_kills(const corpus *c, json_t *entry) {
    const char *id = json_string_value(json_object_get(entry, "id"));
    json_t *mutants = json_object_get(c->kills, id);
    json_t *rejects = json_object_get(entry, "rejects");
    if (mutants && rejects) {
        json_object_set(rejects, "mutants", mutants);
    }
}

/* Computes what is expected and adds the vector. The reference must refuse an invalid one. */
static json_t *add_vector(corpus *c, const attest_vector_recipe *r, const attest_built *built,
                          const attn_profile *profile, char *message) {
    const attest_label label = {r->group, r->name, r->profile, r->requirements,
                                r->flags, r->note, r->wrong};
    attn_normal normal;
    attest_expectation expectation;
    attest_status status = attn_normalise(&normal, &built->problem, profile, 0, message);
    if (strcmp(r->flags, "invalid") == 0) {
        if (status != ATTEST_INVALID) {
            snprintf(message, ATTEST_MESSAGE_BYTES, "%s/%s: is valid", r->group, r->name);
            return NULL;
        }
        return attest_group_vector(&c->group, &label, NULL, &built->problem, NULL, message);
    }
    if (status != ATTEST_OK || attest_expect(&expectation, &normal, message) != ATTEST_OK) {
        return NULL;
    }
    json_t *entry = r->large ? attest_group_hashed(&c->group, &label, &normal, &built->problem,
                                                   &expectation, message)
                             : attest_group_vector(&c->group, &label, &normal, &built->problem,
                                                   &expectation, message);
    attest_expectation_free(&expectation);
    return entry;
}

static int add_recipe(corpus *c, const attest_vector_recipe *r, char *message) {
    attn_profile profile;
    attest_built built;
    if (enter_group(c, r->group, message) != 0 ||
        attest_profile_read(&profile, c->profiles, r->profile, message) != 0) {
        return -1;
    }
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    if (!generator) {
        return -1;
    }
    gsl_rng_set(generator, attest_recipe_seed(r));
    int status = attest_build(&built, r, next_draw, generator, message);
    gsl_rng_free(generator);
    if (status != 0) {
        return -1;
    }
    json_t *entry = add_vector(c, r, &built, &profile, message);
    attest_built_free(&built);
    if (!entry) {
        return -1;
    }
    if (r->large) {
        json_object_set_new(entry, "recipe", recipe_of(r));
    }
    add_kills(c, entry);
    c->vectors++;
    c->wrong += json_array_size(json_object_get(entry, "wrong"));
    return 0;
}

static json_t *read_kills(const char *path) {
    json_error_t error;
    json_t *root = path ? json_load_file(path, JSON_REJECT_DUPLICATES, &error) : NULL;
    json_t *kills = json_incref(json_object_get(root, "kills"));
    json_decref(root);
    return kills;
}

int main(int argc, char **argv) {
    char message[ATTEST_MESSAGE_BYTES] = "", path[4096];
    attest_recipe_list recipes;
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: generate OUT PROFILES [MUTANTS]\n");
        return 64;
    }
    corpus c = {.out = argv[1], .profiles = argv[2], .groups = json_array()};
    c.kills = read_kills(argc == 4 ? argv[3] : NULL);
    snprintf(path, sizeof path, "%s/data", c.out);
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "generate: %s: %s\n", path, strerror(errno));
        return 1;
    }
    int status = attest_corpus_recipes(&recipes);
    for (size_t k = 0; k < recipes.count; k++) { /* to the end, to show every mistake at once */
        if (add_recipe(&c, &recipes.items[k], message) != 0) {
            status = -1;
            fprintf(stderr, "generate: %s/%s: %s\n", recipes.items[k].group, recipes.items[k].name,
                    message);
        }
    }
    if (status == 0 && (close_group(&c, message) != 0 ||
                        attest_manifest_write(c.out, "GSL mt19937", c.groups, message) != 0)) {
        fprintf(stderr, "generate: %s\n", message);
        status = -1;
    }
    if (status == 0) {
        printf("%zu vectors, %zu wrong outputs\n", c.vectors, c.wrong);
    }
    if (c.in_group) {
        attest_group_close(&c.group);
    }
    attest_recipes_free(&recipes);
    json_decref(c.groups);
    json_decref(c.kills);
    return status == 0 ? 0 : 1;
}
