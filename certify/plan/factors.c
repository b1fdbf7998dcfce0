/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/plan/cost.h"
#include "certify/plan/covering.h"
#include "certify/plan/data.h"
#include "certify/plan/oracle_kind.h"
#include "certify/plan/preset.h"
#include "certify/plan/space.h"

enum factor {
    CAUSAL,
    OFFSETS,
    WINDOW,
    LENGTHS,
    MASK,
    SCALE,
    SOFTCAP,
    SINKS,
    ALIBI,
    LSE,
    OPTIONS,
    BATCH = OPTIONS,
    KV_HEADS,
    GROUP,
    QUERIES,
    KEYS,
    HEAD_SIZE,
    VALUE_SIZE,
    SIZES_END,
    LAYOUT = SIZES_END,
    TYPES,
    DATA,
    UNSEEN,
    THREADS,
    FACTORS
};
enum { SIZES = SIZES_END - OPTIONS, BANDS = 5 };

typedef struct band {
    int64_t low, high;
} band;

/* What models use, in steps of about eight; the first band is where a case is cheapest. */
static const band bands[SIZES][BANDS] = {
    [BATCH - OPTIONS] = {{1, 1}, {2, 4}, {5, 12}, {13, 32}},
    [KV_HEADS - OPTIONS] = {{1, 1}, {2, 4}, {5, 12}, {13, 64}},
    [GROUP - OPTIONS] = {{1, 1}, {2, 3}, {4, 8}, {9, 16}},
    [QUERIES - OPTIONS] = {{1, 1}, {2, 8}, {9, 64}, {65, 512}, {513, 4096}},
    [KEYS - OPTIONS] = {{1, 8}, {9, 64}, {65, 512}, {513, 4096}, {4097, 32768}},
    [HEAD_SIZE - OPTIONS] = {{1, 8}, {9, 32}, {33, 96}, {97, 256}},
    [VALUE_SIZE - OPTIONS] = {{1, 8}, {9, 32}, {33, 96}, {97, 256}},
};
#define MOST_HEADS 64
#define MOST_MASK (INT64_C(1) << 22)

typedef struct regime {
    attest_recipe qk, v;
} regime;

static const regime regimes[] = {
    {ATTEST_RECIPE_BELL, ATTEST_RECIPE_BELL},       {ATTEST_RECIPE_WIDE, ATTEST_RECIPE_WIDE},
    {ATTEST_RECIPE_BELOW, ATTEST_RECIPE_BELL},      {ATTEST_RECIPE_TWINS, ATTEST_RECIPE_BELL},
    {ATTEST_RECIPE_ALIKE, ATTEST_RECIPE_WIDE},      {ATTEST_RECIPE_MIXED, ATTEST_RECIPE_MIXED},
    {ATTEST_RECIPE_RISE, ATTEST_RECIPE_BELL},       {ATTEST_RECIPE_COARSE, ATTEST_RECIPE_COARSE},
    {ATTEST_RECIPE_PEAKED, ATTEST_RECIPE_FINE},     {ATTEST_RECIPE_HOLES, ATTEST_RECIPE_BELL},
    {ATTEST_RECIPE_BELL, ATTEST_RECIPE_HOLES},      {ATTEST_RECIPE_NEEDLE, ATTEST_RECIPE_BELL},
    {ATTEST_RECIPE_STEEP, ATTEST_RECIPE_WIDE},      {ATTEST_RECIPE_NORMAL, ATTEST_RECIPE_NORMAL},
    {ATTEST_RECIPE_UNIFORM, ATTEST_RECIPE_UNIFORM}, {ATTEST_RECIPE_FAINT, ATTEST_RECIPE_FAINT},
};
enum { REGIMES = sizeof regimes / sizeof *regimes };
static const int64_t thread_counts[] = {1, 2, 3, 4, 8, 5, 6, 7, 16};

