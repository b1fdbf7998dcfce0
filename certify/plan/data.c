/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/data.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "certify/worker/slots.h"
#include "reference/problem/convert.h"
#include "reference/problem/normal.h"

struct attest_draws {
    gsl_rng generator;
};

uint64_t attest_mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

attest_draws *attest_draws_open(uint64_t seed, uint64_t stream) {
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    if (generator != NULL) {
        /* mt19937 takes 32 bits; 0 would stand for its own default seed. */
        gsl_rng_set(generator, (unsigned long)(attest_mix(seed ^ attest_mix(stream)) >> 32 | 1));
    }
    return (attest_draws *)(void *)generator;
}

void attest_draws_close(attest_draws *draws) {
    if (draws != NULL) {
        gsl_rng_free(&draws->generator);
    }
}

uint32_t attest_draw(attest_draws *draws) { return (uint32_t)gsl_rng_get(&draws->generator); }

int64_t attest_draw_below(attest_draws *draws, int64_t bound) {
    return (int64_t)((uint64_t)attest_draw(draws) * (uint64_t)bound >> 32);
}

void *attest_at(const attest_tensor *t, int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t index[ATTEST_MAX_RANK] = {a, b, c, d};
    return (void *)(uintptr_t)attn_element(t, index);
}

void attest_put(const attest_tensor *t, int64_t a, int64_t b, int64_t c, int64_t d, double value) {
    attn_store(t->dtype, attest_at(t, a, b, c, d), value);
}

double attest_get(const attest_tensor *t, int64_t a, int64_t b, int64_t c, int64_t d) {
    return attn_load(t->dtype, attest_at(t, a, b, c, d));
}

static double coarse(attest_draws *draws) {
    return (double)(attest_draw_below(draws, 33) - 16) / 8;
}

double attest_bell(uint32_t draw) {
    return (double)((int64_t)(draw >> 8) - (1 << 23)) * 0x1p-23 +
           ((double)(draw & 255) - 127.5) * 0x1p-7;
}

static double bell(attest_draws *draws) { return attest_bell(attest_draw(draws)); }

static double drawn_value(attest_draws *draws, attest_recipe recipe, attest_dtype dtype) {
    int narrow = dtype == ATTEST_F16;
    switch (recipe) {
    case ATTEST_RECIPE_FINE:
        return ldexp((double)((int64_t)(attest_draw(draws) >> 8) - (1 << 23)), -22);
    case ATTEST_RECIPE_PEAKED:
        return (double)(attest_draw_below(draws, 33) - 16) / 2;
    case ATTEST_RECIPE_HUGE:
        return ldexp(coarse(draws), narrow ? 12 : 100);
    case ATTEST_RECIPE_TINY:
        return ldexp(coarse(draws), narrow ? -18 : -130);
    case ATTEST_RECIPE_SMALL:
        return coarse(draws) / 8;
    case ATTEST_RECIPE_LARGE:
        return ldexp(coarse(draws), 6);
    case ATTEST_RECIPE_BELL: /* of sinks */
        return bell(draws);
    default:
        return coarse(draws);
    }
}

/* Extents beyond the rank are 1, so four loops walk a tensor of any rank. */
static int64_t extent(const attest_tensor *t, uint32_t axis) {
    return axis < t->rank ? t->shape[axis] : 1;
}

void attest_fill_values(const attest_tensor *t, attest_recipe recipe, const attest_case *c,
                        int slot) {
    attest_draws *draws = attest_draws_open(c->seed, (uint64_t)slot);
    const int64_t step = (t->rank > 3 ? t->stride[3] : 0) * attn_dtype_bytes(t->dtype);
    for (int64_t x = 0; draws && x < extent(t, 0); x++) {
        for (int64_t y = 0; y < extent(t, 1); y++) {
            for (int64_t z = 0; z < extent(t, 2); z++) {
                unsigned char *row = attest_at(t, x, y, z, 0);
                for (int64_t w = 0; w < extent(t, 3); w++) {
                    double value = recipe == ATTEST_RECIPE_ZERO  ? 0.0
                                   : recipe == ATTEST_RECIPE_ONE ? 1.0
                                   : recipe == ATTEST_RECIPE_KEY ? (double)(z + 1)
                                   : recipe == ATTEST_RECIPE_UNIT
                                       ? (z - c->base == w ? 1.0 : 0.0)
                                       : drawn_value(draws, recipe, t->dtype);
                    attn_store(t->dtype, row + w * step, value);
                }
            }
        }
    }
    attest_draws_close(draws);
}

static int shows(attest_draws *draws, const attest_case *c, int64_t row, int64_t key) {
    switch ((attest_mask_recipe)c->mask) {
    case ATTEST_MASK_RANDOM:
        return key == 0 || attest_draw_below(draws, 4) != 0;
    case ATTEST_MASK_SPARSE:
        return attest_draw_below(draws, 8) == 0;
    case ATTEST_MASK_SINGLE:
        return c->keys > 0 && key == (row * 7 + 3) % c->keys;
    case ATTEST_MASK_TRIANGLE:
        return key <= row + c->keys - c->queries;
    case ATTEST_MASK_HEAD:
        return key >= c->keys / 2;
    case ATTEST_MASK_NONE_VISIBLE:
        return 0;
    default:
        return 1;
    }
}

