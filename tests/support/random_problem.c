/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/random_problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/oracle/model.h"
#include "reference/problem/convert.h"
#include "reference/problem/normal.h"

const random_limits random_limits_small = {
    .batch = 2,
    .kv_heads = 2,
    .group = 3,
    .queries = 4,
    .keys = 40,
    .head_size = 20,
    .features = ATTEST_ALL_FEATURES,
    .magnitude = -1,
};

uint64_t random_bits(random_source *source) {
    uint64_t z = (source->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t random_between(random_source *source, int64_t a, int64_t b) {
    return a + (int64_t)(random_bits(source) % (uint64_t)(b - a + 1));
}

int random_chance(random_source *source, int one_in) {
    return random_bits(source) % (uint64_t)one_in == 0;
}

double random_unit(random_source *source) {
    int64_t steps = (int64_t)(random_bits(source) >> 23) - (INT64_C(1) << 40);
    return (double)steps * 0x1p-40;
}

int64_t random_elements(const attest_tensor *tensor) {
    int64_t count = 1;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        count *= tensor->shape[axis];
    }
    return count;
}

typedef struct builder {
    random_problem *result;
    random_source *source;
    const random_limits *limits;
} builder;

/* Strides: row-major, or axes in another order, with gaps, or repeated (inputs only). */
static void lay_out(const builder *make, attest_tensor *tensor, int is_output) {
    uint32_t order[ATTEST_MAX_RANK] = {0, 1, 2, 3};
    int64_t step = 1;
    int plain = make->limits->plain_strides || random_chance(make->source, 2);
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        order[axis] = tensor->rank - 1 - axis;
    }
    for (uint32_t axis = tensor->rank; !plain && axis > 1; axis--) {
        uint32_t other = (uint32_t)random_between(make->source, 0, axis - 1), held = order[other];
        order[other] = order[axis - 1];
        order[axis - 1] = held;
    }
    for (uint32_t place = 0; place < tensor->rank; place++) {
        uint32_t axis = order[place];
        if (!plain && !is_output && random_chance(make->source, 12)) {
            tensor->stride[axis] = 0;
            continue;
        }
        step += plain ? 0 : random_between(make->source, 0, 2);
        tensor->stride[axis] = step;
        step *= tensor->shape[axis] > 0 ? tensor->shape[axis] : 1;
    }
    size_t bytes = ((size_t)step + 8) * (size_t)attn_dtype_bytes(tensor->dtype);
    tensor->data = calloc(1, bytes);
    if (!tensor->data) {
        fprintf(stderr, "random_problem: no memory\n");
        exit(1);
    }
    make->result->blocks[make->result->block_count++] = tensor->data;
}

static void *address(const attest_tensor *tensor, int64_t element) {
    int64_t position = 0;
    for (uint32_t axis = tensor->rank; axis-- > 0;) {
        position += element % tensor->shape[axis] * tensor->stride[axis];
        element /= tensor->shape[axis];
    }
    return (char *)tensor->data + position * attn_dtype_bytes(tensor->dtype);
}

static attest_tensor shaped(attest_dtype dtype, uint32_t rank, const int64_t *shape) {
    attest_tensor tensor = {.dtype = dtype, .rank = rank};
    for (uint32_t axis = 0; axis < rank; axis++) {
        tensor.shape[axis] = shape[axis];
    }
    return tensor;
}

static void fill(const builder *make, attest_tensor *tensor, double size, int specials) {
    static const double special[] = {NAN, INFINITY, -INFINITY};
    lay_out(make, tensor, 0);
    for (int64_t n = 0; n < random_elements(tensor); n++) {
        double value = size * random_unit(make->source);
        if (specials && random_chance(make->source, 200)) {
            value = special[random_between(make->source, 0, 2)];
        }
        attn_store(tensor->dtype, address(tensor, n), value);
    }
}

/* Values of both signs, each followed by its near opposite. */
static void fill_cancelling(const builder *make, attest_tensor *v) {
    fill(make, v, 1.0, 0);
    for (int64_t n = 0; n < random_elements(v); n++) {
        int64_t row = n / (v->shape[3] > 0 ? v->shape[3] : 1);
        attn_store(v->dtype, address(v, n),
                   (row % 2 ? -1 : 1) * (1 + 0x1p-12 * random_unit(make->source)));
    }
}

static attest_dtype draw_dtype(const builder *make) {
    uint32_t allowed = make->limits->dtypes ? make->limits->dtypes : 0x1eu;
    for (;;) {
        attest_dtype dtype = (attest_dtype)random_between(make->source, ATTEST_F32, ATTEST_BF16);
        if (allowed >> dtype & 1u) {
            return dtype;
        }
    }
}