static const int levels[FACTORS] = {
    [CAUSAL] = 2,
    [OFFSETS] = 3,
    [WINDOW] = 4,
    [LENGTHS] = 3,
    [MASK] = 4,
    [SCALE] = 3,
    [SOFTCAP] = 2,
    [SINKS] = 2,
    [ALIBI] = 3,
    [LSE] = 2,
    [BATCH] = 4,
    [KV_HEADS] = 4,
    [GROUP] = 4,
    [QUERIES] = 5,
    [KEYS] = 5,
    [HEAD_SIZE] = 4,
    [VALUE_SIZE] = 4,
    [LAYOUT] = ATTEST_LAYOUT_HUGE,
    [TYPES] = 7,
    [DATA] = REGIMES,
    [UNSEEN] = ATTEST_UNSEENS,
    [THREADS] = sizeof thread_counts / sizeof *thread_counts,
};

static int64_t log_uniform(attest_draws *draws, int64_t low, int64_t high) {
    const double share = (double)attest_draw_below(draws, 1 << 20) / (1 << 20);
    const double ratio = (double)(high + 1) / (double)low;
    const int64_t value = (int64_t)((double)low * exp(share * log(ratio)));
    return value < low ? low : value > high ? high : value;
}

/* Log-uniform; one of three beside a multiple of a common tile. */
static int64_t draw_size(attest_draws *draws, int64_t low, int64_t high) {
    const int64_t value = log_uniform(draws, low, high);
    const int64_t tile = INT64_C(8) << attest_draw_below(draws, 5);
    const int64_t beside = (value + tile - 1) / tile * tile + attest_draw_below(draws, 3) - 1;
    return attest_draw_below(draws, 3) == 0 && beside >= low && beside <= high ? beside : value;
}

static double draw_real(attest_draws *draws, double low, double high) {
    const double share = (double)attest_draw(draws) / 0x1p32;
    return low * exp(share * log(high / low));
}

/* --------------------------------------------------------------------------- sizes ----------- */

static int64_t *size_field(attest_case *c, int factor) {
    switch (factor) {
    case BATCH:
        return &c->batch;
    case KV_HEADS:
        return &c->kv_heads;
    case QUERIES:
        return &c->queries;
    case KEYS:
        return &c->keys;
    case HEAD_SIZE:
        return &c->head_size;
    case VALUE_SIZE:
        return &c->value_size;
    default:
        return &c->q_heads; /* of GROUP: the group, until heads are put together */
    }
}

static attest_case with_heads(attest_case c) {
    c.q_heads *= c.kv_heads;
    return c;
}

/* Sizes drawn from the row's bands, then some of them cut, at random, until the case is cheap
 * enough. */
static void draw_in_bands(attest_draws *draws, const int *row, double most, attest_case *c) {
    enum { MOST_CUTS = 1000 };
    for (int f = OPTIONS; f < SIZES_END; f++) {
        const band *b = &bands[f - OPTIONS][row[f]];
        *size_field(c, f) = draw_size(draws, b->low, b->high);
    }
    for (int cuts = 0; cuts < MOST_CUTS; cuts++) {
        const attest_case whole = with_heads(*c);
        const int dear = attest_case_cost(&whole) > most;
        if (!dear && whole.q_heads <= MOST_HEADS) {
            break;
        }
        const int f = dear ? OPTIONS + (int)attest_draw_below(draws, SIZES)
                           : KV_HEADS + (int)attest_draw_below(draws, 2);
        int64_t *size = size_field(c, f);
        const int64_t low = bands[f - OPTIONS][row[f]].low, cut = *size * 3 / 4;
        *size = cut > low ? cut : low;
    }
    *c = with_heads(*c);
}

static int affordable(const attest_case *c, double most) {
    const attest_case whole = with_heads(*c);
    return whole.q_heads <= MOST_HEADS && attest_case_cost(&whole) <= most;
}

