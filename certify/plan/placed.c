/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/placed.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "certify/plan/data.h"
#include "certify/worker/slots.h"
#include "reference/problem/convert.h"
#include "reference/problem/normal.h"

static double wide_of(uint64_t bits) {
    const int exponent = __builtin_popcount((uint32_t)(bits >> 32) & 0xffff) - 8;
    const double size = ldexp((double)((uint32_t)bits >> 8 | 1u << 23), exponent - 23);
    return bits & 1 ? size : -size;
}

/* Exponents of a number that a type holds as a denormal, and of one that lifts it to about 2^-6. */
static int denormal_exponent(attest_dtype dtype) {
    return dtype == ATTEST_F16 ? -18 : dtype == ATTEST_F64 ? -1030 : -132;
}

static int lifting_exponent(attest_dtype dtype) {
    return dtype == ATTEST_F16 ? 12 : dtype == ATTEST_F64 ? 1020 : 124;
}

/* Row [x,y,z] has a number, and element w of it takes its bits from that and from w. */
static uint64_t row_number(const attest_case *c, int slot, int64_t x, int64_t y, int64_t z) {
    uint64_t number = attest_mix(c->seed ^ (uint64_t)slot);
    const int64_t at[] = {x, y, z};
    for (int i = 0; i < 3; i++) {
        number = attest_mix(number ^ (uint64_t)at[i]);
    }
    return number;
}

static uint64_t bits_at(uint64_t row, int64_t w) {
    return attest_mix(row + (uint64_t)w * UINT64_C(0xd1342543de82ef95));
}

static double bell_at(uint64_t row, int64_t w) { return attest_bell((uint32_t)bits_at(row, w)); }

/* Uniform in [low, high). */
static double real_of(uint64_t bits, double low, double high) {
    return low + (high - low) * (double)(bits >> 11) * 0x1p-53;
}

/* Twelve uniform numbers less their mean: about normal, of variance 1. */
static double normal_of(uint64_t bits) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        bits = i % 3 == 0 ? attest_mix(bits) : bits >> 21;
        sum += (double)(bits & 0x1fffff) * 0x1p-21;
    }
    return sum;
}

static int64_t below(uint64_t bits, int64_t bound) { return (int64_t)(bits >> 1) % bound; }

/* ---------------------------------------------------------------- keys that rows look for ---- */

typedef struct lists {
    int64_t *offsets, *lengths; /* a value per batch entry */
} lists;

static lists lists_of(const attest_case *c) {
    lists l = {malloc(((size_t)c->batch + 1) * sizeof *l.offsets),
               malloc(((size_t)c->batch + 1) * sizeof *l.lengths)};
    if (l.offsets == NULL || l.lengths == NULL) {
        free(l.offsets);
        free(l.lengths);
        return (lists){NULL, NULL};
    }
    attest_list_values(c, ATTEST_SLOT_OFFSETS, l.offsets);
    attest_list_values(c, ATTEST_SLOT_KEY_LENGTHS, l.lengths);
    return l;
}

/* A key for row i of entry b: beside an edge of what the row sees, beside a multiple of a tile, or
 * anywhere. */
static int64_t key_sought(const attest_case *c, const lists *l, int64_t b, int64_t i,
                          uint64_t bits) {
    const int64_t offset = c->features & ATTEST_OFFSETS ? l->offsets[b] : c->keys - c->queries;
    const int64_t length = c->features & ATTEST_KEY_LENGTHS ? l->lengths[b] : c->keys;
    const int64_t left = c->features & ATTEST_WINDOW_SIZE ? c->window_size - 1 : c->window_left;
    const int64_t tile = INT64_C(8) << (bits >> 8) % 6, any = below(attest_mix(bits), c->keys);
    const int64_t beyond = (int64_t)(bits >> 16 & 3) == 0, position = i + offset;
    int64_t key = any;
    switch (bits % 8) {
    case 0:
    case 1:
        key = position + beyond;
        break;
    case 2:
        key = left >= 0 ? position - left - beyond : any;
        break;
    case 3:
        key = c->window_right >= 0 ? position + c->window_right + beyond : any;
        break;
    case 4:
        key = length - 1 + beyond;
        break;
    case 5:
        key = any / tile * tile - beyond;
        break;
    default:
        break;
    }
    return key >= 0 && key < c->keys ? key : any;
}

