/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/run/fuzz_plan.h"

#include <string.h>

#include "certify/run/settings.h"

#define MOST_WORK (INT64_C(1) << 21) /* multiplications: a case is to take milliseconds */

/* Checks whose cases may have any size and any options; the others have cases made to measure. */
static const char *const drawn_from[] = {"mask-readback", "purity", "fences",   "dirty", "repeat",
                                         "poison",        "ladder", "together", "oracle"};

/* Small, beside a multiple of a common tile, beside a boundary of this kernel, or any. */
static int64_t draw_length(attest_draws *draws, const int64_t *near, int64_t most) {
    const int64_t tile = INT64_C(8) << attest_draw_below(draws, 6);
    int64_t length = 1 + attest_draw_below(draws, (most >> attest_draw_below(draws, 6)) + 1);
    int64_t count = 0;
    while (near[count] >= 0) {
        count++;
    }
    switch (attest_draw_below(draws, 4)) {
    case 0:
        length = 1 + attest_draw_below(draws, 40);
        break;
    case 1:
        length = tile * (1 + attest_draw_below(draws, 4)) + attest_draw_below(draws, 3) - 1;
        break;
    case 2:
        length = count > 0 ? near[attest_draw_below(draws, count)] : length;
        break;
    default:
        break;
    }
    return length < 1 ? 1 : length > most ? most : length;
}

static void draw_sizes(const attest_fuzz_plan *fuzz, attest_draws *draws, attest_case *c) {
    /* Its weights must stay above the smallest number: few keys, heads as planned. */
    const int bounded = strcmp(c->check, "mask-readback") == 0;
    const uint32_t which = attest_draw(draws);
    if (which & 1) {
        c->keys = draw_length(draws, fuzz->near[ATTEST_AXIS_KEYS], bounded ? 160 : 8200);
    }
    if ((which & 2) && c->queries > 1) {
        c->queries = draw_length(draws, fuzz->near[ATTEST_AXIS_QUERIES], 1030);
        c->queries += c->queries == 1; /* some checks need two */
    }
    if ((which & 12) == 4 && !bounded) {
        const int same = c->value_size == c->head_size;
        c->head_size = draw_length(draws, fuzz->near[ATTEST_AXIS_HEAD_SIZE], 260);
        c->value_size =
            same ? c->head_size : draw_length(draws, fuzz->near[ATTEST_AXIS_VALUE_SIZE], 260);
    }
    if ((which & 48) == 16) {
        c->kv_heads = draw_length(draws, fuzz->near[ATTEST_AXIS_HEADS], 40);
        c->q_heads = c->kv_heads * (1 + attest_draw_below(draws, 5));
    }
    if ((which & 192) == 64 && c->batch > 1) {
        c->batch = draw_length(draws, fuzz->near[ATTEST_AXIS_BATCH], 40);
        c->batch += c->batch == 1;
    }
}

static void draw_options(attest_draws *draws, attest_case *c) {
    const uint32_t which = attest_draw(draws);
    if ((c->features & ATTEST_WINDOW) && (which & 1)) {
        c->window_left = attest_draw_below(draws, c->keys + 2) - 1; /* -1: unbounded */
        c->window_right = attest_draw_below(draws, c->keys + 2) - 1;
    }
    if ((c->features & ATTEST_WINDOW_SIZE) && (which & 1)) {
        c->window_size = 1 + attest_draw_below(draws, c->keys + 1);
    }
    if (c->layout != ATTEST_LAYOUT_BROADCAST && (which & 6) == 2) {
        static const int64_t layouts[] = {ATTEST_LAYOUT_DENSE, ATTEST_LAYOUT_TOKENS,
                                          ATTEST_LAYOUT_PADDED, ATTEST_LAYOUT_SPREAD,
                                          ATTEST_LAYOUT_MIXED};
        c->layout = layouts[attest_draw_below(draws, 5)];
    }
    if (c->threads > 1) {
        c->threads = 2 + attest_draw_below(draws, 7);
    }
}

