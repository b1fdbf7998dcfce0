/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The golden vectors, built from their recipes and judged like any other case. Parameter 0 is the
 * seed of a recipe, which is a hash of its name: a case names its vector whatever else is added.
 */
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "certify/host/workbench.h"
#include "certify/judge/judge.h"
#include "certify/plan/plan.h"
#include "vectors/read/bounds.h"
#include "vectors/write/corpus.h"

#define JUDGED_PRODUCTS (INT64_C(1) << 22)

static attest_case case_of(const attest_plan *plan, const attest_vector_recipe *r) {
    attest_case c = attest_case_default(plan->check->name);
    c.batch = r->batch;
    c.q_heads = r->q_heads;
    c.kv_heads = r->kv_heads;
    c.queries = r->queries;
    c.keys = r->keys;
    c.head_size = r->head_size;
    c.value_size = r->value_size;
    c.q_type = r->q;
    c.kv_type = r->kv;
    c.o_type = r->o;
    c.features = r->features | (plan->kernel->features & ATTEST_LSE);
    c.scale = r->features & ATTEST_SCALE ? r->scale : c.scale;
    c.softcap = r->features & ATTEST_SOFTCAP ? r->softcap : c.softcap;
    if (r->features & ATTEST_WINDOW) {
        c.window_left = r->left;
        c.window_right = r->right;
    }
    c.window_size = r->features & ATTEST_WINDOW_SIZE ? r->window_size : c.window_size;
    if (r->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
        c.mask_type = r->mask_type;
        c.mask_rank = r->mask_rank;
        c.mask_full = r->mask_axes;
    }
    c.slopes_rank = r->features & ATTEST_ALIBI ? r->slopes_rank : c.slopes_rank;
    c.parameter[0] = attest_recipe_seed(r);
    c.seed = 1; /* the data are the recipe's */
    return c;
}

/* What a kernel does not promise about bad values, hidden or visible, is not asked of it. */
static int promised(const attest_kernel_info *kernel, const attest_vector_recipe *r) {
    for (int k = 0; k < ATTEST_POKES && r->pokes[k].tensor; k++) {
        const attest_poke *poke = &r->pokes[k];
        const int in_k = poke->tensor == 'k', in_v = poke->tensor == 'v';
        const int bad = !isfinite(poke->value);
        const uint32_t needed = bad && in_v                          ? ATTEST_ISOLATION_FULL
                                : bad && in_k                        ? ATTEST_ISOLATION_BAD_KEYS
                                : in_k && fabs(poke->value) > 0x1p60 ? ATTEST_ISOLATION_EXTREME
                                                                     : ATTEST_ISOLATION_NONE;
        if (kernel->isolation < needed || (kernel->finite_only && bad)) {
            return 0;
        }
    }
    return 1;
}

/* Only recipes of the profile `attest`, whose options are all explicit where a default could
 * differ: what the kernel's own profile makes of them is what the oracle judges by. */
static void plan(attest_plan *plan) {
    attest_recipe_list recipes;
    if (attest_corpus_recipes(&recipes) != 0) {
        plan->failed = 1;
    }
    for (size_t k = 0; k < recipes.count; k++) {
        const attest_vector_recipe *r = &recipes.items[k];
        const int all = plan->level > ATTEST_QUICK;
        if (strcmp(r->profile, "attest") == 0 && strcmp(r->flags, "invalid") != 0 &&
            (!r->large || all) && promised(plan->kernel, r)) {
            const attest_case c = case_of(plan, r);
            attest_plan_add(plan, &c);
        }
    }
    attest_recipes_free(&recipes);
}

static uint32_t next_draw(void *state) { return (uint32_t)gsl_rng_get(state); }

static uint64_t bytes_of(const attest_tensor *tensor) {
    uint64_t bytes = 0;
    attest_shape_bytes((uint64_t)attn_dtype_bytes(tensor->dtype), tensor->shape, tensor->rank,
                       &bytes);
    return bytes;
}

