/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/space.h"

#include <stdlib.h>
#include <string.h>

#include "certify/plan/data.h"
#include "certify/plan/pairwise.h"

enum factor {
    CAUSAL,
    WINDOW,
    LENGTHS,
    MASK,
    MASK_SHAPE,
    SCALE,
    SOFTCAP,
    SINKS,
    ALIBI,
    LSE,
    LAYOUT,
    TYPES,
    HEADS,
    BATCH,
    QUERIES,
    KEYS,
    SIZE,
    VALUE_SIZE,
    DATA,
    THREADS,
    FACTORS
};

/* Landmarks are lengths at which kernels are known to go wrong: tile widths, one more, primes. */
const int64_t *attest_landmark_queries(attest_level level) {
    static const int64_t smoke[] = {1, 2, 5, 9, -1};
    static const int64_t quick[] = {1, 2, 3, 7, 9, 17, 33, 65, -1};
    static const int64_t full[] = {1, 2, 3, 8, 9, 16, 17, 31, 33, 64, 65, 127, 129, -1};
    return level == ATTEST_SMOKE ? smoke : level == ATTEST_QUICK ? quick : full;
}

const int64_t *attest_landmark_keys(attest_level level) {
    static const int64_t smoke[] = {1, 3, 8, 17, 33, -1};
    static const int64_t quick[] = {1, 2, 7, 9, 17, 33, 64, 65, 129, 137, 257, 513, 1025, -1};
    static const int64_t full[] = {1,   2,   9,   17,  33,  64,  65,   127, 128,
                                   129, 137, 257, 513, 577, 700, 1025, -1};
    return level == ATTEST_SMOKE ? smoke : level == ATTEST_QUICK ? quick : full;
}

const int64_t *attest_landmark_sizes(attest_level level) {
    static const int64_t smoke[] = {1, 4, 8, -1};
    static const int64_t quick[] = {1, 3, 8, 17, 32, 64, 80, 128, -1};
    static const int64_t full[] = {1, 3, 8, 16, 17, 32, 64, 72, 80, 96, 128, 192, 256, -1};
    return level == ATTEST_SMOKE ? smoke : level == ATTEST_QUICK ? quick : full;
}

static int64_t pick(const int64_t *list, int value) { return list[value]; }

static int length(const int64_t *list) {
    int count = 0;
    while (list[count] >= 0) {
        count++;
    }
    return count;
}

static void set_causal(attest_case *c, int value) {
    static const int64_t offsets[] = {
        0, 0, ATTEST_LIST_RAGGED, ATTEST_LIST_ZERO, ATTEST_LIST_NEGATIVE, ATTEST_LIST_FAR};
    if (value >= 1) {
        c->features |= ATTEST_CAUSAL;
    }
    if (value >= 2) {
        c->features |= ATTEST_OFFSETS;
        c->offsets = offsets[value];
    }
}

static void set_window(attest_case *c, int value) {
    static const int64_t left[] = {-1, 2, 0, -1, 7}, right[] = {-1, -1, 3, 1, 0};
    if (value >= 1 && value <= 4) {
        c->features |= ATTEST_WINDOW;
        c->window_left = left[value];
        c->window_right = right[value];
    } else if (value == 5) {
        c->features |= ATTEST_WINDOW_SIZE;
        c->window_size = 3;
    }
}

static void set_mask(attest_case *c, int value) {
    static const int64_t recipe[] = {0,
                                     ATTEST_MASK_RANDOM,
                                     ATTEST_MASK_SPARSE,
                                     ATTEST_MASK_SINGLE,
                                     ATTEST_MASK_HEAD,
                                     ATTEST_MASK_RANDOM,
                                     ATTEST_MASK_SPARSE,
                                     ATTEST_MASK_ALL_VISIBLE};
    if (value == 0) {
        return;
    }
    const int additive = value >= 5;
    c->features |= additive ? ATTEST_MASK_ADD : ATTEST_MASK_BOOL;
    c->mask = recipe[value];
    c->mask_type = ATTEST_BOOL;
    if (additive) {
        const attest_dtype wide = c->q_type == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
        c->mask_type = value == 6 ? c->q_type : wide;
    }
}