/* Halves until the case is small enough, keys last: their boundaries may be far out. */
static void limit_work(attest_case *c) {
    const int same = c->value_size == c->head_size, heads_same = c->q_heads == c->kv_heads;
    while (c->batch * c->q_heads * c->queries * c->keys * (c->head_size + c->value_size) >
           MOST_WORK) {
        if (c->queries > 2) {
            c->queries = c->queries / 2 + 1;
        } else if (c->batch > 2) {
            c->batch = c->batch / 2 + 1;
        } else if (c->kv_heads > 1 || c->q_heads > 3) {
            c->kv_heads = 1;
            c->q_heads = heads_same ? 1 : 3;
        } else if (c->head_size + c->value_size > 16) {
            c->head_size = c->head_size / 2 + 1;
            c->value_size = same ? c->head_size : c->value_size / 2 + 1;
        } else {
            c->keys /= 2;
        }
    }
}

static attest_case changed(const attest_fuzz_plan *fuzz, attest_draws *draws,
                           const attest_case *from) {
    attest_case c = *from;
    draw_sizes(fuzz, draws, &c);
    limit_work(&c);
    c.base = c.keys > c.value_size ? attest_draw_below(draws, c.keys - c.value_size + 1) : 0;
    draw_options(draws, &c);
    c.seed = 0; /* the plan gives one that follows from its own seed and the line */
    return c;
}

void attest_fuzz_plan_near(attest_fuzz_plan *fuzz, const attest_boundaries *boundaries) {
    for (int axis = 0; axis < ATTEST_AXES; axis++) {
        attest_boundary_lengths(boundaries, (attest_axis)axis, fuzz->near[axis],
                                ATTEST_HUNT_LENGTHS);
    }
}

int attest_fuzz_plan_draw(attest_fuzz_plan *fuzz, attest_plan *plan) {
    const uint64_t seed = attest_mix(fuzz->seed + ((uint64_t)fuzz->round++ << 32));
    attest_plan base = {
        .level = ATTEST_SMOKE, .seed = seed, .kernel = fuzz->kernel, .profile = fuzz->profile};
    *plan = base;
    attest_draws *draws = attest_draws_open(seed, 0);
    int fine = draws != NULL;
    for (size_t i = 0; fine && i < sizeof drawn_from / sizeof *drawn_from; i++) {
        const attest_check *check = attest_check_find(drawn_from[i]);
        if ((fuzz->only == NULL || attest_list_has_check(fuzz->only, check)) &&
            (fuzz->skip == NULL || !attest_list_has_check(fuzz->skip, check))) {
            fine = attest_plan_make(&base, drawn_from[i]);
        }
    }
    for (size_t i = 0; fine && i < base.count; i++) { /* the checks mixed: --cases may be few */
        const size_t other = i + (size_t)attest_draw_below(draws, (int64_t)(base.count - i));
        const attest_planned taken = base.cases[other];
        base.cases[other] = base.cases[i];
        base.cases[i] = taken;
        const attest_case c = changed(fuzz, draws, &base.cases[i].c);
        plan->check = base.cases[i].check;
        attest_plan_add(plan, &c);
    }
    for (int i = 0; fine && i < 2 * ATTEST_HUNT_POOL; i++) {
        const attest_case *from = &fuzz->pool[i / 2];
        if (fuzz->worst[i / 2] > 0) {
            const attest_case c = changed(fuzz, draws, from);
            plan->check = attest_check_find(from->check);
            attest_plan_add(plan, &c);
        }
    }
    attest_draws_close(draws);
    attest_plan_free(&base);
    return fine && !plan->failed;
}

void attest_fuzz_plan_learn(attest_fuzz_plan *fuzz, const attest_plan *plan,
                            const attest_report *report) {
    for (size_t i = 0; i < report->count && i < plan->count; i++) {
        const attest_result *r = &report->entries[i].result;
        int least = 0;
        for (int k = 1; k < ATTEST_HUNT_POOL; k++) {
            least = fuzz->worst[k] < fuzz->worst[least] ? k : least;
        }
        if (r->verdict == ATTEST_PASS && r->worst > fuzz->worst[least]) {
            fuzz->pool[least] = plan->cases[i].c;
            fuzz->worst[least] = r->worst;
        }
    }
}
