/* SPDX-License-Identifier: GPL-3.0-or-later */
/* K2: what a row may not see is replaced; the row's bits must stay. One rung a case (parameter 0),
 * from other finite values to NaN in V; then K and V of other batch entries and KV heads, then all
 * of Q and of the mask that belongs to other rows, other heads included. Those two hold NaN and
 * infinity where parameter 1 is set. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/host/workbench.h"
#include "certify/plan/data.h"
#include "certify/plan/space.h"
#include "reference/problem/convert.h"

typedef enum rung {
    FINITE = ATTEST_ISOLATION_FINITE,
    EXTREME = ATTEST_ISOLATION_EXTREME,
    BAD_KEYS = ATTEST_ISOLATION_BAD_KEYS,
    BAD_VALUES = ATTEST_ISOLATION_FULL,
    OTHER_ENTRIES, /* other batch entries and KV heads */
    OTHER_ROWS,    /* Q of other rows */
    RUNGS
} rung;

static const char *const rung_ids[RUNGS] = {
    [FINITE] = "ISO-02",     [EXTREME] = "ISO-03",       [BAD_KEYS] = "ISO-04",
    [BAD_VALUES] = "ISO-05", [OTHER_ENTRIES] = "ISO-06", [OTHER_ROWS] = "ISO-07",
};

static void change_rung(attest_plan *plan, attest_case *c, int number) {
    const uint32_t top = plan->kernel->isolation;
    c->parameter[0] = 1 + number % (top > 0 ? (int)top : 1);
}

static void change_other(attest_plan *plan, attest_case *c, int number) {
    const int anything =
        plan->kernel->isolation == ATTEST_ISOLATION_FULL && !plan->kernel->finite_only;
    c->parameter[0] = number % 2 == 0 ? OTHER_ENTRIES : OTHER_ROWS;
    c->parameter[1] = anything && number % 4 >= 2;
    if (c->layout == ATTEST_LAYOUT_BROADCAST) {
        c->layout = ATTEST_LAYOUT_DENSE; /* entries that share their memory are not other ones */
    }
    if (c->parameter[0] == OTHER_ENTRIES && c->batch == 1 && c->kv_heads == 1) {
        c->batch = 2;
    }
    c->queries += c->parameter[0] == OTHER_ROWS && c->queries == 1;
}

/* One case a rung in which some key is hidden from some row for certain. */
static void plan_sure(attest_plan *plan) {
    static const uint64_t ways[] = {ATTEST_CAUSAL, ATTEST_KEY_LENGTHS, ATTEST_MASK_BOOL,
                                    ATTEST_MASK_ADD, ATTEST_WINDOW};
    for (int r = FINITE; r <= (int)plan->kernel->isolation; r++) {
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            attest_case c = attest_plan_case(plan);
            c.batch = 2;
            c.queries = 5;
            c.keys = 9;
            c.head_size = c.value_size = 4;
            c.features = ways[w];
            c.lengths = ATTEST_LIST_ONE;
            c.parameter[0] = r;
            if (c.features & ATTEST_WINDOW) {
                c.window_left = 1;
                c.window_right = 0;
            }
            if (c.features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
                c.mask = ATTEST_MASK_HEAD;
                c.mask_rank = 2;
                c.mask_full = 12;
                c.mask_type = c.features & ATTEST_MASK_BOOL ? ATTEST_BOOL : c.q_type;
            }
            attest_plan_scale(plan, &c, 0.25);
            attest_plan_add(plan, &c);
        }
    }
}

/* The same hiding said in other ways: a kernel may have a path for each. */
static const struct {
    uint64_t features;
    attest_mask_recipe mask;
} spellings[] = {
    {ATTEST_CAUSAL, ATTEST_MASK_RANDOM},
    {ATTEST_MASK_BOOL, ATTEST_MASK_TRIANGLE},
    {ATTEST_MASK_ADD, ATTEST_MASK_TRIANGLE},
    {ATTEST_MASK_BOOL, ATTEST_MASK_HEAD},
    {ATTEST_MASK_ADD, ATTEST_MASK_HEAD},
    {ATTEST_KEY_LENGTHS, ATTEST_MASK_RANDOM},
    {ATTEST_WINDOW | ATTEST_CAUSAL, ATTEST_MASK_RANDOM},
};