static void set_mask_shape(attest_case *c, int value) {
    static const int64_t rank[] = {4, 4, 4, 4, 2, 3, 1, 0};
    static const int64_t full[] = {15, 12, 9, 7, 12, 14, 8, 0};
    if (c->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
        c->mask_rank = rank[value];
        c->mask_full = full[value];
        if (c->mask_full == 0 && c->mask != ATTEST_MASK_ALL_VISIBLE) {
            c->mask = ATTEST_MASK_RANDOM; /* one element, visible: a mask that hides all is dull */
        }
    }
}

static void set_types(attest_case *c, int value) {
    static const attest_dtype q[] = {ATTEST_F32, ATTEST_F64, ATTEST_F16, ATTEST_BF16,
                                     ATTEST_F16, ATTEST_F32, ATTEST_BF16};
    static const attest_dtype kv[] = {ATTEST_F32, ATTEST_F64,  ATTEST_F16, ATTEST_BF16,
                                      ATTEST_F16, ATTEST_BF16, ATTEST_BF16};
    static const attest_dtype o[] = {ATTEST_F32, ATTEST_F64, ATTEST_F16, ATTEST_BF16,
                                     ATTEST_F32, ATTEST_F32, ATTEST_F32};
    c->q_type = q[value];
    c->kv_type = kv[value];
    c->o_type = o[value];
}

/* The case of a row; factors from `known` on are at their first value. */
static attest_case make(const attest_space *space, const char *check, const int *given,
                        size_t known) {
    static const int64_t q_heads[] = {1, 2, 4, 6, 13, 12}, kv_heads[] = {1, 2, 2, 3, 1, 3};
    static const double scales[] = {0, 0.25, -0.5, 0.0};
    static const double caps[] = {0, 2, 30};
    static const int64_t data[] = {ATTEST_RECIPE_COARSE, ATTEST_RECIPE_FINE, ATTEST_RECIPE_PEAKED};
    int row[FACTORS] = {0};
    memcpy(row, given, known * sizeof *row);
    attest_case c = attest_case_default(check);
    c.features = space->always;
    set_types(&c, row[TYPES]);
    set_causal(&c, row[CAUSAL]);
    set_window(&c, row[WINDOW]);
    if (row[LENGTHS]) {
        c.features |= ATTEST_KEY_LENGTHS;
        c.lengths = row[LENGTHS] == 1 ? ATTEST_LIST_RAGGED : ATTEST_LIST_ZERO;
    }
    set_mask(&c, row[MASK]);
    set_mask_shape(&c, row[MASK_SHAPE]);
    if (row[SCALE]) {
        c.features |= ATTEST_SCALE;
        c.scale = scales[row[SCALE]];
    }
    if (row[SOFTCAP]) {
        c.features |= ATTEST_SOFTCAP;
        c.softcap = caps[row[SOFTCAP]];
    }
    c.features |= row[SINKS] ? ATTEST_SINKS : 0;
    c.features |= row[ALIBI] ? ATTEST_ALIBI : 0;
    c.slopes_rank = row[ALIBI] == 2 ? 2 : 1;
    c.features |= row[LSE] ? ATTEST_LSE : 0;
    c.layout = row[LAYOUT];
    c.q_heads = q_heads[row[HEADS]];
    c.kv_heads = kv_heads[row[HEADS]];
    c.batch = 1 + row[BATCH];
    c.queries = pick(space->queries, row[QUERIES]);
    c.keys = pick(space->keys, row[KEYS]);
    c.head_size = pick(space->head_sizes, row[SIZE]);
    c.value_size =
        row[VALUE_SIZE] ? (c.head_size > 8 ? c.head_size - 8 : c.head_size + 5) : c.head_size;
    c.qk = data[row[DATA]];
    c.v = row[DATA] == 1 ? ATTEST_RECIPE_FINE : ATTEST_RECIPE_COARSE;
    c.threads = 1 + 2 * row[THREADS];
    return c;
}