/* The largest number of an axis with which the case is still affordable. */
static int64_t most_of(attest_case *c, int factor, double most) {
    int64_t *size = size_field(c, factor);
    const int64_t before = *size;
    int64_t low = 1, high = bands[factor - OPTIONS][levels[factor] - 1].high;
    while (low < high) {
        *size = low + (high - low + 1) / 2;
        if (affordable(c, most)) {
            low = *size;
        } else {
            high = *size - 1;
        }
    }
    *size = before;
    return low;
}

/* Sizes of any band, one axis after the other in an order that is drawn, each from what those
 * before it leave of `most`. The first few come from the last eighth of their range, where whatever
 * begins at some size has begun, and may cost `dear`; the others are log-uniform. */
static void draw_freely(attest_draws *draws, double most, double dear, attest_case *c) {
    static const int large[] = {0, 0, 1, 1, 1, 2, 2, 3};
    const int first = large[attest_draw_below(draws, 8)];
    int order[SIZES];
    for (int i = 0; i < SIZES; i++) {
        const int j = (int)attest_draw_below(draws, i + 1);
        order[i] = order[j];
        order[j] = OPTIONS + i;
    }
    for (int i = 0; i < SIZES; i++) {
        const int f = order[i];
        if (i == first) {
            const attest_case whole = with_heads(*c);
            const double spent = attest_case_cost(&whole);
            most = most > 2 * spent ? most : 2 * spent;
        }
        const int64_t top = bands[f - OPTIONS][levels[f] - 1].high;
        const int64_t left = most_of(c, f, i < first && most < dear ? dear : most);
        const int64_t low = i < first ? (top + 7) / 8 : 1;
        const int64_t wanted = draw_size(draws, low, top);
        *size_field(c, f) = wanted <= left ? wanted
                            : low <= left  ? draw_size(draws, low, left)
                                           : draw_size(draws, 1, left);
    }
    *c = with_heads(*c);
}

/* Head sizes for which kernels have a path of their own, a few heads, and several tiles of queries
 * and of keys at once, half of the time as many of each. */
static void draw_usual(attest_draws *draws, double most, attest_case *c) {
    static const int64_t head_sizes[] = {64, 128, 64, 128, 32, 80, 96, 256},
                         groups[] = {1, 1, 2, 4};
    enum { LEAST_SIDE = 16, MOST_SIDE = 1024 };
    c->head_size = c->value_size = head_sizes[attest_draw_below(draws, 8)];
    if (c->head_size == 128 && attest_draw_below(draws, 4) == 0) {
        c->head_size = 192;
    }
    c->batch = 1 + attest_draw_below(draws, 2);
    c->kv_heads = 1 + attest_draw_below(draws, 2);
    c->q_heads = groups[attest_draw_below(draws, 4)];
    int64_t side = MOST_SIDE;
    for (c->queries = c->keys = side; side > LEAST_SIDE && !affordable(c, most);) {
        side = side * 7 / 8;
        c->queries = c->keys = side;
    }
    if (attest_draw_below(draws, 2) == 0) {
        c->queries = draw_size(draws, side / 4, side);
        c->keys = draw_size(draws, side / 2, 2 * side);
    }
    *c = with_heads(*c);
}

static attest_case least_sizes(const int *row, attest_case c) {
    for (int f = OPTIONS; f < SIZES_END; f++) {
        *size_field(&c, f) = bands[f - OPTIONS][row[f]].low;
    }
    return with_heads(c);
}

/* ------------------------------------------------------------------------ options ------------ */

static void set_types(attest_case *c, int level) {
    static const attest_dtype q[] = {ATTEST_F32, ATTEST_F16, ATTEST_BF16, ATTEST_F64,
                                     ATTEST_F16, ATTEST_F32, ATTEST_BF16};
    static const attest_dtype kv[] = {ATTEST_F32, ATTEST_F16,  ATTEST_BF16, ATTEST_F64,
                                      ATTEST_F16, ATTEST_BF16, ATTEST_BF16};
    static const attest_dtype o[] = {ATTEST_F32, ATTEST_F16, ATTEST_BF16, ATTEST_F64,
                                     ATTEST_F32, ATTEST_F32, ATTEST_F32};
    c->q_type = q[level];
    c->kv_type = kv[level];
    c->o_type = o[level];
}

