/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certify/plan/covering.h"
#include "certify/plan/data.h"
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
    {ATTEST_RECIPE_BELL, ATTEST_RECIPE_BELL},   {ATTEST_RECIPE_WIDE, ATTEST_RECIPE_WIDE},
    {ATTEST_RECIPE_BELOW, ATTEST_RECIPE_BELL},  {ATTEST_RECIPE_TWINS, ATTEST_RECIPE_BELL},
    {ATTEST_RECIPE_ALIKE, ATTEST_RECIPE_WIDE},  {ATTEST_RECIPE_MIXED, ATTEST_RECIPE_MIXED},
    {ATTEST_RECIPE_RISE, ATTEST_RECIPE_BELL},   {ATTEST_RECIPE_COARSE, ATTEST_RECIPE_COARSE},
    {ATTEST_RECIPE_PEAKED, ATTEST_RECIPE_FINE}, {ATTEST_RECIPE_HOLES, ATTEST_RECIPE_BELL},
    {ATTEST_RECIPE_BELL, ATTEST_RECIPE_HOLES},
};
enum { REGIMES = sizeof regimes / sizeof *regimes };
static const int64_t thread_counts[] = {1, 2, 3, 4, 8, 5, 6, 7, 16};

static const int levels[FACTORS] = {
    [CAUSAL] = 2,    [OFFSETS] = 3, [WINDOW] = 4,     [LENGTHS] = 3,    [MASK] = 4,
    [SCALE] = 3,     [SOFTCAP] = 2, [SINKS] = 2,      [ALIBI] = 3,      [LSE] = 2,
    [BATCH] = 4,     [KV_HEADS] = 4, [GROUP] = 4,     [QUERIES] = 5,    [KEYS] = 5,
    [HEAD_SIZE] = 4, [VALUE_SIZE] = 4, [LAYOUT] = ATTEST_LAYOUT_HUGE, [TYPES] = 7,
    [DATA] = REGIMES, [THREADS] = sizeof thread_counts / sizeof *thread_counts,
};

/* Measured on the bundled naive kernel and the oracle; only their proportion matters. */
double attest_kernel_cost(int64_t rows, int64_t keys, int64_t sizes) {
    return (double)rows * (double)keys * (65 + 9 * (double)sizes);
}

double attest_oracle_cost(int64_t rows, int64_t keys, int64_t sizes) {
    return (double)rows * ((double)keys * (140 + 3 * (double)sizes) + 60 * (double)sizes + 1000);
}

static double cost_of(const attest_case *c) {
    const double filled = 40.0 * (double)(c->batch * c->kv_heads * c->keys) *
                          (double)(c->head_size + c->value_size);
    return filled + attest_kernel_cost(c->batch * c->q_heads * c->queries, c->keys,
                                       c->head_size + c->value_size);
}

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

/* How a row becomes sizes: `most` nanoseconds of a plain kernel; whether sizes stay in their
 * bands; axes, as bits, that are cut last. */
typedef struct limits {
    double most;
    int kept;
    unsigned held;
} limits;

/* Sizes drawn from the row's bands, then some of them cut, at random, until the case is cheap
 * enough. */