/* A row of q whose score with one key stands out, by so much that the key has about the weight of
 * all others together. */
static void needle_row(const attest_case *c, const lists *l, const int64_t at[3], double *values) {
    const uint64_t row = row_number(c, ATTEST_SLOT_Q, at[0], at[1], at[2]);
    const int64_t entry = c->layout == ATTEST_LAYOUT_BROADCAST ? c->batch - 1 : at[0];
    const int64_t head = at[1] / (c->q_heads / c->kv_heads);
    const int64_t key = key_sought(c, l, at[0], at[2], bits_at(row, -1));
    const uint64_t sought = row_number(c, ATTEST_SLOT_K, entry, head, key);
    const double scale = c->features & ATTEST_SCALE ? c->scale : 1 / sqrt((double)c->head_size);
    const double wanted = log((double)c->keys + 1) + real_of(bits_at(row, -2), -1, 4);
    double norm = 0;
    for (int64_t w = 0; w < c->head_size; w++) {
        norm += bell_at(sought, w) * bell_at(sought, w);
    }
    const double factor = scale * norm != 0 ? wanted / (scale * norm) : 0;
    for (int64_t w = 0; w < c->head_size; w++) {
        values[w] = (fabs(factor) < 1000 ? factor : 0) * bell_at(sought, w) + bell_at(row, w) / 8;
    }
}

/* ------------------------------------------------------------------------------ rows --------- */

/* Two keys a head hold a NaN, one in the second half and one in the last eighth, so that options
 * hide them from many rows. The column of it, or -1. */
static int64_t hole_of(const attest_tensor *t, const attest_case *c, int slot,
                       const int64_t at[3]) {
    const uint64_t hole = row_number(c, slot, at[0], at[1], -1);
    const int64_t last = t->shape[2] - 1;
    const int here = at[2] == last - below(hole, t->shape[2] / 2 + 1) ||
                     at[2] == last - below(attest_mix(hole), t->shape[2] / 8 + 1);
    return here ? below(hole >> 32, t->shape[3]) : -1;
}

static double value_of(attest_recipe recipe, const attest_tensor *t, const attest_case *c, int slot,
                       uint64_t bits, int64_t w) {
    const int in_k = slot == ATTEST_SLOT_K, in_q = slot == ATTEST_SLOT_Q;
    const double value = attest_bell((uint32_t)bits);
    switch (recipe) {
    case ATTEST_RECIPE_WIDE:
        return wide_of(bits);
    case ATTEST_RECIPE_BELOW:
        return in_q ? 1 + fabs(value) / 2 : in_k ? -96 + 8 * value : value;
    case ATTEST_RECIPE_ALIKE:
        return in_k ? bell_at(attest_mix(c->seed), w) + value / 16 : value;
    case ATTEST_RECIPE_MIXED:
        return bits >> 61 == 0 ? ldexp(value, denormal_exponent(t->dtype)) : value;
    case ATTEST_RECIPE_RISE:
        return in_k   ? ldexp(value, denormal_exponent(t->dtype))
               : in_q ? ldexp(value, lifting_exponent(t->dtype))
                      : value;
    case ATTEST_RECIPE_NORMAL:
        return normal_of(bits);
    case ATTEST_RECIPE_UNIFORM:
        return real_of(bits, 0, 1);
    case ATTEST_RECIPE_FAINT:
        return normal_of(bits) / 50;
    case ATTEST_RECIPE_STEEP:
        return in_q ? value * exp2(real_of(attest_mix(c->seed), 2, 13)) : value;
    default:
        return value;
    }
}

static void placed_row(const attest_tensor *t, attest_recipe recipe, const attest_case *c, int slot,
                       const int64_t at[3], double *values) {
    const int same = recipe == ATTEST_RECIPE_TWINS && slot == ATTEST_SLOT_K;
    const uint64_t row = row_number(c, slot, at[0], at[1], same ? at[2] % 3 : at[2]);
    for (int64_t w = 0; w < t->shape[3]; w++) {
        values[w] = value_of(recipe, t, c, slot, bits_at(row, w), w);
    }
    if (recipe == ATTEST_RECIPE_HOLES && slot != ATTEST_SLOT_Q && hole_of(t, c, slot, at) >= 0) {
        values[hole_of(t, c, slot, at)] = (double)NAN;
    }
}