/* Features and kinds: what can be said before any value is drawn. */
static void set_kinds(attest_case *c, const int *row) {
    static const uint64_t window[] = {0, ATTEST_WINDOW, ATTEST_WINDOW, ATTEST_WINDOW_SIZE};
    static const uint64_t mask[] = {0, ATTEST_MASK_BOOL, ATTEST_MASK_ADD, ATTEST_MASK_ADD};
    c->features |= row[CAUSAL] ? ATTEST_CAUSAL : 0;
    c->features |= row[OFFSETS] ? ATTEST_OFFSETS : 0;
    c->features |= window[row[WINDOW]] | mask[row[MASK]];
    c->features |= row[LENGTHS] ? ATTEST_KEY_LENGTHS : 0;
    c->features |= row[SCALE] ? ATTEST_SCALE : 0;
    c->features |= row[SOFTCAP] ? ATTEST_SOFTCAP : 0;
    c->features |= row[SINKS] ? ATTEST_SINKS : 0;
    c->features |= row[ALIBI] ? ATTEST_ALIBI : 0;
    c->features |= row[LSE] ? ATTEST_LSE : 0;
    set_types(c, row[TYPES]);
    c->layout = row[LAYOUT];
    c->threads = thread_counts[row[THREADS]];
    c->qk = (int64_t)regimes[row[DATA]].qk;
    c->v = (int64_t)regimes[row[DATA]].v;
    c->unseen = row[UNSEEN];
    c->slopes_rank = row[ALIBI] == 2 ? 2 : 1;
}

/* A side of a window: any reach from none to all keys, one whose edge is before the last row, so
 * that there is a key beyond it, or nearly all keys. */
static int64_t draw_reach(attest_draws *draws, const attest_case *c) {
    const int64_t inside = c->queries < c->keys ? c->queries : c->keys;
    const int64_t reaches[] = {inside, inside, c->keys + 1, c->keys + 1};
    const int64_t kind = attest_draw_below(draws, 5);
    return kind == 4 ? c->keys - attest_draw_below(draws, c->keys / 4 + 1)
                     : log_uniform(draws, 1, reaches[kind]) - 1;
}

static void draw_window(attest_draws *draws, int level, attest_case *c) {
    if (level == 3) {
        c->window_size = log_uniform(draws, 1, c->keys + 1);
    } else if (level > 0) {
        c->window_left = draw_reach(draws, c);
        c->window_right = level == 2                         ? ATTEST_UNBOUNDED
                          : attest_draw_below(draws, 3) == 0 ? 0
                                                             : draw_reach(draws, c);
        if (level == 1 && attest_draw_below(draws, 6) == 0) {
            c->window_left = ATTEST_UNBOUNDED;
        }
    }
}

static void draw_mask(attest_draws *draws, int level, attest_case *c) {
    static const int64_t recipes[] = {
        ATTEST_MASK_RANDOM,   ATTEST_MASK_RANDOM, ATTEST_MASK_SPARSE, ATTEST_MASK_RANDOM,
        ATTEST_MASK_TRIANGLE, ATTEST_MASK_HEAD,   ATTEST_MASK_SINGLE, ATTEST_MASK_ALL_VISIBLE};
    enum { SHAPES = 10 };
    static const int64_t rank[SHAPES] = {4, 4, 4, 4, 4, 4, 4, 3, 2, 1};
    static const int64_t full[SHAPES] = {15, 13, 14, 12, 9, 10, 7, 14, 12, 8};
    const int64_t sizes[] = {c->batch, c->q_heads, c->queries, c->keys};
    if (level == 0) {
        return;
    }
    const attest_dtype wide = c->q_type == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    c->mask_type = level == 1 ? ATTEST_BOOL : level == 2 ? wide : c->q_type;
    c->mask = recipes[attest_draw_below(draws, 8)];
    /* Of the shapes that are not too large, any; the last one never is. */
    int64_t elements;
    do {
        const int shape = (int)attest_draw_below(draws, SHAPES);
        elements = 1;
        for (int axis = 0; axis < 4; axis++) {
            elements *= full[shape] >> axis & 1 ? sizes[axis] : 1;
        }
        c->mask_rank = rank[shape];
        c->mask_full = full[shape];
    } while (elements > MOST_MASK);
}

