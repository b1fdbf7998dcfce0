/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/problem/convert.h"
#include "reference/problem/normal.h"
#include "vectors/read/bounds.h"
#include "vectors/write/corpus.h"
#include "vectors/write/draw.h"

typedef struct builder {
    attest_built *built;
    const attest_vector_recipe *recipe;
    uint32_t (*next)(void *state);
    void *state;
    size_t owned;
    int failed;
} builder;

uint32_t attest_recipe_seed(const attest_vector_recipe *recipe) {
    char text[sizeof recipe->group + sizeof recipe->name];
    uint32_t hash = 2166136261u;
    snprintf(text, sizeof text, "%s/%s", recipe->group, recipe->name);
    for (const char *at = text; *at; at++) {
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    }
    return hash;
}

static attest_tensor allocate(builder *b, attest_dtype dtype, uint32_t rank, int64_t n0, int64_t n1,
                              int64_t n2, int64_t n3) {
    attest_tensor tensor = {.dtype = dtype, .rank = rank, .shape = {n0, n1, n2, n3}};
    int64_t step = 1;
    uint64_t bytes = 0;
    for (uint32_t axis = rank; axis-- > 0;) {
        tensor.stride[axis] = step;
        step *= tensor.shape[axis] ? tensor.shape[axis] : 1;
    }
    if (attest_shape_bytes((uint64_t)attn_dtype_bytes(dtype), tensor.shape, rank, &bytes)) {
        tensor.data = b->built->owned[b->owned++] = calloc(bytes ? (size_t)bytes : 1, 1);
    }
    b->failed |= !tensor.data;
    return tensor;
}

static int64_t elements(const attest_tensor *tensor) {
    int64_t count = 1;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        count *= tensor->shape[axis];
    }
    return count;
}

static void put(const attest_tensor *tensor, int64_t index, double value) {
    char *at = (char *)tensor->data + index * attn_dtype_bytes(tensor->dtype);
    if (tensor->dtype == ATTEST_BOOL) {
        *(unsigned char *)at = (unsigned char)value;
    } else {
        attn_store(tensor->dtype, at, value);
    }
}

static void fill(builder *b, const attest_tensor *tensor, attest_fill how) {
    for (int64_t index = 0; !b->failed && index < elements(tensor); index++) {
        put(tensor, index, attest_map_grid(b->next(b->state), how.half, how.exponent));
    }
}

/* Two draws an element, whatever the form: one for what is shown, one for the bias. */
static void fill_mask(builder *b, const attest_tensor *mask) {
    const attest_vector_recipe *r = b->recipe;
    int64_t width = mask->rank ? mask->shape[mask->rank - 1] : 1;
    int64_t rows = mask->rank > 1 ? mask->shape[mask->rank - 2] : 1;
    for (int64_t index = 0; !b->failed && index < elements(mask); index++) {
        int shown = attest_map_below(b->next(b->state), 4) != 0;
        double bias = attest_map_grid(b->next(b->state), 16, -3);
        int64_t key = index % width, row = index / width % rows;
        int odd = row % 2 == 1;
        shown = (shown && r->mask != ATTEST_SHOWS_NONE) || r->mask == ATTEST_SHOWS_ALL ||
                r->mask == ATTEST_SHOWS_DEEP;
        shown = shown && !(r->mask == ATTEST_SHOWS_EVEN_ROWS && odd);
        shown = shown && !(r->mask == ATTEST_SHOWS_FRONT && key >= width - width / 3);
        shown = shown && !(r->mask == ATTEST_SHOWS_BACK && key < width / 2);
        bias = r->mask == ATTEST_SHOWS_DEEP && odd ? attest_dyadic(-1, 15) : bias;
        if (mask->dtype == ATTEST_BOOL) {
            put(mask, index, shown);
        } else {
            put(mask, index, shown ? bias : (double)-INFINITY);
        }
    }
}

static void add_mask(builder *b) {
    const attest_vector_recipe *r = b->recipe;
    const int64_t full[ATTEST_MAX_RANK] = {r->batch, r->q_heads, r->queries, r->keys};
    int64_t shape[ATTEST_MAX_RANK] = {0};
    int skipped = ATTEST_MAX_RANK - r->mask_rank;
    for (int axis = 0; axis < r->mask_rank; axis++) {
        shape[axis] = r->mask_axes >> (axis + skipped) & 1 ? full[axis + skipped] : 1;
    }
    b->built->problem.mask =
        allocate(b, r->mask_type, (uint32_t)r->mask_rank, shape[0], shape[1], shape[2], shape[3]);
    fill_mask(b, &b->built->problem.mask);
}