/* Each rung by each spelling in each band of sizes, and beside the boundaries found. */
static void plan_bands(attest_plan *plan) {
    enum { SIZES = 6, ROOM = 25 };
    static const int64_t sizes[SIZES][2] = {{5, 9},     {30, 40},   {70, 140},
                                            {270, 300}, {1100, 20}, {9, 4500}};
    int64_t beside[2][ROOM] = {{-1}, {-1}};
    const int rows =
        attest_boundary_lengths(plan->boundaries, ATTEST_AXIS_QUERIES, beside[0], ROOM);
    const int keys = attest_boundary_lengths(plan->boundaries, ATTEST_AXIS_KEYS, beside[1], ROOM);
    const int places = plan->level == ATTEST_SMOKE ? 3 : SIZES + rows + keys;
    for (int r = FINITE; r <= (int)plan->kernel->isolation; r++) {
        for (size_t s = 0; s < sizeof spellings / sizeof *spellings; s++) {
            for (int place = 0; place < places; place++) {
                attest_case c = attest_case_default(plan->check->name);
                const int beyond = place - SIZES;
                c.queries = beyond < 0 ? sizes[place][0] : beyond < rows ? beside[0][beyond] : 5;
                c.keys = beyond < 0      ? sizes[place][1]
                         : beyond < rows ? 40
                                         : beside[1][beyond - rows];
                c.q_type = c.kv_type = c.o_type = attest_plan_type(plan);
                c.head_size = c.value_size = 4;
                c.qk = c.v = ATTEST_RECIPE_FINE;
                c.features = spellings[s].features;
                c.lengths = ATTEST_LIST_RAGGED;
                c.window_left = c.features & ATTEST_WINDOW ? c.keys / 4 : c.window_left;
                if (c.features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
                    c.mask = spellings[s].mask;
                    c.mask_rank = 2;
                    c.mask_full = 12;
                    c.mask_type = c.features & ATTEST_MASK_BOOL ? ATTEST_BOOL : c.q_type;
                }
                if (plan->profile.default_scale == ATTN_SCALE_REQUIRED) {
                    c.features |= ATTEST_SCALE;
                    c.scale = 0.25;
                }
                c.parameter[0] = r;
                attest_plan_add(plan, &c);
            }
        }
    }
}

static void plan(attest_plan *plan) {
    static const int64_t queries[] = {2, 5, 17, 66, -1}, keys[] = {2, 9, 33, 65, 130, -1};
    static const int64_t few_q[] = {2, 5, 9, -1}, few_k[] = {2, 9, 17, -1}, few_d[] = {4, 8, -1};
    const int small = plan->level == ATTEST_SMOKE;
    attest_space space = {.queries = small ? few_q : queries,
                          .keys = small ? few_k : keys,
                          .head_sizes = few_d,
                          .options_that_hide = 1,
                          .most = attest_plan_by_level(plan, 16, 96, 0, 0),
                          .rounds = attest_plan_by_level(plan, 1, 4, 30, 100)};
    if (plan->kernel->isolation > 0) {
        attest_space_plan(plan, &space, change_rung);
        attest_space_plan_boundaries(plan, &space, change_rung);
    }
    plan_sure(plan);
    plan_bands(plan);
    space.options_that_hide = 0;
    space.most = attest_plan_by_level(plan, 8, 40, 0, 0);
    attest_space_plan(plan, &space, change_other);
}

/* Of key j: the largest number of the type, a third of the keys; 1e30; its root. Products of any of
 * them overflow, or do not. */
static double extreme(attest_dtype dtype, int64_t j) {
    const double largest = dtype == ATTEST_F16    ? 65504.0
                           : dtype == ATTEST_BF16 ? 0x1.fep127
                           : dtype == ATTEST_F32  ? (double)FLT_MAX
                                                  : DBL_MAX;
    return j % 3 == 0 ? largest : j % 3 == 1 && dtype != ATTEST_F16 ? 1e30 : sqrt(largest);
}

static double poison(rung r, int in_v, attest_dtype dtype, int64_t j, int64_t e) {
    const double top = extreme(dtype, j);
    const double bottom = dtype == ATTEST_F16   ? 0x1p-24
                          : dtype == ATTEST_F64 ? 0x1p-1074
                                                : 0x1p-133;
    switch (r) {
    case EXTREME:
        return (j + e) % 2 ? (j % 4 < 2 ? top : -top) : bottom;
    case BAD_KEYS:
    case BAD_VALUES:
        if (in_v == (r == BAD_VALUES)) {
            return (j + e) % 3 == 0 ? (double)INFINITY : (double)NAN;
        }
        /* fall through */
    default:
        return (double)((j * 5 + e * 3) % 29 - 14) / 4;
    }
}

static void poison_key(attest_workbench *bench, rung r, int64_t b, int64_t g, int64_t j) {
    const attest_problem *p = &bench->stage.problem;
    for (int64_t e = 0; e < bench->normal.head_size; e++) {
        attest_put(&p->k, b, g, j, e, poison(r, 0, p->k.dtype, j, e));
    }
    for (int64_t e = 0; e < bench->normal.value_size; e++) {
        attest_put(&p->v, b, g, j, e, poison(r, 1, p->v.dtype, j, e));
    }
}