static int64_t draw_length(const builder *make, int64_t most) {
    if (make->limits->empty_axes && random_chance(make->source, 25)) {
        return 0;
    }
    return random_between(make->source, 1, most);
}

static uint64_t draw_features(const builder *make, const attn_profile *profile) {
    uint64_t set = 0, forced = make->limits->force_features;
    for (int bit = 0; bit < 12; bit++) {
        set |= (uint64_t)random_chance(make->source, 3) << bit;
    }
    set = (set & make->limits->features) | forced;
    if ((set & ATTEST_MASK_BOOL) && (set & ATTEST_MASK_ADD)) {
        set &= ~(forced & ATTEST_MASK_ADD ? ATTEST_MASK_BOOL : ATTEST_MASK_ADD);
    }
    if ((set & ATTEST_WINDOW) && (set & ATTEST_WINDOW_SIZE)) {
        set &= ~(forced & ATTEST_WINDOW_SIZE ? ATTEST_WINDOW : ATTEST_WINDOW_SIZE);
    }
    if (profile->window_form == ATTN_WINDOW_NOT_DEFINED) {
        set &= ~ATTEST_WINDOW_SIZE;
    }
    if (profile->mask_with_causal == ATTN_MASK_CAUSAL_ERROR && (set & ATTEST_CAUSAL)) {
        set &= ~(ATTEST_MASK_BOOL | ATTEST_MASK_ADD);
    }
    if (profile->default_scale == ATTN_SCALE_REQUIRED) {
        set |= ATTEST_SCALE;
    }
    return set;
}

static attn_profile draw_profile(const builder *make) {
    random_source *s = make->source;
    if (!make->limits->any_profile) {
        return attn_profile_attest;
    }
    return (attn_profile){
        .corner = (attn_corner)random_between(s, 0, 2),
        .window_form = (attn_window_form)random_between(s, 0, 3),
        .default_scale = (attn_default_scale)random_between(s, 0, 2),
        .gqa_order = (attn_gqa_order)random_between(s, 0, 1),
        .lse_base = (attn_lse_base)random_between(s, 0, 1),
        .lse_empty = (attn_lse_empty)random_between(s, 0, 2),
        .empty_row = (attn_empty_row)random_between(s, 0, 3),
        .mask_with_causal = (attn_mask_with_causal)random_between(s, 0, 3),
    };
}

static void add_mask(const builder *make, attest_problem *p, double size) {
    const int64_t full[4] = {p->q.shape[0], p->q.shape[1], p->q.shape[2], p->k.shape[2]};
    int boolean = (p->features & ATTEST_MASK_BOOL) != 0;
    attest_dtype wide = p->q.dtype == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    attest_dtype dtype = boolean ? ATTEST_BOOL : random_chance(make->source, 2) ? wide : p->q.dtype;
    uint32_t rank = (uint32_t)random_between(make->source, 0, 4);
    p->mask = shaped(dtype, rank, full + 4 - rank);
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (random_chance(make->source, 4)) {
            p->mask.shape[axis] = 1;
        }
    }
    lay_out(make, &p->mask, 0);
    for (int64_t n = 0; n < random_elements(&p->mask); n++) {
        int hides = random_chance(make->source, 4);
        if (boolean) {
            *(unsigned char *)address(&p->mask, n) =
                hides ? 0 : (unsigned char)random_between(make->source, 1, 255);
            continue;
        }
        double value = hides ? (double)-INFINITY : size * random_unit(make->source);
        if (random_chance(make->source, 40)) {
            value = -30000;
        }
        if (make->limits->specials && random_chance(make->source, 100)) {
            value = random_chance(make->source, 2) ? (double)INFINITY : (double)NAN;
        }
        attn_store(dtype, address(&p->mask, n), value);
    }
}

static void add_integers(const builder *make, attest_tensor *tensor, int64_t batch, int64_t low,
                         int64_t high) {
    *tensor = shaped(ATTEST_I64, 1, &batch);
    lay_out(make, tensor, 0);
    for (int64_t b = 0; b < batch; b++) {
        *(int64_t *)address(tensor, b) = random_between(make->source, low, high);
    }
}