static void draw_sizes(attest_draws *draws, const int *row, const limits *l, attest_case *c) {
    enum { MOST_CUTS = 1000, HELD_CUTS = 200 };
    for (int f = OPTIONS; f < SIZES_END; f++) {
        const band *b = &bands[f - OPTIONS][row[f]];
        *size_field(c, f) = draw_size(draws, b->low, b->high);
    }
    for (int cuts = 0; cuts < MOST_CUTS; cuts++) {
        const attest_case whole = with_heads(*c);
        const int dear = cost_of(&whole) > l->most;
        if (!dear && whole.q_heads <= MOST_HEADS) {
            break;
        }
        const int f = dear ? OPTIONS + (int)attest_draw_below(draws, SIZES)
                           : KV_HEADS + (int)attest_draw_below(draws, 2);
        if (dear && (l->held >> f & 1) && cuts < HELD_CUTS) {
            continue;
        }
        int64_t *size = size_field(c, f);
        const int64_t low = l->kept ? bands[f - OPTIONS][row[f]].low : 1, cut = *size * 3 / 4;
        *size = cut > low ? cut : low;
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
    static const attest_dtype kv[] = {ATTEST_F32, ATTEST_F16, ATTEST_BF16, ATTEST_F64,
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
    c->slopes_rank = row[ALIBI] == 2 ? 2 : 1;
}

/* A side of a window: any reach from none to all keys, or one whose edge is before the last row, so
 * that there is a key beyond it. */
static int64_t draw_reach(attest_draws *draws, const attest_case *c) {
    const int64_t inside = c->queries < c->keys ? c->queries : c->keys;
    return log_uniform(draws, 1, attest_draw_below(draws, 2) ? inside : c->keys + 1) - 1;
}

static void draw_window(attest_draws *draws, int level, attest_case *c) {
    if (level == 3) {
        c->window_size = log_uniform(draws, 1, c->keys + 1);
    } else if (level > 0) {
        c->window_left = draw_reach(draws, c);
        c->window_right = level == 2                            ? ATTEST_UNBOUNDED
                          : attest_draw_below(draws, 3) == 0 ? 0
                                                                : draw_reach(draws, c);
        if (level == 1 && attest_draw_below(draws, 6) == 0) {
            c->window_left = ATTEST_UNBOUNDED;
        }
    }
}

static void draw_mask(attest_draws *draws, int level, attest_case *c) {
    static const int64_t recipes[] = {ATTEST_MASK_RANDOM, ATTEST_MASK_RANDOM,   ATTEST_MASK_SPARSE,
                                      ATTEST_MASK_RANDOM, ATTEST_MASK_TRIANGLE, ATTEST_MASK_HEAD,
                                      ATTEST_MASK_SINGLE, ATTEST_MASK_ALL_VISIBLE};
    static const int64_t rank[] = {4, 4, 4, 4, 4, 4, 3, 2, 1};
    static const int64_t full[] = {15, 13, 14, 12, 9, 7, 14, 12, 8};
    const int64_t sizes[] = {c->batch, c->q_heads, c->queries, c->keys};
    if (level == 0) {
        return;
    }
    const attest_dtype wide = c->q_type == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    c->mask_type = level == 1 ? ATTEST_BOOL : level == 2 ? wide : c->q_type;
    c->mask = recipes[attest_draw_below(draws, 8)];
    int shape = (int)attest_draw_below(draws, 9);
    for (int64_t elements = MOST_MASK + 1; elements > MOST_MASK; shape = 8) {
        elements = 1;
        for (int axis = 0; axis < 4; axis++) {
            elements *= full[shape] >> axis & 1 ? sizes[axis] : 1;
        }
        c->mask_rank = rank[shape];
        c->mask_full = full[shape];
    }
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
    double most; /* nanoseconds of the cheapest case of a row; 0: no limit, bands are not kept */
    int all_triples;
} context;

static int regime_fits(const attest_kernel_info *k, const attest_case *c) {
    const int holes = c->qk == ATTEST_RECIPE_HOLES || c->v == ATTEST_RECIPE_HOLES;
    if (holes && (k->finite_only || k->isolation != ATTEST_ISOLATION_FULL)) {
        return 0;
    }
    /* Sums of many of these pass what binary16 holds. */
    return c->kv_type != ATTEST_F16 ||
           (c->qk != ATTEST_RECIPE_PEAKED && c->v != ATTEST_RECIPE_WIDE);
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
    if (known > DATA && !regime_fits(plan->kernel, &c)) {
        return 0;
    }
    const int affordable = c.q_heads <= MOST_HEADS && cost_of(&c) <= x->most;
    return (affordable || x->most == 0) && attest_kernel_covers(plan->kernel, &plan->profile, &c);
}

static int allows(const attest_covering *self, const int *row, size_t known) {
    return fits(self->context, row, known);
}

static int wants(const attest_covering *self, size_t f, size_t g, size_t h) {
    const context *x = self->context;
    return x->all_triples || (f < OPTIONS && g < OPTIONS && h >= OPTIONS && h < SIZES_END);
}

/* --------------------------------------------------------------------------- cases ----------- */

/* The case of a row, its values drawn from the plan's seed and the number. */
static double add_row(attest_plan *plan, const int *row, const limits *l, int64_t number) {
    attest_draws *draws = attest_draws_open(plan->seed ^ attest_mix((uint64_t)number), 0x66616374);
    attest_case c = attest_case_default(plan->check->name);
    if (draws == NULL) {
        plan->failed = 1;
        return l->most;
    }
    set_kinds(&c, row);
    draw_sizes(draws, row, l, &c);
    draw_values(draws, row, &c);
    if (!(plan->kernel->shapes & ATTEST_CAN_DV)) {
        c.value_size = c.head_size;
    }
    c.parameter[0] = ATTEST_ORACLE_COMPOUND;
    c.parameter[1] = number % 4 == 0; /* called twice, the second judged */
    attest_plan_add(plan, &c);
    attest_draws_close(draws);
    return cost_of(&c) * (c.parameter[1] ? 2 : 1);
}

static size_t covering_rows(attest_plan *plan, double most, int **rows) {
    context x = {.plan = plan, .most = most, .all_triples = plan->level >= ATTEST_FULL};
    const attest_covering space = {
        .levels = levels, .factors = FACTORS, .wants = wants, .allows = allows, .context = &x};
    return attest_covering_rows(&space, attest_mix(plan->seed), rows);
}

/* Where a case is large: nowhere much, along one or two axes, everywhere as far as it may cost. */
typedef enum stretch { CHEAP, ALONG, EVERYWHERE } stretch;

/* Swarm: in each case options are rare or even. Sizes are in any band, half of them low; or what
 * is to be large is in its last band. */
static int draw_row(attest_draws *draws, attest_plan *plan, stretch where, int *row, limits *l) {
    const context x = {.plan = plan};
    const int64_t share = attest_draw_below(draws, 2) ? 2 : 6;
    for (int f = 0; f < FACTORS; f++) {
        row[f] = 0;
        if (f < OPTIONS) {
            row[f] = attest_draw_below(draws, share) == 0
                         ? 1 + (int)attest_draw_below(draws, levels[f] - 1)
                         : 0;
        } else if (f >= SIZES_END || attest_draw_below(draws, 2) == 0) {
            row[f] = (int)attest_draw_below(draws, levels[f]);
        } else {
            row[f] = where == EVERYWHERE ? levels[f] - 1 : (int)attest_draw_below(draws, 2);
        }
    }
    for (int axes = where == ALONG ? 2 : 0; axes > 0; axes--) {
        const int f = OPTIONS + (int)attest_draw_below(draws, SIZES);
        row[f] = levels[f] - 1;
        l->held |= 1u << f;
    }
    return fits(&x, row, FACTORS);
}

/* The rows that cover, each followed by some at random; then random ones until cases of `budget`
 * nanoseconds are planned: mostly cheap ones, some dear. */
static void plan_compound(attest_plan *plan, double budget, double unit) {
    enum { BETWEEN = 4, MOST_REFUSED = 20000 };
    int *rows = NULL, row[FACTORS], refused = 0;
    const double most = 80 * unit;
    const int64_t count =
        plan->level == ATTEST_SMOKE ? 0 : (int64_t)covering_rows(plan, most, &rows);
    attest_draws *draws = attest_draws_open(attest_mix(plan->seed + 1), 0x737761726d);
    for (int64_t number = 0; draws != NULL && !plan->failed; number++) {
        if (number % BETWEEN == 0 && number / BETWEEN < count) {
            const limits l = {.most = most / 8, .kept = 1};
            budget -= add_row(plan, rows + number / BETWEEN * FACTORS, &l, number);
            continue;
        }
        if ((budget <= 0 || refused >= MOST_REFUSED) && number / BETWEEN >= count) {
            break;
        }
        const int64_t kind = attest_draw_below(draws, 256);
        const stretch where = kind < 6 ? EVERYWHERE : kind < 38 ? ALONG : CHEAP;
        const int dear = kind < 1 || (kind >= 6 && kind < 12);
        limits l = {.most = unit * (where == CHEAP ? 1 : dear ? 64 : 8)};
        if (budget > 0 && draw_row(draws, plan, where, row, &l)) {
            budget -= 500e3 + 2 * add_row(plan, row, &l, number);
        } else {
            refused++; /* a kernel may declare very little */
        }
    }
    attest_draws_close(draws);
    free(rows);
}

/* ------------------------------------------------------------------------- presets ----------- */

typedef struct model {
    const char *name;
    int64_t q_heads, kv_heads, head_size, value_size, window;
    uint64_t features;
    double softcap;
} model;

static const model models[] = {
    {"gpt-2", 12, 12, 64, 64, 0, ATTEST_CAUSAL, 0},
    {"llama-2-7b", 32, 32, 128, 128, 0, ATTEST_CAUSAL, 0},
    {"llama-3-8b", 32, 8, 128, 128, 0, ATTEST_CAUSAL, 0},
    {"qwen2-7b", 28, 4, 128, 128, 0, ATTEST_CAUSAL, 0},
    {"phi-3-mini", 32, 32, 96, 96, 0, ATTEST_CAUSAL, 0},
    {"falcon-7b", 71, 1, 64, 64, 0, ATTEST_CAUSAL, 0},
    {"bloom-7b", 32, 32, 128, 128, 0, ATTEST_CAUSAL | ATTEST_ALIBI, 0},
    {"gemma-2-9b", 16, 8, 256, 256, 48, ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_SOFTCAP, 50},
    {"mistral-7b", 32, 8, 128, 128, 48, ATTEST_CAUSAL | ATTEST_WINDOW, 0},
    {"gpt-oss-20b", 64, 8, 64, 64, 24, ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_SINKS, 0},
    {"deepseek-v2-lite", 16, 16, 192, 128, 0, ATTEST_CAUSAL, 0},
    {"bert-base", 12, 12, 64, 64, 0, ATTEST_KEY_LENGTHS, 0},
    {"vit-base", 12, 12, 64, 64, 0, 0, 0},
    {"t5-base", 12, 12, 64, 64, 0, ATTEST_MASK_ADD, 0},
};
enum { PREFILL, DECODE, CHUNK, USES, MODELS = sizeof models / sizeof *models };

const char *attest_preset_name(int64_t number) {
    return number > 0 && number <= MODELS * USES ? models[(number - 1) / USES].name : NULL;
}

/* Lengths such that a case costs at most `most`; a window keeps its share of them. */
static void plan_preset(attest_plan *plan, int number, double most) {
    const model *m = &models[number / USES];
    const int use = number % USES;
    attest_case c = attest_case_default(plan->check->name);
    const attest_dtype half = plan->kernel->dtypes >> ATTEST_BF16 & 1 ? ATTEST_BF16 : ATTEST_F16;
    c.q_type = c.kv_type = c.o_type =
        plan->kernel->dtypes >> half & 1 && number % 2 ? half : attest_plan_type(plan);
    c.q_heads = m->q_heads;
    c.kv_heads = m->kv_heads;
    c.head_size = m->head_size;
    c.value_size = m->value_size;
    c.features = m->features & plan->kernel->features;
    c.softcap = c.features & ATTEST_SOFTCAP ? m->softcap : 0;
    c.qk = c.v = ATTEST_RECIPE_BELL;
    c.threads = 4;
    for (c.keys = 4096; c.keys > 16; c.keys = c.keys * 7 / 8) {
        c.queries = use == DECODE ? 1 : use == CHUNK ? (c.keys + 7) / 8 : c.keys;
        if (cost_of(&c) <= most) {
            break;
        }
    }
    if (c.features & ATTEST_WINDOW) {
        c.window_left = c.keys * m->window / 128;
        c.window_right = 0;
    }
    if (c.features & ATTEST_KEY_LENGTHS) {
        c.lengths = ATTEST_LIST_RAGGED;
    }
    if (c.features & ATTEST_MASK_ADD) {
        c.mask_type = c.q_type == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
        c.mask_rank = 4;
        c.mask_full = 14;
        c.mask = ATTEST_MASK_ALL_VISIBLE;
    }
    if (plan->profile.default_scale == ATTN_SCALE_REQUIRED) {
        c.features |= ATTEST_SCALE;
        c.scale = 1 / sqrt((double)c.head_size);
    }
    c.parameter[0] = ATTEST_ORACLE_PRESET;
    c.parameter[1] = number + 1;
    attest_plan_add(plan, &c);
}

void attest_factors_plan(attest_plan *plan) {
    const double second = 1e9;
    const double budget = attest_plan_by_level(plan, 1, 130, 3000, 18000) * second;
    const double unit = attest_plan_by_level(plan, 1, 3, 10, 30) * 1e6;
    plan_compound(plan, budget, unit);
    for (int number = 0; number < MODELS * USES && plan->level > ATTEST_SMOKE; number++) {
        plan_preset(plan, number, 40 * unit);
    }
}