/* Whether row (b,h,i) reads any key marked in `hit`, which has a byte per [b,g,j]. */
static int row_is_hit(const attest_workbench *bench, const unsigned char *hit, int64_t b, int64_t h,
                      int64_t i, unsigned char *visible) {
    const attn_normal *n = &bench->normal;
    const unsigned char *keys = hit + (b * n->kv_heads + attn_kv_head(n, h)) * n->keys;
    const int64_t seen = attn_visible_keys(n, b, h, i, visible);
    if (seen == 0 && bench->profile.empty_row == ATTN_EMPTY_MEAN_OF_ALL) {
        return 1; /* the exception that ISO-01 allows */
    }
    for (int64_t j = 0; j < n->keys; j++) {
        if (visible[j] && keys[j]) {
            return 1;
        }
    }
    return 0;
}

/* Hides from everyone else: all keys that row `target` of each head does not see. */
static int64_t poison_invisible(attest_workbench *bench, rung r, int64_t target, unsigned char *hit,
                                unsigned char *visible) {
    const attn_normal *n = &bench->normal;
    const int64_t group = n->q_heads / n->kv_heads;
    const int shared = bench->stage.problem.k.stride[0] == 0 && n->batch > 1;
    int64_t count = 0;
    memset(hit, 1, (size_t)(n->batch * n->kv_heads * n->keys));
    for (int64_t b = 0; b < n->batch; b++) {
        for (int64_t h = 0; h < n->q_heads; h++) {
            if (h % group != 0 && bench->profile.gqa_order == ATTN_GQA_GROUPED) {
                continue; /* one row a KV head: more would leave nothing to poison */
            }
            attn_visible_keys(n, b, h, target, visible);
            for (int64_t j = 0; j < n->keys; j++) {
                for (int64_t other = 0; other < n->batch; other++) {
                    if (visible[j] && (other == b || shared)) {
                        hit[(other * n->kv_heads + attn_kv_head(n, h)) * n->keys + j] = 0;
                    }
                }
            }
        }
    }
    for (int64_t b = 0; b < n->batch; b++) {
        for (int64_t g = 0; g < n->kv_heads; g++) {
            for (int64_t j = 0; j < n->keys; j++) {
                if (hit[(b * n->kv_heads + g) * n->keys + j]) {
                    poison_key(bench, r, b, g, j);
                    count++;
                }
            }
        }
    }
    return count;
}

static int64_t poison_others(attest_workbench *bench, int bad, unsigned char *hit) {
    const attn_normal *n = &bench->normal;
    int64_t count = 0;
    for (int64_t b = 0; b < n->batch; b++) {
        for (int64_t g = 0; g < n->kv_heads; g++) {
            const int keep = b == n->batch - 1 && g == n->kv_heads / 2;
            for (int64_t j = 0; j < n->keys; j++) {
                hit[(b * n->kv_heads + g) * n->keys + j] = (unsigned char)!keep;
                if (!keep) {
                    poison_key(bench, bad ? BAD_VALUES : FINITE, b, g, j);
                    count++;
                }
            }
        }
    }
    return count;
}

/* The mask's rows but one, where it has rows: seen becomes hidden and the other way round. */
static void poison_mask_rows(attest_workbench *bench, int64_t target) {
    const attest_tensor *mask = &bench->stage.problem.mask;
    const uint32_t pad = ATTEST_MAX_RANK - mask->rank;
    int64_t n[ATTEST_MAX_RANK], at[2 * ATTEST_MAX_RANK] = {0};
    if (mask->dtype == 0 || pad > 2 || mask->shape[2 - pad] == 1) {
        return;
    }
    for (uint32_t axis = 0; axis < ATTEST_MAX_RANK; axis++) {
        n[axis] = axis < pad ? 1 : mask->shape[axis - pad];
    }
    for (at[0] = 0; at[0] < n[0]; at[0]++) {
        for (at[1] = 0; at[1] < n[1]; at[1]++) {
            for (at[2] = 0; at[2] < n[2]; at[2]++) {
                for (at[3] = 0; at[2] != target && at[3] < n[3]; at[3]++) {
                    void *cell = (void *)(uintptr_t)attn_element(mask, at + pad);
                    if (mask->dtype == ATTEST_BOOL) {
                        *(unsigned char *)cell = *(unsigned char *)cell == 0;
                    } else {
                        attn_store(mask->dtype, cell, 0.5);
                    }
                }
            }
        }
    }
}

/* All of Q but one row of one head of one entry. */
static int64_t poison_rows(attest_workbench *bench, int bad, int64_t target, unsigned char *rows) {
    const attn_normal *n = &bench->normal;
    const attest_tensor *q = &bench->stage.problem.q;
    int64_t count = 0;
    unsigned char *row = rows;
    poison_mask_rows(bench, target);
    for (int64_t b = 0; b < n->batch; b++) {
        for (int64_t h = 0; h < n->q_heads; h++) {
            for (int64_t i = 0; i < n->queries; i++, row++) {
                *row = b == n->batch - 1 && h == n->q_heads / 2 && i == target;
                for (int64_t e = 0; !*row && e < n->head_size; e++) {
                    attest_put(q, b, h, i, e, poison(bad ? BAD_KEYS : FINITE, 0, q->dtype, i, e));
                    count++;
                }
            }
        }
    }
    return count;
}