static void draw_values(attest_draws *draws, const int *row, attest_case *c) {
    static const int64_t far[] = {ATTEST_LIST_ZERO, ATTEST_LIST_NEGATIVE, ATTEST_LIST_FAR};
    c->offsets = row[OFFSETS] == 1   ? ATTEST_LIST_RAGGED
                 : row[OFFSETS] == 2 ? far[attest_draw_below(draws, 3)]
                                     : 0;
    c->lengths = row[LENGTHS] == 1 ? ATTEST_LIST_RAGGED : row[LENGTHS] == 2 ? ATTEST_LIST_ZERO : 0;
    draw_window(draws, row[WINDOW], c);
    draw_mask(draws, row[MASK], c);
    if (row[SCALE]) { /* of the size a default would have, within a factor of eight */
        const double size = draw_real(draws, 0.125, 8) / sqrt((double)c->head_size);
        c->scale = row[SCALE] == 2 ? -size : attest_draw_below(draws, 16) == 0 ? 0 : size;
    }
    c->softcap = row[SOFTCAP] ? draw_real(draws, 0.5, 60) : 0;
    if (c->head_size != c->value_size && row[HEAD_SIZE] == row[VALUE_SIZE] &&
        attest_draw_below(draws, 2) == 0) {
        c->value_size = c->head_size;
    }
}

/* ------------------------------------------------------------------- what is allowed --------- */

typedef struct context {
    attest_plan *plan;
    double most; /* nanoseconds of the cheapest case of a row; 0: no limit */
    int all_triples;
} context;

static int regime_fits(const attest_plan *plan, const attest_case *c) {
    const attest_kernel_info *k = plan->kernel;
    if (c->unseen != ATTEST_UNSEEN_PLAIN && plan->profile.empty_row == ATTN_EMPTY_MEAN_OF_ALL) {
        return 0; /* there a row that sees nothing sees all */
    }
    const int holes = c->qk == ATTEST_RECIPE_HOLES || c->v == ATTEST_RECIPE_HOLES;
    if (holes && (k->finite_only || k->isolation != ATTEST_ISOLATION_FULL)) {
        return 0;
    }
    const uint32_t rung = c->unseen == ATTEST_UNSEEN_NAN       ? ATTEST_ISOLATION_FULL
                          : c->unseen == ATTEST_UNSEEN_LARGEST ? ATTEST_ISOLATION_EXTREME
                                                               : ATTEST_ISOLATION_NONE;
    if (k->isolation < rung || (k->finite_only && c->unseen == ATTEST_UNSEEN_NAN)) {
        return 0;
    }
    /* Sums of many of these pass what binary16 holds. */
    return c->kv_type != ATTEST_F16 || (c->qk != ATTEST_RECIPE_PEAKED &&
                                        c->v != ATTEST_RECIPE_WIDE && c->qk != ATTEST_RECIPE_STEEP);
}