/* Both dense: 1 if the staged operand could take the recipe's bytes. */
static int take(const attest_tensor *staged, const attest_tensor *source) {
    if (staged->dtype != source->dtype || staged->rank != source->rank ||
        memcmp(staged->shape, source->shape, sizeof staged->shape) != 0) {
        return 0;
    }
    if (source->dtype != 0 && bytes_of(source) > 0) {
        memcpy(staged->data, source->data, bytes_of(source));
    }
    return 1;
}

static int fill(attest_workbench *bench, const attest_vector_recipe *r) {
    char why[ATTEST_MESSAGE_BYTES];
    attest_built built;
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    if (!generator) {
        return 0;
    }
    gsl_rng_set(generator, attest_recipe_seed(r));
    int status = attest_build(&built, r, next_draw, generator, why);
    gsl_rng_free(generator);
    if (status != 0) {
        return 0;
    }
    const attest_problem *from = &built.problem, *to = &bench->stage.problem;
    const int fits = take(&to->q, &from->q) && take(&to->k, &from->k) && take(&to->v, &from->v) &&
                     take(&to->mask, &from->mask) && take(&to->sinks, &from->sinks) &&
                     take(&to->slopes, &from->slopes) &&
                     take(&to->key_lengths, &from->key_lengths) &&
                     take(&to->offsets, &from->offsets);
    attest_built_free(&built);
    return fits;
}

static void add_ids(const char *words, attest_result *result) {
    while (*words) {
        char id[16];
        size_t length = strcspn(words, " ");
        snprintf(id, sizeof id, "%.*s", (int)length, words);
        if (strncmp(id, "ISO", 3) != 0) { /* isolation is a matter of bits, not of a radius */
            attest_ids_add(&result->ids, id);
        }
        words += length + (words[length] == ' ');
    }
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    attest_recipe_list recipes;
    const attest_vector_recipe *found = NULL;
    const int listed = attest_corpus_recipes(&recipes) == 0;
    for (size_t k = 0; listed && k < recipes.count; k++) {
        if (attest_recipe_seed(&recipes.items[k]) == (uint64_t)c->parameter[0]) {
            found = &recipes.items[k];
        }
    }
    if (found && attest_workbench_build(bench, c, result)) {
        if (!fill(bench, found)) {
            attest_result_bad(result, ATTEST_ERROR, NULL, 0,
                              "attest: the case is not the vector that it names");
        } else {
            add_ids(found->requirements, result);
            if (attest_workbench_forward(bench, ATTEST_PATTERN_NOISE, result) &&
                bench->normal.queries > 0 &&
                (bench->normal.value_size > 0 || (c->features & ATTEST_LSE))) {
                attest_judge_values(bench, JUDGED_PRODUCTS, result);
            }
        }
        if (attest_verdict_is_bad(result->verdict)) { /* by name: the case has its number alone */
            char what[sizeof result->what];
            memcpy(what, result->what, sizeof what);
            snprintf(result->what, sizeof result->what, "vector %s: %.900s", found->name, what);
        }
    } else if (!found) {
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: no vector has this number");
    }
    attest_recipes_free(&recipes);
}

const attest_check attest_check_vectors = {
    .name = "vectors",
    .sentence = "The inputs of the golden vectors: every option, size and type once.",
    .requirements =
        "SEM-01 SEM-02 SEM-03 SEM-04 SEM-05 SEM-06 SEM-07 SEM-08 SEM-09 SEM-10 SEM-11 SEM-12 "
        "SEM-13 SEM-14 SEM-15 MASK-01 MASK-02 MASK-03 MASK-04 MASK-05 MASK-06 MASK-07 MASK-08 "
        "MASK-09 MASK-10 MASK-11 NUM-01 NUM-02 NUM-03 NUM-04 NUM-05 NUM-06 NUM-07 "
        "SPV-01 SPV-02 SPV-03 SPV-04 SPV-05 SPV-06 SPV-07 "
        "SPV-08",
    .classes = {0},
    .catalogue = "",
    .structural = 0,
    .plan = plan,
    .run = run,
};