static void label(rung r, attest_result *result) {
    static const char *const labels[RUNGS] = {
        [FINITE] = "leak",
        [EXTREME] = "leak of extremes",
        [BAD_KEYS] = "K-leak",
        [BAD_VALUES] = "V-leak",
        [OTHER_ENTRIES] = "cross-batch or cross-head leak",
        [OTHER_ROWS] = "cross-row leak",
    };
    if (attest_verdict_is_bad(result->verdict)) {
        snprintf(result->label, sizeof result->label, "%s", labels[r]);
    }
}

typedef struct marks {
    unsigned char *hit, *rows, *visible;
} marks;

/* One round: poison around one row, call, compare the rows that see nothing of it. Returns how many
 * rows were compared, or -1 if the case is decided. */
static int64_t round_of(attest_workbench *bench, const attest_case *c, rung r, int64_t target,
                        const attest_kept *kept, const marks *m, attest_result *result) {
    const attn_normal *n = &bench->normal;
    if (!attest_workbench_build(bench, c, result)) {
        return -1;
    }
    const int bad = c->parameter[1] != 0;
    int64_t changed = r == OTHER_ROWS      ? poison_rows(bench, bad, target, m->rows)
                      : r == OTHER_ENTRIES ? poison_others(bench, bad, m->hit)
                                           : poison_invisible(bench, r, target, m->hit, m->visible);
    int64_t compared = 0;
    for (int64_t row = 0; row < n->batch * n->q_heads * n->queries; row++) {
        if (r != OTHER_ROWS) {
            m->rows[row] = !row_is_hit(bench, m->hit, row / (n->q_heads * n->queries),
                                       row / n->queries % n->q_heads, row % n->queries, m->visible);
        }
        compared += m->rows[row];
    }
    if (changed == 0 || compared == 0) {
        return 0;
    }
    if (!attest_workbench_forward(bench, ATTEST_PATTERN_NOISE, result) ||
        !attest_compare(bench, kept, m->rows, rung_ids[r],
                        r == OTHER_ENTRIES ? CLASS_NEIGHBOURS : CLASS_HIDDEN_VALUE,
                        "a row changed with data it may not see", result)) {
        label(r, result);
        return -1;
    }
    return compared;
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    const rung r =
        c->parameter[0] >= FINITE && c->parameter[0] < RUNGS ? (rung)c->parameter[0] : FINITE;
    attest_ids_add(&result->ids, rung_ids[r]);
    if (r <= BAD_VALUES) {
        attest_ids_add(&result->ids, "ISO-01");
    }
    if (!attest_workbench_build(bench, c, result) ||
        !attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
        return;
    }
    const attn_normal *n = &bench->normal;
    attest_kept kept = attest_keep(bench);
    marks m = {.hit = malloc((size_t)(n->batch * n->kv_heads * n->keys) + 1),
               .rows = calloc((size_t)(n->batch * n->q_heads * n->queries) + 1, 1),
               .visible = malloc((size_t)n->keys + 1)};
    int64_t compared = 0;
    if (m.hit && m.rows && m.visible) {
        const int64_t targets[] = {0, n->queries / 2, n->queries - 1};
        for (int t = 0; t < 3 && compared >= 0; t++) {
            if (t == 0 || targets[t] != targets[t - 1]) {
                int64_t more = round_of(bench, c, r, targets[t], &kept, &m, result);
                compared = more < 0 ? -1 : compared + more;
            }
        }
        if (compared == 0) {
            attest_result_mistrust(result, "nothing is invisible to a row that could be compared");
        }
    } else {
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: not enough memory");
    }
    free(m.hit);
    free(m.rows);
    free(m.visible);
    attest_kept_free(&kept);
}

const attest_check attest_check_poison = {
    .name = "poison",
    .sentence = "Replacing what a row may not see leaves the row's bits as they were.",
    .requirements = "ISO-01 ISO-02 ISO-03 ISO-04 ISO-05 ISO-06 ISO-07",
    .classes = {CLASS_OPTION_IGNORED, CLASS_SEQUENCE_LEAK, CLASS_EMPTY_TILE, CLASS_FINITE_INFINITY,
                CLASS_HIDDEN_VALUE, CLASS_TAIL, CLASS_NEIGHBOURS},
    .catalogue = "K2 K3 K12",
    .structural = 1,
    .plan = plan,
    .run = run,
};
