/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The special-value table, executed: one value planted at one visible place of one operand, and
 * what must come of it element by element; axes of length 0; data so small that a kernel which
 * flushes denormals shows it. Parameter 0 is the operand, 1 the value, 2 the key.
 */
#include <math.h>
#include <stdlib.h>

#include "certify/host/workbench.h"
#include "certify/judge/judge.h"
#include "certify/plan/data.h"
#include "certify/plan/plan.h"

typedef enum operand {
    IN_Q,
    IN_K,
    IN_V,
    IN_MASK,
    IN_SINK,
    OPERANDS,
    EMPTY_AXIS,
    TINY,
    LOW_ROW,
    ALL_MINUS_INF /* every score of the row, by infinities in k */
} operand;
typedef enum planted {
    PLUS_NAN,
    PLUS_INF,
    MINUS_INF,
    MINUS_ZERO,
    DENORMAL,
    LARGEST,
    VALUES
} planted;

static const char *const ids[VALUES] = {"SPV-01", "SPV-02", "SPV-02", "SPV-03", "SPV-04", "NUM-06"};

static attest_case base_case(const attest_plan *plan) {
    attest_case c = attest_plan_case(plan);
    c.queries = 3;
    c.keys = 70;
    c.head_size = c.value_size = 8;
    c.features = plan->kernel->features & ATTEST_LSE;
    attest_plan_scale(plan, &c, 0.25);
    return c;
}

static void set_mask(attest_case *c, uint64_t kind, int64_t recipe) {
    const attest_dtype wide = c->q_type == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    c->features |= kind;
    c->mask = recipe;
    c->mask_type = kind == ATTEST_MASK_BOOL ? ATTEST_BOOL : wide;
    c->mask_rank = 2;
    c->mask_full = 12;
}