static void add_options(const builder *make, attest_problem *p, double spread) {
    random_source *s = make->source;
    int64_t batch = p->q.shape[0], queries = p->q.shape[2], keys = p->k.shape[2];
    attest_dtype wide = p->q.dtype == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    int specials = make->limits->specials;
    if (p->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
        add_mask(make, p, spread);
    }
    if (p->features & ATTEST_SINKS) {
        p->sinks = shaped(wide, 1, p->q.shape + 1);
        fill(make, &p->sinks, spread, specials);
    }
    if (p->features & ATTEST_ALIBI) {
        uint32_t rank = (uint32_t)random_between(s, 1, 2);
        p->slopes = shaped(wide, rank, p->q.shape + 2 - rank);
        fill(make, &p->slopes, 0.25, specials);
    }
    if (p->features & ATTEST_KEY_LENGTHS) {
        add_integers(make, &p->key_lengths, batch, 0, keys);
    }
    if (p->features & ATTEST_OFFSETS) {
        add_integers(make, &p->offsets, batch, -queries - 2, keys + 2);
    }
    if (p->features & ATTEST_WINDOW) {
        p->window_left = random_between(s, -1, keys + 1);
        p->window_right = random_between(s, -1, keys + 1);
    }
    if (p->features & ATTEST_WINDOW_SIZE) {
        p->window_size = random_between(s, 1, keys + 2);
    }
    if (p->features & ATTEST_SOFTCAP) {
        p->softcap = spread * (0.1 + fabs(random_unit(s)));
    }
    if (p->features & ATTEST_LSE) {
        p->lse = shaped(wide, 3, p->q.shape);
        lay_out(make, &p->lse, 1);
    }
}

/* Sizes of q, k, v for a magnitude; scores spread over about `spread` units. */
typedef struct sizes {
    double q, k, v, spread;
} sizes;

static sizes draw_sizes(const builder *make, int magnitude, attest_dtype q, attest_dtype v,
                        int64_t keys, int64_t head_size) {
    random_source *s = make->source;
    sizes result = {1, 1, 1, 4};
    attn_format q_format = attn_format_of(q), v_format = attn_format_of(v);
    double room = 1.0 / (4.0 * (double)(keys + 1));
    switch (magnitude) {
    case RANDOM_SHARP:
        result.q = result.k = sqrt((double)random_between(s, 8, 100) / sqrt((double)head_size));
        result.spread = 50;
        break;
    case RANDOM_TINY:
        result.v = ldexp(v_format.eta, (int)random_between(s, 1, 30));
        result.q = random_chance(s, 2) ? ldexp(q_format.eta, (int)random_between(s, 1, 30)) : 1;
        result.spread = random_chance(s, 2) ? 1e-6 : 1;
        break;
    case RANDOM_LARGE:
        result.q = result.k = sqrt(300 / sqrt((double)head_size));
        result.v = ldexp(v_format.max * room, -(int)random_between(s, 0, 8));
        result.spread = 300;
        break;
    default:
        break;
    }
    return result;
}

void random_problem_make(random_problem *result, random_source *source,
                         const random_limits *limits) {
    const builder make = {result, source, limits};
    *result = (random_problem){.profile = attn_profile_attest};
    result->profile = draw_profile(&make);
    attest_problem *p = &result->problem;
    p->struct_bytes = sizeof *p;
    p->threads = 1;
    p->features = draw_features(&make, &result->profile);

    int64_t batch = draw_length(&make, limits->batch);
    int64_t kv_heads = draw_length(&make, limits->kv_heads);
    int64_t q_heads = kv_heads * random_between(source, 1, limits->group);
    int64_t queries = draw_length(&make, limits->queries), keys = draw_length(&make, limits->keys);
    int64_t d = random_between(source, 1, limits->head_size);
    int64_t dv = random_chance(source, 2) ? d : draw_length(&make, limits->head_size);
    attest_dtype q = draw_dtype(&make), k = random_chance(source, 2) ? q : draw_dtype(&make);
    attest_dtype o = random_chance(source, 2) ? q : draw_dtype(&make);
    p->q = shaped(q, 4, (const int64_t[]){batch, q_heads, queries, d});
    p->k = shaped(k, 4, (const int64_t[]){batch, kv_heads, keys, d});
    p->v = shaped(k, 4, (const int64_t[]){batch, kv_heads, keys, dv});
    p->o = shaped(o, 4, (const int64_t[]){batch, q_heads, queries, dv});

    int magnitude = limits->magnitude;
    if (magnitude < 0) {
        magnitude = (int)random_between(source, 0, RANDOM_MAGNITUDES - 1);
    }
    sizes size = draw_sizes(&make, magnitude, q, k, keys, d);
    fill(&make, &p->q, size.q, limits->specials);
    fill(&make, &p->k, size.k, limits->specials);
    if (magnitude == RANDOM_CANCEL) {
        fill_cancelling(&make, &p->v);
    } else {
        fill(&make, &p->v, size.v, limits->specials);
    }
    lay_out(&make, &p->o, 1);
    if (p->features & ATTEST_SCALE) {
        p->scale = random_chance(source, 12) ? 0 : random_unit(source);
    }
    add_options(&make, p, size.spread);
}

void random_problem_free(random_problem *result) {
    for (int n = 0; n < result->block_count; n++) {
        free(result->blocks[n]);
    }
    result->block_count = 0;
}