static attest_tensor list_of(builder *b, const int64_t *values) {
    attest_tensor list = allocate(b, ATTEST_I64, 1, b->recipe->batch, 0, 0, 0);
    for (int64_t entry = 0; !b->failed && entry < b->recipe->batch; entry++) {
        ((int64_t *)list.data)[entry] = values[entry % ATTEST_ENTRIES];
    }
    return list;
}

/* Slopes 1/2, 1/4, ... down to 1/256 and again; another sequence in each batch entry. */
static void add_slopes(builder *b, attest_dtype wide) {
    const attest_vector_recipe *r = b->recipe;
    attest_tensor *slopes = &b->built->problem.slopes;
    *slopes = r->slopes_rank == 2 ? allocate(b, wide, 2, r->batch, r->q_heads, 0, 0)
                                  : allocate(b, wide, 1, r->q_heads, 0, 0, 0);
    for (int64_t index = 0; !b->failed && index < elements(slopes); index++) {
        put(slopes, index, attest_dyadic(1, -1 - (int)(index % 8)));
    }
}

static void poke(builder *b, const attest_poke *what) {
    attest_problem *p = &b->built->problem;
    attest_tensor *tensor = what->tensor == 'q'   ? &p->q
                            : what->tensor == 'k' ? &p->k
                            : what->tensor == 'v' ? &p->v
                            : what->tensor == 'm' ? &p->mask
                            : what->tensor == 's' ? &p->sinks
                                                  : &p->slopes;
    int64_t width = tensor->rank ? tensor->shape[tensor->rank - 1] : 1;
    int64_t first = what->index < 0 ? (-what->index - 1) * width : what->index;
    int64_t end = what->index < 0 ? first + width : first + 1;
    b->failed |= end > elements(tensor);
    for (int64_t index = first; !b->failed && index < end; index++) {
        put(tensor, index, what->value);
    }
}

static void add_options(builder *b) {
    const attest_vector_recipe *r = b->recipe;
    attest_problem *p = &b->built->problem;
    attest_dtype wide = r->q == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    if (r->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
        add_mask(b);
    }
    if (r->features & ATTEST_SINKS) {
        p->sinks = allocate(b, wide, 1, r->q_heads, 0, 0, 0);
        fill(b, &p->sinks, (attest_fill)ATTEST_COARSE);
    }
    if (r->features & ATTEST_ALIBI) {
        add_slopes(b, wide);
    }
    if (r->features & ATTEST_KEY_LENGTHS) {
        p->key_lengths = list_of(b, r->lengths);
    }
    if (r->features & ATTEST_OFFSETS) {
        p->offsets = list_of(b, r->offsets);
    }
    for (int k = 0; k < ATTEST_POKES && r->pokes[k].tensor; k++) {
        poke(b, &r->pokes[k]);
    }
    p->lse = allocate(b, wide, 3, r->batch, r->q_heads, r->queries, 0);
}

int attest_build(attest_built *built, const attest_vector_recipe *r, uint32_t (*next)(void *state),
                 void *state, char message[ATTEST_MESSAGE_BYTES]) {
    builder b = {.built = built, .recipe = r, .next = next, .state = state};
    attest_problem *p = &built->problem;
    *built = (attest_built){.problem = {.struct_bytes = sizeof *p,
                                        .features = r->features | ATTEST_LSE,
                                        .scale = r->scale,
                                        .softcap = r->softcap,
                                        .window_left = r->left,
                                        .window_right = r->right,
                                        .window_size = r->window_size,
                                        .threads = 1}};
    p->q = allocate(&b, r->q, 4, r->batch, r->q_heads, r->queries, r->head_size);
    p->k = allocate(&b, r->kv, 4, r->batch, r->kv_heads, r->keys, r->head_size);
    p->v = allocate(&b, r->kv, 4, r->batch, r->kv_heads, r->keys, r->value_size);
    p->o = allocate(&b, r->o, 4, r->batch, r->q_heads, r->queries, r->value_size);
    fill(&b, &p->q, r->fill_q);
    fill(&b, &p->k, r->fill_k);
    fill(&b, &p->v, r->fill_v);
    add_options(&b);
    if (b.failed) {
        attest_built_free(built);
        snprintf(message, ATTEST_MESSAGE_BYTES, "%s/%s: not enough memory, or a poke outside",
                 r->group, r->name);
        return -1;
    }
    return 0;
}

void attest_built_free(attest_built *built) {
    for (size_t k = 0; k < sizeof built->owned / sizeof *built->owned; k++) {
        free(built->owned[k]);
    }
    *built = (attest_built){0};
}