#define MOST_WORK (INT64_C(1) << 22)

typedef struct restriction {
    const attest_plan *plan;
    const attest_space *space;
} restriction;

#define HIDING                                                                                     \
    (ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_WINDOW_SIZE | ATTEST_KEY_LENGTHS | ATTEST_MASK_BOOL |  \
     ATTEST_MASK_ADD)

static int allowed(const int *row, size_t known, void *context) {
    const restriction *r = context;
    const attest_space *space = r->space;
    attest_case c = make(space, r->plan->check->name, row, known);
    if (c.features & space->never) {
        return 0;
    }
    if (known <= SCALE && r->plan->profile.default_scale == ATTN_SCALE_REQUIRED) {
        c.features |= r->plan->kernel->features & ATTEST_SCALE; /* still to be chosen */
    }
    if (known <= TYPES) {
        c.q_type = c.kv_type = c.o_type = attest_plan_type(r->plan);
    } else if (known > DATA && c.q_type == ATTEST_F16 && row[DATA] == 2) {
        return 0; /* binary16 holds no peaked sums of many keys: left to the magnitude cases */
    }
    if (known > MASK_SHAPE && row[MASK] == 0 && row[MASK_SHAPE] != 0) {
        return 0; /* without a mask its shape is no choice */
    }
    if (known > BATCH && row[LAYOUT] == ATTEST_LAYOUT_BROADCAST && row[BATCH] == 0) {
        return 0;
    }
    /* Multiplications of the naive kernel: a case is to take milliseconds. */
    if (known > VALUE_SIZE &&
        c.batch * c.q_heads * c.queries * c.keys * (c.head_size + c.value_size) > MOST_WORK) {
        return 0;
    }
    if (space->exact && known > SOFTCAP && row[SOFTCAP]) {
        return 0;
    }
    if (space->options_that_hide && known > MASK && !(c.features & HIDING)) {
        return 0;
    }
    return attest_kernel_covers(r->plan->kernel, &r->plan->profile, &c);
}

/* One set of rows with every pair; to be freed. */
static size_t rows_of(attest_plan *plan, const attest_space *space, int round, int **rows) {
    const int levels[FACTORS] = {[CAUSAL] = 6,
                                 [WINDOW] = 6,
                                 [LENGTHS] = 3,
                                 [MASK] = 8,
                                 [MASK_SHAPE] = 8,
                                 [SCALE] = 4,
                                 [SOFTCAP] = 3,
                                 [SINKS] = 2,
                                 [ALIBI] = 3,
                                 [LSE] = 2,
                                 [LAYOUT] = ATTEST_LAYOUT_MIXED, /* those from here on have cases of
                                                             their own */
                                 [TYPES] = 7,
                                 [HEADS] = 6,
                                 [BATCH] = 3,
                                 [QUERIES] = length(space->queries),
                                 [KEYS] = length(space->keys),
                                 [SIZE] = length(space->head_sizes),
                                 [VALUE_SIZE] = 2,
                                 [DATA] = 3,
                                 [THREADS] = 2};
    restriction r = {.plan = plan, .space = space};
    const uint64_t seed = attest_mix(plan->seed ^ (uint64_t)round << 48);
    *rows = NULL;
    return attest_pairwise(levels, FACTORS, seed, allowed, &r, rows);
}

void attest_space_plan(attest_plan *plan, const attest_space *space,
                       void (*change)(attest_plan *plan, attest_case *c, int number)) {
    int number = 0;
    for (int round = 0; round < (space->rounds > 1 ? space->rounds : 1); round++) {
        int *rows = NULL;
        size_t count = rows_of(plan, space, round, &rows);
        if (space->most > 0 && count > (size_t)space->most) {
            count = (size_t)space->most;
        }
        for (size_t i = 0; i < count; i++) {
            attest_case c = make(space, plan->check->name, rows + i * FACTORS, FACTORS);
            if (change != NULL) {
                change(plan, &c, number++);
            }
            attest_plan_add(plan, &c);
        }
        free(rows);
    }
}