static void store_row(const attest_tensor *t, void *row, const double *values) {
    if (t->dtype == ATTEST_F32 && t->stride[3] == 1) {
        for (int64_t w = 0; w < t->shape[3]; w++) {
            ((float *)row)[w] = (float)values[w];
        }
        return;
    }
    const int64_t step = t->stride[3] * attn_dtype_bytes(t->dtype);
    for (int64_t w = 0; w < t->shape[3]; w++) {
        attn_store(t->dtype, (unsigned char *)row + w * step, values[w]);
    }
}

void attest_fill_placed(const attest_tensor *t, attest_recipe recipe, const attest_case *c,
                        int slot) {
    const int64_t *n = t->shape;
    const int needle = recipe == ATTEST_RECIPE_NEEDLE && slot == ATTEST_SLOT_Q && c->keys > 0;
    lists l = lists_of(c);
    double *values = l.offsets ? malloc(((size_t)n[3] + 1) * sizeof *values) : NULL;
    int64_t at[3] = {0};
    for (at[0] = 0; values != NULL && at[0] < n[0]; at[0]++) {
        for (at[1] = 0; at[1] < n[1]; at[1]++) {
            for (at[2] = 0; at[2] < n[2] && n[3] > 0; at[2]++) {
                if (needle) {
                    needle_row(c, &l, at, values);
                } else {
                    placed_row(t, recipe, c, slot, at, values);
                }
                store_row(t, attest_at(t, at[0], at[1], at[2], 0), values);
            }
        }
    }
    free(values);
    free(l.offsets);
    free(l.lengths);
}

/* ------------------------------------------------------------- keys that no row sees --------- */

/* The keys that entry b's rows may see: from *first up to, not including, *end. Without offsets of
 * its own a case is taken at both corners a profile may have. */
static void seen_range(const attest_case *c, const lists *l, int64_t b, int64_t *first,
                       int64_t *end) {
    const int own = (c->features & ATTEST_OFFSETS) != 0;
    const int64_t corner = c->keys - c->queries;
    const int64_t low = own ? l->offsets[b] : corner < 0 ? corner : 0;
    const int64_t high = (own ? l->offsets[b] : corner > 0 ? corner : 0) + c->queries - 1;
    int64_t reach = c->features & ATTEST_CAUSAL ? 0 : INT64_MAX, left = -1;
    if (c->features & ATTEST_WINDOW) {
        reach = c->window_right >= 0 && c->window_right < reach ? c->window_right : reach;
        left = c->window_left;
    }
    *first = left >= 0 && low - left > 0 ? low - left : 0;
    *end = c->features & ATTEST_KEY_LENGTHS ? l->lengths[b] : c->keys;
    if (reach < c->keys && high + reach + 1 < *end) {
        *end = high + reach + 1;
    }
}

static double largest(attest_dtype dtype) {
    return dtype == ATTEST_F64    ? DBL_MAX
           : dtype == ATTEST_F32  ? (double)FLT_MAX
           : dtype == ATTEST_BF16 ? 0x1.fep127
                                  : 65504.0;
}

void attest_fill_unseen(const attest_tensor *t, const attest_case *c) {
    lists l = lists_of(c);
    const double top = largest(t->dtype);
    /* Entries that share their memory see what any of them sees. */
    const int shared = t->stride[0] == 0;
    for (int64_t b = 0; l.offsets != NULL && c->unseen != ATTEST_UNSEEN_PLAIN && b < c->batch;
         b++) {
        int64_t first = 0, end = c->keys;
        seen_range(c, &l, b, &first, &end);
        for (int64_t other = 0; shared && other < c->batch; other++) {
            int64_t low, high;
            seen_range(c, &l, other, &low, &high);
            first = low < first ? low : first;
            end = high > end ? high : end;
        }
        for (int64_t y = 0; y < t->shape[1]; y++) {
            for (int64_t z = 0; z < t->shape[2]; z++) {
                for (int64_t w = 0; (z < first || z >= end) && w < t->shape[3]; w++) {
                    const double value = c->unseen == ATTEST_UNSEEN_NAN ? (double)NAN
                                         : (z + w) % 2                  ? -top
                                                                        : top;
                    attest_put(t, b, y, z, w, value);
                }
            }
        }
    }
    free(l.offsets);
    free(l.lengths);
}
