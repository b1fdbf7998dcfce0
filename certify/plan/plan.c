/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "certify/plan/data.h"

const char *attest_level_name(attest_level level) {
    static const char *const names[] = {"smoke", "quick", "full", "exhaustive"};
    return names[level];
}

static int covers_types(const attest_kernel_info *k, const attest_case *c) {
    const attest_dtype types[] = {c->q_type, c->kv_type, c->o_type};
    for (int i = 0; i < 3; i++) {
        if (!(k->dtypes >> types[i] & 1)) {
            return 0;
        }
    }
    int mixed = c->q_type != c->kv_type || c->q_type != c->o_type;
    return !mixed || (k->shapes & ATTEST_CAN_MIXED_TYPES);
}

static int covers_defaults(const attn_profile *p, const attest_case *c) {
    const uint64_t masks = ATTEST_MASK_BOOL | ATTEST_MASK_ADD;
    if ((c->features & ATTEST_WINDOW_SIZE) && p->window_form == ATTN_WINDOW_NOT_DEFINED) {
        return 0;
    }
    if (!(c->features & ATTEST_SCALE) && p->default_scale == ATTN_SCALE_REQUIRED) {
        return 0;
    }
    return !((c->features & ATTEST_CAUSAL) && (c->features & masks) &&
             p->mask_with_causal == ATTN_MASK_CAUSAL_ERROR);
}

int attest_kernel_covers(const attest_kernel_info *k, const attn_profile *profile,
                         const attest_case *c) {
    if (c->features & ~k->features) {
        return 0;
    }
    if (c->q_heads != c->kv_heads && !(k->shapes & ATTEST_CAN_GQA)) {
        return 0;
    }
    if (c->head_size != c->value_size && !(k->shapes & ATTEST_CAN_DV)) {
        return 0;
    }
    if (c->layout != ATTEST_LAYOUT_DENSE && !(k->shapes & ATTEST_CAN_STRIDES)) {
        return 0;
    }
    const int empty = c->batch == 0 || c->q_heads == 0 || c->queries == 0 || c->keys == 0 ||
                      c->head_size == 0 || c->value_size == 0;
    if (empty && !(k->shapes & ATTEST_CAN_EMPTY)) {
        return 0;
    }
    const int64_t size = c->head_size > c->value_size ? c->head_size : c->value_size;
    if ((k->max_head_size && size > k->max_head_size) ||
        (k->max_queries && c->queries > k->max_queries) || (k->max_keys && c->keys > k->max_keys)) {
        return 0;
    }
    return covers_types(k, c) && covers_defaults(profile, c);
}

int attest_plan_by_level(const attest_plan *plan, int smoke, int quick, int full, int exhaustive) {
    const int counts[] = {smoke, quick, full, exhaustive};
    return counts[plan->level];
}

attest_dtype attest_plan_type(const attest_plan *plan) {
    static const attest_dtype order[] = {ATTEST_F32, ATTEST_F64, ATTEST_F16, ATTEST_BF16};
    for (int i = 0; i < 4; i++) {
        if (plan->kernel->dtypes >> order[i] & 1) {
            return order[i];
        }
    }
    return ATTEST_F32;
}

attest_case attest_plan_case(const attest_plan *plan) {
    attest_case c = attest_case_default(plan->check->name);
    c.q_type = c.kv_type = c.o_type = attest_plan_type(plan);
    return c;
}

void attest_plan_scale(const attest_plan *plan, attest_case *c, double scale) {
    if (plan->profile.default_scale == ATTN_SCALE_REQUIRED) {
        c->features |= ATTEST_SCALE;
        c->scale = scale;
    }
}

/* FNV-1a: the seed must follow from the line, whatever the order of planning. */
static uint64_t line_seed(const attest_plan *plan, const attest_case *c) {
    char line[ATTEST_LINE_BYTES];
    size_t length = attest_case_print(c, line);
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)line[i]) * 0x100000001b3u;
    }
    return attest_mix(hash ^ attest_mix(plan->seed)) >> 16 | 1; /* 48 bits, never 0 */
}

/* Where an id is in the set, or would be put. */
static uint64_t *seat(uint64_t *seen, size_t places, const char *id) {
    const uint64_t key = strtoull(id, NULL, 16) | 1;
    size_t at = (size_t)(key >> 1) % places;
    while (seen[at] != 0 && seen[at] != key) {
        at = (at + 1) % places;
    }
    return &seen[at];
}

static int grow(attest_plan *plan) {
    const size_t room = plan->room ? plan->room * 2 : 256;
    attest_planned *cases = realloc(plan->cases, room * sizeof *cases);
    if (cases != NULL) {
        plan->cases = cases;
    }
    uint64_t *seen = cases ? calloc(room * 2, sizeof *seen) : NULL;
    if (seen == NULL) {
        plan->failed = 1;
        return 0;
    }
    for (size_t i = 0; i < plan->count; i++) {
        *seat(seen, room * 2, cases[i].id) = strtoull(cases[i].id, NULL, 16) | 1;
    }
    free(plan->seen);
    plan->seen = seen;
    plan->room = room;
    return 1;
}

void attest_plan_add(attest_plan *plan, const attest_case *c) {
    if (!attest_kernel_covers(plan->kernel, &plan->profile, c) ||
        (plan->count == plan->room && !grow(plan))) {
        return;
    }
    attest_planned *planned = &plan->cases[plan->count];
    *planned = (attest_planned){.c = *c, .check = plan->check};
    if (planned->c.seed == 0) {
        planned->c.seed = line_seed(plan, c);
    }
    attest_case_id(&planned->c, planned->id);
    uint64_t *place = seat(plan->seen, plan->room * 2, planned->id);
    if (*place == 0) {
        *place = strtoull(planned->id, NULL, 16) | 1;
        plan->count++;
    }
}

int attest_plan_make(attest_plan *plan, const char *only) {
    const attest_check *check;
    for (int i = 0; (check = attest_check_at(i)) != NULL; i++) {
        if (only == NULL || strcmp(only, check->name) == 0) {
            plan->check = check;
            check->plan(plan);
        }
    }
    return !plan->failed;
}

void attest_plan_free(attest_plan *plan) {
    free(plan->cases);
    free(plan->seen);
    plan->cases = NULL;
    plan->seen = NULL;
    plan->count = plan->room = 0;
}