void attest_fill_mask(const attest_tensor *mask, const attest_case *c) {
    attest_draws *draws = attest_draws_open(c->seed, ATTEST_SLOT_MASK);
    const uint32_t pad = ATTEST_MAX_RANK - mask->rank;
    int64_t n[ATTEST_MAX_RANK], at[ATTEST_MAX_RANK];
    for (uint32_t axis = 0; axis < ATTEST_MAX_RANK; axis++) {
        n[axis] = axis < pad ? 1 : mask->shape[axis - pad];
    }
    for (at[0] = 0; draws && at[0] < n[0]; at[0]++) {
        for (at[1] = 0; at[1] < n[1]; at[1]++) {
            for (at[2] = 0; at[2] < n[2]; at[2]++) {
                for (at[3] = 0; at[3] < n[3]; at[3]++) {
                    int64_t index[ATTEST_MAX_RANK] = {0};
                    for (uint32_t axis = pad; axis < ATTEST_MAX_RANK; axis++) {
                        index[axis - pad] = at[axis];
                    }
                    void *element = (void *)(uintptr_t)attn_element(mask, index);
                    int visible = shows(draws, c, at[2], at[3]);
                    if (mask->dtype == ATTEST_BOOL) {
                        /* Anything but 0 is true. */
                        *(unsigned char *)element = (unsigned char)(visible ? 1 + at[3] % 3 : 0);
                        continue;
                    }
                    double bias = c->qk >= ATTEST_RECIPE_BELL ? 2 * bell(draws) : coarse(draws);
                    if (c->mask == ATTEST_MASK_ALL_VISIBLE && attest_draw_below(draws, 16) == 0) {
                        bias = -16384; /* a large negative bias is still a visible key */
                    }
                    attn_store(mask->dtype, element, visible ? bias : (double)-INFINITY);
                }
            }
        }
    }
    attest_draws_close(draws);
}

/* Anywhere, or in the last eighth, where most is seen. */
static int64_t ragged(attest_draws *draws, int64_t least, int64_t most) {
    const int64_t count = most - least + 1, late = attest_draw_below(draws, 2);
    return most - attest_draw_below(draws, late ? count / 8 + 1 : count);
}

static int64_t list_value(attest_draws *draws, const attest_case *c, int64_t entry, int offset) {
    const int64_t full = offset ? c->keys - c->queries : c->keys;
    switch (offset ? (attest_list_recipe)c->offsets : (attest_list_recipe)c->lengths) {
    case ATTEST_LIST_RAGGED:
        if (offset) {
            return ragged(draws, -2, c->keys);
        }
        if (entry == c->batch - 1 && c->batch > 1) {
            return full;
        }
        return full > 1 ? ragged(draws, 1, full - 1) : full;
    case ATTEST_LIST_ZERO:
        return entry == 0 || offset ? 0 : full;
    case ATTEST_LIST_ONE:
        return full < 1 && !offset ? full : 1;
    case ATTEST_LIST_NEGATIVE:
        return -(c->queries / 2) - 1 - entry;
    case ATTEST_LIST_FAR:
        return (entry % 2 ? -1 : 1) * ((INT64_C(1) << 41) + entry);
    default:
        return full;
    }
}

void attest_list_values(const attest_case *c, int slot, int64_t *values) {
    attest_draws *draws = attest_draws_open(c->seed, (uint64_t)slot);
    for (int64_t b = 0; b < c->batch; b++) {
        values[b] = draws ? list_value(draws, c, b, slot == ATTEST_SLOT_OFFSETS) : 0;
    }
    attest_draws_close(draws);
}

static void fill_list(const attest_tensor *t, const attest_case *c, int slot) {
    int64_t *values = malloc(((size_t)c->batch + 1) * sizeof *values);
    if (values != NULL) {
        attest_list_values(c, slot, values);
        for (int64_t b = 0; b < t->shape[0]; b++) {
            *(int64_t *)attest_at(t, b, 0, 0, 0) = values[b];
        }
    }
    free(values);
}

void attest_fill_lengths(const attest_tensor *lengths, const attest_case *c) {
    fill_list(lengths, c, ATTEST_SLOT_KEY_LENGTHS);
}

void attest_fill_offsets(const attest_tensor *offsets, const attest_case *c) {
    fill_list(offsets, c, ATTEST_SLOT_OFFSETS);
}

void attest_fill_slopes(const attest_tensor *slopes, const attest_case *c) {
    attest_draws *draws = attest_draws_open(c->seed, ATTEST_SLOT_SLOPES);
    for (int64_t x = 0; draws && x < extent(slopes, 0); x++) {
        for (int64_t y = 0; y < extent(slopes, 1); y++) {
            const double slope = c->qk >= ATTEST_RECIPE_BELL
                                     ? ldexp(2 + bell(draws), -(int)attest_draw_below(draws, 8))
                                     : (double)(1 + attest_draw_below(draws, 16)) / 16;
            attest_put(slopes, x, y, 0, 0, slope);
        }
    }
    attest_draws_close(draws);
}