/* Moves a case to a length; what else is large gives way. */
static void move_to(attest_case *c, attest_axis axis, int64_t length) {
    const int same = c->value_size == c->head_size;
    int64_t *const fields[] = {&c->keys, &c->queries, &c->head_size};
    *fields[axis] = length;
    c->value_size = same ? c->head_size : c->value_size;
    if (c->batch * c->q_heads * c->queries * c->keys * (c->head_size + c->value_size) > MOST_WORK) {
        c->q_heads = c->kv_heads;
        c->queries = axis != ATTEST_AXIS_QUERIES && c->queries > 3 ? 3 : c->queries;
        c->keys = axis != ATTEST_AXIS_KEYS && c->keys > 65 ? 65 : c->keys;
    }
}

void attest_space_plan_boundaries(attest_plan *plan, const attest_space *space,
                                  void (*change)(attest_plan *plan, attest_case *c, int number)) {
    enum { ROOM = 25 };
    int64_t lengths[ROOM];
    int *rows = NULL, number = 0;
    size_t count = 0;
    for (int axis = ATTEST_AXIS_KEYS; axis <= ATTEST_AXIS_HEAD_SIZE; axis++) {
        const int found =
            attest_boundary_lengths(plan->boundaries, (attest_axis)axis, lengths, ROOM);
        if (found > 0 && rows == NULL) {
            count = rows_of(plan, space, 0, &rows);
        }
        for (int i = 0; i < found && count > 0; i++, number++) {
            attest_case c =
                make(space, plan->check->name, rows + (size_t)number % count * FACTORS, FACTORS);
            move_to(&c, (attest_axis)axis, lengths[i]);
            if (change != NULL) {
                change(plan, &c, number);
            }
            attest_plan_add(plan, &c);
        }
    }
    free(rows);
}

void attest_space_ids(const attest_case *c, attest_ids *ids) {
    static const struct {
        uint64_t feature;
        const char *ids;
    } table[] = {
        {ATTEST_CAUSAL, "MASK-01"},
        {ATTEST_WINDOW, "MASK-02"},
        {ATTEST_KEY_LENGTHS, "MASK-03"},
        {ATTEST_MASK_BOOL, "MASK-05 MASK-07"},
        {ATTEST_MASK_ADD, "MASK-06 MASK-07 MASK-08"},
        {ATTEST_WINDOW_SIZE, "MASK-10"},
        {ATTEST_SOFTCAP, "SEM-05"},
        {ATTEST_SINKS, "SEM-09"},
        {ATTEST_ALIBI, "SEM-08"},
        {ATTEST_LSE, "SEM-10 NUM-05"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (c->features & table[i].feature) {
            attest_ids_add(ids, table[i].ids);
        }
    }
    if ((c->features & ATTEST_CAUSAL) && (c->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD))) {
        attest_ids_add(ids, "MASK-11");
    }
    if ((c->features & ATTEST_CAUSAL) && !(c->features & ATTEST_OFFSETS) && c->queries != c->keys) {
        attest_ids_add(ids, "MASK-09");
    }
    if (!(c->features & ATTEST_SCALE)) {
        attest_ids_add(ids, "SEM-13");
    } else if (c->scale <= 0) {
        attest_ids_add(ids, "SPV-06");
    }
    if (c->q_heads != c->kv_heads) {
        attest_ids_add(ids, "SEM-11");
    }
    if (c->layout != ATTEST_LAYOUT_DENSE) {
        attest_ids_add(ids, "MEM-08");
    }
    if (c->queries == 1 || c->keys == 1 || c->head_size == 1 || c->value_size == 1) {
        attest_ids_add(ids, "SPV-08");
    }
    attest_ids_add(ids, "SEM-01 SEM-02 MASK-04");
}