static int fits(const context *x, const int *row, size_t known) {
    const attest_plan *plan = x->plan;
    int whole[FACTORS] = {0};
    memcpy(whole, row, known * sizeof *row);
    attest_case c = attest_case_default(plan->check->name);
    set_kinds(&c, whole);
    c = least_sizes(whole, c);
    if (known <= SCALE && plan->profile.default_scale == ATTN_SCALE_REQUIRED) {
        c.features |= plan->kernel->features & ATTEST_SCALE; /* still to be chosen */
    }
    if (known <= TYPES) {
        c.q_type = c.kv_type = c.o_type = attest_plan_type(plan);
    }
    if (known <= VALUE_SIZE) {
        c.value_size = c.head_size;
    }
    if (!(plan->kernel->shapes & ATTEST_CAN_DV) && known > VALUE_SIZE) {
        if (whole[HEAD_SIZE] != whole[VALUE_SIZE]) {
            return 0;
        }
        c.value_size = c.head_size;
    }
    if (known > LAYOUT && whole[LAYOUT] == ATTEST_LAYOUT_BROADCAST && whole[BATCH] == 0) {
        return 0;
    }
    if (known > DATA && !regime_fits(plan, &c)) {
        return 0;
    }
    const int cheap = c.q_heads <= MOST_HEADS && attest_case_cost(&c) <= x->most;
    return (cheap || x->most == 0) && attest_kernel_covers(plan->kernel, &plan->profile, &c);
}

static int allows(const attest_covering *self, const int *row, size_t known) {
    return fits(self->context, row, known);
}

static int wants(const attest_covering *self, size_t f, size_t g, size_t h) {
    const context *x = self->context;
    return x->all_triples || (f < OPTIONS && g < OPTIONS && h >= OPTIONS && h < SIZES_END);
}

/* --------------------------------------------------------------------------- cases ----------- */

/* Moves a case to beside a length at which the kernel was seen to change, if that is affordable. */
static void move_to_boundary(attest_draws *draws, const attest_boundaries *all, double most,
                             attest_case *c) {
    const attest_boundary *b = &all->found[attest_draw_below(draws, all->count)];
    const int64_t length =
        b->at + b->period * attest_draw_below(draws, 4) + attest_draw_below(draws, 3) - 1;
    attest_case moved = *c;
    int64_t *const fields[ATTEST_AXES] = {
        [ATTEST_AXIS_KEYS] = &moved.keys,           [ATTEST_AXIS_QUERIES] = &moved.queries,
        [ATTEST_AXIS_HEAD_SIZE] = &moved.head_size, [ATTEST_AXIS_VALUE_SIZE] = &moved.value_size,
        [ATTEST_AXIS_HEADS] = &moved.q_heads,       [ATTEST_AXIS_BATCH] = &moved.batch,
        [ATTEST_AXIS_GROUP] = &moved.q_heads,       [ATTEST_AXIS_THREADS] = &moved.threads,
    };
    *fields[b->axis] = b->axis == ATTEST_AXIS_GROUP ? length * c->kv_heads : length;
    moved.kv_heads = b->axis == ATTEST_AXIS_HEADS ? length : moved.kv_heads;
    if (length > 0 && attest_case_cost(&moved) <= most) {
        *c = moved;
    }
}

/* The case of a row, its values drawn from the plan's seed and the number; sizes in the row's bands
 * where `dear` is 0, else in any. Returns what it costs. */
static double add_row(attest_plan *plan, const int *row, double most, double dear, int64_t number) {
    attest_draws *draws = attest_draws_open(plan->seed ^ attest_mix((uint64_t)number), 0x66616374);
    attest_case c = attest_case_default(plan->check->name);
    if (draws == NULL) {
        plan->failed = 1;
        return most;
    }
    set_kinds(&c, row);
    if (dear == 0) {
        draw_in_bands(draws, row, most, &c);
    } else if (attest_draw_below(draws, 6) == 0) {
        draw_usual(draws, most > dear / 2 ? most : dear / 2, &c);
    } else {
        draw_freely(draws, most, dear, &c);
    }
    if (dear > 0 && plan->boundaries != NULL && plan->boundaries->count > 0 &&
        attest_draw_below(draws, 3) == 0) {
        move_to_boundary(draws, plan->boundaries, dear + most, &c);
    }
    draw_values(draws, row, &c);
    if (!(plan->kernel->shapes & ATTEST_CAN_DV)) {
        c.value_size = c.head_size;
    }
    c.parameter[0] = ATTEST_ORACLE_COMPOUND;
    c.parameter[1] = attest_draw_below(draws, 6) == 0; /* called twice, the second judged */
    attest_plan_add(plan, &c);
    attest_draws_close(draws);
    return attest_case_cost(&c) * (c.parameter[1] ? 2 : 1);
}