/* Sizes a kernel may have a path of its own for, causal or not, by flag or by mask. */
static const struct {
    int64_t queries, keys;
    uint64_t features;
} shapes[] = {
    {3, 70, 0},
    {70, 70, ATTEST_CAUSAL},
    {66, 140, 0},
    {600, 20, 0},
    {2, 1100, 0},
    {66, 1100, ATTEST_CAUSAL},
    {300, 300, ATTEST_CAUSAL},
    {70, 70, ATTEST_MASK_BOOL},
    {70, 70, ATTEST_MASK_ADD},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* The isolation a kernel must claim to be asked for rows that do not see the place. */
static uint32_t rung_of(const attest_case *c) {
    const int in_k = c->parameter[0] == IN_K || c->parameter[0] == ALL_MINUS_INF;
    if (!in_k && c->parameter[0] != IN_V) {
        return ATTEST_ISOLATION_NONE;
    }
    return c->parameter[1] > MINUS_INF ? ATTEST_ISOLATION_EXTREME
           : in_k                      ? ATTEST_ISOLATION_BAD_KEYS
                                       : ATTEST_ISOLATION_FULL;
}

/* Adds the case unless a value that is not finite is beyond what the kernel takes. Where it does
 * not promise enough for rows that do not see the place, that is the first key, which all see. */
static void add_planted(attest_plan *plan, int shape, int where, int value, int64_t key) {
    attest_case c = base_case(plan);
    const int finite = value >= MINUS_ZERO || (where == IN_MASK && value == MINUS_INF);
    if (plan->kernel->finite_only && !finite) {
        return;
    }
    c.queries = shapes[shape].queries;
    c.keys = shapes[shape].keys;
    c.features |= shapes[shape].features & ATTEST_CAUSAL;
    if (where == IN_MASK) {
        set_mask(&c, ATTEST_MASK_ADD, ATTEST_MASK_ALL_VISIBLE);
    } else if (shapes[shape].features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
        set_mask(&c, shapes[shape].features, ATTEST_MASK_TRIANGLE);
    }
    c.features |= where == IN_SINK ? ATTEST_SINKS : 0;
    c.parameter[0] = where;
    c.parameter[1] = value;
    c.parameter[2] = key;
    c.parameter[3] = shape > 0 ? c.queries - 1 : 0; /* the row; 0 stands for 1 */
    if (shapes[shape].features != 0 && plan->kernel->isolation < rung_of(&c)) {
        if (where == ALL_MINUS_INF) {
            return;
        }
        c.parameter[2] = 0;
    }
    attest_plan_add(plan, &c);
}

/* The first and last key, and the first of a tile of 8, 16, 32 and 64; at other sizes one early and
 * one late. */
static void plan_planted(attest_plan *plan) {
    static const int64_t places[] = {0, 69, 64, 32, 16, 8, 31};
    const int count = attest_plan_by_level(plan, 3, 7, 7, 7);
    const int sizes = attest_plan_by_level(plan, 3, SHAPES, SHAPES, SHAPES);
    for (int where = IN_Q; where < OPERANDS; where++) {
        const int once = where == IN_Q || where == IN_SINK; /* no key to place it at */
        for (int value = 0; value < VALUES; value++) {
            for (int place = 0; place < (once ? 1 : count); place++) {
                add_planted(plan, 0, where, value, places[place]);
            }
            for (int shape = 1; shape < sizes; shape++) {
                add_planted(plan, shape, where, value, shapes[shape].keys / 3);
                add_planted(plan, shape, where, value, once ? 0 : shapes[shape].keys * 9 / 10);
            }
        }
    }
    for (int shape = 0; shape < sizes; shape++) {
        add_planted(plan, shape, ALL_MINUS_INF, MINUS_INF, 0);
    }
}

static void plan_rest(attest_plan *plan) {
    for (int axis = 0; axis < 5; axis++) {
        attest_case c = base_case(plan);
        int64_t *const axes[] = {&c.batch, &c.q_heads, &c.queries, &c.keys, &c.value_size};
        c.parameter[0] = EMPTY_AXIS;
        *axes[axis] = 0;
        c.kv_heads = c.q_heads;
        attest_plan_add(plan, &c);
    }
    attest_case low = base_case(plan);
    set_mask(&low, ATTEST_MASK_ADD, ATTEST_MASK_ALL_VISIBLE);
    low.keys = 20; /* few: the largest value decides how much rounding is allowed */
    low.parameter[0] = LOW_ROW;
    low.v = ATTEST_RECIPE_KEY; /* 1 and up: a row taken for empty is outside their hull */
    attest_plan_add(plan, &low);
    static const attest_dtype types[] = {ATTEST_F32, ATTEST_F64, ATTEST_F16, ATTEST_BF16};
    for (int type = 0; type < 4; type++) {
        attest_case c = base_case(plan);
        c.q_type = c.kv_type = c.o_type = types[type];
        c.parameter[0] = TINY;
        c.v = ATTEST_RECIPE_TINY;
        c.keys = 5; /* few keys: each denormal bit of V counts */
        attest_plan_add(plan, &c);
    }
}

static void plan(attest_plan *plan) {
    plan_planted(plan);
    plan_rest(plan);
}

static double value_of(planted value, attest_dtype dtype) {
    const double denormal = dtype == ATTEST_F64   ? 0x1p-1070
                            : dtype == ATTEST_F16 ? 0x1p-22
                                                  : 0x1p-133;
    const double largest = dtype == ATTEST_F64 ? 0x1p1000 : dtype == ATTEST_F16 ? 65504.0 : 0x1p120;
    const double values[VALUES] = {NAN, INFINITY, -INFINITY, -0.0, denormal, largest};
    return values[value];
}

/* Whether what plant() changes is there. */
static int can_plant(const attest_case *c) {
    if (c->batch == 0 || c->q_heads == 0 || c->queries < 2 || c->keys == 0) {
        return 0;
    }
    switch ((operand)c->parameter[0]) {
    case IN_Q:
    case IN_K:
    case ALL_MINUS_INF:
        return c->head_size > 3;
    case IN_V:
        return c->value_size > 5;
    case IN_MASK:
    case LOW_ROW:
        return (c->features & ATTEST_MASK_ADD) && c->mask_rank == 2 && c->mask_full == 12;
    case IN_SINK:
        return (c->features & ATTEST_SINKS) != 0;
    default:
        return 1;
    }
}

static int64_t planted_row(const attest_case *c) {
    return c->parameter[3] > 0 && c->parameter[3] < c->queries ? c->parameter[3] : 1;
}

/* The row of Q, or the key in K, V or that row of the mask, or the sink of head 0. */
static void plant(attest_workbench *bench, const attest_case *c) {
    const attest_problem *p = &bench->stage.problem;
    const planted value = (planted)(c->parameter[1] % VALUES);
    const int64_t key = c->parameter[2] % c->keys;
    switch ((operand)c->parameter[0]) {
    case IN_Q:
        attest_put(&p->q, 0, 0, planted_row(c), 2, value_of(value, p->q.dtype));
        break;
    case IN_K:
        attest_put(&p->k, 0, 0, key, 3, value_of(value, p->k.dtype));
        break;
    case IN_V:
        attest_put(&p->v, 0, 0, key, 5, value_of(value, p->v.dtype));
        break;
    case IN_MASK:
        attest_put(&p->mask, planted_row(c), key, 0, 0, value_of(value, p->mask.dtype));
        break;
    default:
        attest_put(&p->sinks, 0, 0, 0, 0, value_of(value, p->sinks.dtype));
        break;
    }
}

static const char *id_of(const attest_case *c) {
    if (c->parameter[0] == EMPTY_AXIS) {
        return "SPV-07";
    }
    if (c->parameter[0] == ALL_MINUS_INF) {
        return "SPV-02";
    }
    if (c->parameter[0] == TINY) {
        return "SPV-04";
    }
    if (c->parameter[0] == IN_MASK && c->parameter[1] <= PLUS_INF) {
        return "SPV-05";
    }
    if (c->parameter[0] == LOW_ROW ||
        (c->parameter[0] == IN_MASK && c->parameter[1] == MINUS_INF)) {
        return "MASK-08";
    }
    return ids[c->parameter[1] % VALUES];
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    attest_ids_add(&result->ids, id_of(c));
    if (!attest_workbench_build(bench, c, result)) {
        return;
    }
    const int plants = c->parameter[0] < OPERANDS || c->parameter[0] >= LOW_ROW;
    if (plants && !can_plant(c)) {
        attest_result_mistrust(result, "the place of the special value does not exist");
        return;
    }
    if (c->parameter[0] < OPERANDS) {
        plant(bench, c);
    }
    for (int64_t j = 0; c->parameter[0] == LOW_ROW && j < c->keys; j++) {
        attest_put(&bench->stage.problem.mask, 1, j, 0, 0,
                   -0x1p120); /* finite: nothing is hidden */
    }
    if (c->parameter[0] == ALL_MINUS_INF) {
        const attest_problem *p = &bench->stage.problem;
        attest_put(&p->q, 0, 0, planted_row(c), 3, 1);
        for (int64_t j = 0; j < c->keys; j++) {
            attest_put(&p->k, 0, 0, j, 3, (double)-INFINITY);
        }
    }
    if (!attest_workbench_forward(bench, ATTEST_PATTERN_NOISE, result)) {
        result->bug_class = c->parameter[0] == EMPTY_AXIS ? CLASS_EMPTY_INPUT : result->bug_class;
        return;
    }
    if (bench->normal.batch * bench->normal.q_heads * bench->normal.queries == 0 ||
        (bench->normal.value_size == 0 && !(c->features & ATTEST_LSE))) {
        return; /* nothing to be written: that it was accepted, and wrote nothing, is the point */
    }
    attest_judge_values(bench, 0, result);
    if (result->verdict == ATTEST_FAIL) {
        const int swallowed = !isfinite(result->expected);
        result->broken = attest_requirement_index(id_of(c));
        result->bug_class = c->parameter[0] == EMPTY_AXIS ? CLASS_EMPTY_INPUT
                            : c->parameter[0] == TINY     ? CLASS_UNDERFLOW
                            : c->parameter[0] == LOW_ROW  ? CLASS_EMPTY_ROW
                            : swallowed                   ? CLASS_NAN_SWALLOWED
                                                          : result->bug_class;
    }
}

const attest_check attest_check_special = {
    .name = "special",
    .sentence = "NaN, infinities, -0, denormals and empty axes give what the table says.",
    .requirements = "SPV-01 SPV-02 SPV-03 SPV-04 SPV-05 SPV-07 MASK-08 NUM-06",
    .classes = {CLASS_UNDERFLOW, CLASS_NAN_SWALLOWED, CLASS_EMPTY_INPUT},
    .catalogue = "K20 K26",
    .structural = 0,
    .plan = plan,
    .run = run,
};