static size_t covering_rows(attest_plan *plan, double most, int **rows) {
    context x = {.plan = plan, .most = most, .all_triples = plan->level >= ATTEST_FULL};
    const attest_covering space = {
        .levels = levels, .factors = FACTORS, .wants = wants, .allows = allows, .context = &x};
    return attest_covering_rows(&space, attest_mix(plan->seed), rows);
}

/* Swarm: in each case options are rare, even or common. */
static int draw_row(attest_draws *draws, attest_plan *plan, int *row) {
    static const int64_t shares[] = {20, 50, 50, 65}; /* percent of options that are on */
    const context x = {.plan = plan};
    const int64_t share = shares[attest_draw_below(draws, 4)];
    for (int f = 0; f < FACTORS; f++) {
        const int on = f >= SIZES_END || attest_draw_below(draws, 100) < share;
        row[f] = f >= OPTIONS && f < SIZES_END ? 0
                 : f >= SIZES_END              ? (int)attest_draw_below(draws, levels[f])
                 : on                          ? 1 + (int)attest_draw_below(draws, levels[f] - 1)
                                               : 0;
    }
    if (row[LAYOUT] == ATTEST_LAYOUT_BROADCAST) {
        row[BATCH] = 1;
    }
    return fits(&x, row, FACTORS);
}

/* What a case may cost: each doubling takes half as many cases, so all take the same time. */
static double draw_most(attest_draws *draws, double least, int doublings) {
    int doubled = 0;
    while (doubled < doublings && attest_draw_below(draws, 2) == 0) {
        doubled++;
    }
    return ldexp(least, doubled) * draw_real(draws, 1, 2);
}

/* The rows that cover, each followed by some at random; then random ones until cases of `budget`
 * nanoseconds are planned: mostly cheap ones, some dear. */
static void plan_compound(attest_plan *plan, double budget, double unit) {
    enum { BETWEEN = 6, MOST_REFUSED = 100000, DOUBLINGS = 11 };
    const double overhead = 400e3; /* of a case, whatever its size */
    int *rows = NULL, row[FACTORS], refused = 0;
    const int64_t count =
        plan->level == ATTEST_SMOKE ? 0 : (int64_t)covering_rows(plan, 80 * unit, &rows);
    attest_draws *draws = attest_draws_open(attest_mix(plan->seed + 1), 0x737761726d);
    for (int64_t number = 0; draws != NULL && !plan->failed; number++) {
        const int covers = number % BETWEEN == 0 && number / BETWEEN < count;
        if (covers) {
            budget -= add_row(plan, rows + number / BETWEEN * FACTORS, 4 * unit, 0, number);
        } else if ((budget <= 0 || refused >= MOST_REFUSED) && number / BETWEEN >= count) {
            break;
        } else if (budget > 0 && draw_row(draws, plan, row)) {
            const double most = draw_most(draws, unit / 8, DOUBLINGS);
            budget -= overhead + 2 * add_row(plan, row, most, 5 * unit, number);
        } else {
            refused++; /* a kernel may declare very little */
        }
    }
    attest_draws_close(draws);
    free(rows);
}

void attest_factors_plan(attest_plan *plan) {
    const double second = 1e9;
    const double budget = attest_plan_by_level(plan, 1, 76, 3000, 18000) * second;
    const double unit = attest_plan_by_level(plan, 1, 3, 10, 30) * 1e6;
    plan_compound(plan, budget, unit);
    if (plan->level > ATTEST_SMOKE) {
        attest_preset_plan(plan, 20 * unit);
    }
}
