/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/run/discover.h"

#include <stdlib.h>
#include <string.h>

#include "certify/plan/data.h"

enum { ENDS = 6, SIZE = 4, MANY = 137, MOST_CRASHES = 3, MOST_SWITCHES = 3, FAR = 10 };
/* What is seen where a call does not return outputs; outputs hash to something else. */
enum { CRASHED = 1, REFUSED = 2 };
#define NO_WEIGHT (-30720.0) /* a score below: exp is 0 in every type, and every type holds it */

typedef struct prober {
    attest_workbench *bench;
    const attest_kernel_info *kernel;
    const attn_profile *profile;
    attest_boundaries *found;
    int64_t queries; /* of the axis keys: a kernel may have a path for one query alone */
    int crashes;
    int hopeless;      /* it hangs, or cannot be loaded, or there is no time left */
    int first_failure; /* a crash is enough: the cases will show it */
    double until;      /* of attest_clock(); 0: as long as it takes */
} prober;

/* Every length up to `every`; beyond, the places of `far`, and a search between two that differ. */
typedef struct range {
    int64_t every;
    int64_t far[FAR]; /* ended by 0 */
} range;

static range range_of(attest_axis axis, attest_level level) {
    static const range ranges[ATTEST_AXES] = {
        [ATTEST_AXIS_KEYS] = {400, {512, 768, 1024, 1536, 2048, 3072, 4096, 8192}},
        [ATTEST_AXIS_QUERIES] = {140, {192, 256, 512, 1024}},
        [ATTEST_AXIS_HEAD_SIZE] = {140, {192, 256, 384, 512}},
        [ATTEST_AXIS_VALUE_SIZE] = {140, {192, 256, 384, 512}},
        [ATTEST_AXIS_HEADS] = {34, {48, 64, 96, 128, 256}},
        [ATTEST_AXIS_BATCH] = {34, {48, 64, 96, 128, 256}},
        [ATTEST_AXIS_GROUP] = {17, {24, 32, 64}},
        [ATTEST_AXIS_THREADS] = {9, {12, 16, 32}},
    };
    static const int64_t smoke[ATTEST_AXES] = {140, 70, 40, 20, 14, 8, 6, 5};
    return level == ATTEST_SMOKE ? (range){.every = smoke[axis]} : ranges[axis];
}

static attest_case case_of(const prober *p, attest_axis axis, int64_t n) {
    attest_case c = attest_case_default("discover");
    const attest_plan plan = {.kernel = p->kernel};
    c.q_type = c.kv_type = c.o_type = attest_plan_type(&plan);
    c.queries = 2;
    c.head_size = c.value_size = SIZE;
    c.qk = c.v = ATTEST_RECIPE_ZERO;
    c.features = p->kernel->features & (ATTEST_SCALE | ATTEST_LSE);
    c.scale = c.features & ATTEST_SCALE ? 0.5 : c.scale;
    c.seed = 1;
    switch (axis) {
    case ATTEST_AXIS_KEYS:
        c.keys = n;
        c.queries = p->queries;
        break;
    case ATTEST_AXIS_QUERIES:
        c.queries = n;
        break;
    case ATTEST_AXIS_HEAD_SIZE:
        c.head_size = n;
        c.value_size = p->kernel->shapes & ATTEST_CAN_DV ? SIZE : n;
        break;
    case ATTEST_AXIS_VALUE_SIZE:
        c.value_size = n;
        break;
    case ATTEST_AXIS_HEADS:
        c.q_heads = c.kv_heads = n;
        break;
    case ATTEST_AXIS_GROUP:
        c.q_heads = n;
        break;
    case ATTEST_AXIS_THREADS:
        c.threads = n;
        c.batch = 2;
        c.q_heads = c.kv_heads = 3;
        c.queries = 20;
        break;
    default:
        c.batch = n;
        break;
    }
    if (axis != ATTEST_AXIS_KEYS) {
        c.keys = MANY;
    }
    return c;
}

/*
 * The first and the last keys have weights, those between have none: more of them change nothing.
 * Scores grow towards the end, so a running maximum moves there, and a tile's border among the last
 * keys rounds differently. On other axes than the keys all keys have weights, whose sums round at
 * nearly every step: another order of them gives other bits. Columns repeat after SIZE; rows, heads
 * and entries are all alike; q and k are 0 beyond SIZE.
 */
static void fill_key(attest_workbench *bench, int all, int64_t b, int64_t g, int64_t j) {
    const attn_normal *n = &bench->normal;
    const attest_problem *p = &bench->stage.problem;
    const int64_t from_end = n->keys - 1 - j;
    const int64_t number = all || j < ENDS ? j : 2 * ENDS - 1 - from_end;
    if (!all && j >= ENDS && from_end >= ENDS) {
        attest_put(&p->k, b, g, j, 0, NO_WEIGHT);
        return;
    }
    for (int64_t e = 0; e < SIZE && e < n->head_size; e++) {
        attest_put(&p->k, b, g, j, e,
                   e == 0 && !all
                       ? 0.4375 * (double)number
                       : attest_bell((uint32_t)attest_mix((uint64_t)(number * SIZE + e))));
    }
    for (int64_t e = 0; e < n->value_size; e++) {
        attest_put(&p->v, b, g, j, e,
                   attest_bell((uint32_t)attest_mix((uint64_t)(number * SIZE + e % SIZE) << 20)));
    }
}

static void fill(attest_workbench *bench, int all) {
    static const double query[SIZE] = {1, 0.5, -0.75, 0.25};
    const attn_normal *n = &bench->normal;
    for (int64_t b = 0; b < n->batch; b++) {
        for (int64_t h = 0; h < n->q_heads; h++) {
            for (int64_t i = 0; i < n->queries; i++) {
                for (int64_t e = 0; e < SIZE && e < n->head_size; e++) {
                    attest_put(&bench->stage.problem.q, b, h, i, e, query[e]);
                }
            }
        }
        for (int64_t g = 0; g < n->kv_heads; g++) {
            for (int64_t j = 0; j < n->keys; j++) {
                fill_key(bench, all, b, g, j);
            }
        }
    }
}

/* The first columns of the first row, and whatever is not like them. */
static uint64_t digest_of(const attest_kept *kept, int64_t columns) {
    uint64_t hash = kept->lse_count > 0 ? kept->lse[0] : 0;
    for (int64_t i = 0; i < kept->o_count; i++) {
        if (i < SIZE || kept->o[i] != kept->o[i % columns % SIZE]) {
            hash = attest_mix(hash ^ attest_mix(kept->o[i]));
        }
    }
    for (int64_t i = 1; i < kept->lse_count; i++) {
        hash = kept->lse[i] != kept->lse[0] ? attest_mix(hash ^ kept->lse[i]) : hash;
    }
    return hash;
}

static uint64_t probe(prober *p, attest_axis axis, int64_t length) {
    attest_workbench *bench = p->bench;
    attest_result result = {.verdict = ATTEST_PASS, .broken = -1};
    const attest_case c = case_of(p, axis, length);
    uint64_t seen = REFUSED;
    p->found->probes++;
    p->hopeless |= p->until > 0 && attest_clock() > p->until;
    int fine = attest_workbench_build(bench, &c, &result);
    if (fine) {
        fill(bench, axis != ATTEST_AXIS_KEYS);
        fine = attest_workbench_call(bench, ATTEST_CALL_FORWARD, 0, ATTEST_PATTERN_ZERO, &result);
    }
    if (bench->outcome.ending == ATTEST_ENDING_CRASHED) {
        seen = CRASHED;
        p->crashes++;
        p->hopeless |= p->first_failure;
    } else if (bench->outcome.ending != ATTEST_ENDING_RETURNED) {
        p->hopeless = 1;
    } else if (fine && bench->outcome.status == ATTEST_OK) {
        attest_kept kept = attest_keep(bench);
        seen = kept.o ? digest_of(&kept, bench->normal.value_size) | 4 : REFUSED;
        attest_kept_free(&kept);
    }
    attest_result_free(&result);
    attest_stage_free(&bench->stage);
    return seen;
}

/* Behaviour from `start` on: `period` lengths that repeat. */
typedef struct regime {
    uint64_t *seen;
    int64_t start, period;
} regime;

static uint64_t expected(const regime *r, int64_t length) {
    return r->seen[(length - r->start) % r->period];
}

/* Past the lengths that were all tried: where does the regime end, and the next one? */
static void search_far(prober *p, attest_axis axis, const range *lengths, regime r, int64_t last) {
    int switches = 0;
    for (int i = 0; i < FAR && lengths->far[i] > 0 && !p->hopeless; i++) {
        const int64_t far = lengths->far[i];
        const attest_case c = case_of(p, axis, far);
        if (!attest_kernel_covers(p->kernel, p->profile, &c)) {
            return;
        }
        while (far > last && probe(p, axis, far) != expected(&r, far)) {
            int64_t same = last, other = far;
            while (other - same > 1 && !p->hopeless) {
                const int64_t middle = same + (other - same) / 2;
                *(probe(p, axis, middle) == expected(&r, middle) ? &same : &other) = middle;
            }
            if (p->hopeless || ++switches > MOST_SWITCHES) {
                return;
            }
            attest_boundary_add(p->found, axis, other, 0);
            for (r.start = other, last = other; last < other + r.period; last++) {
                r.seen[last - other] = probe(p, axis, last);
            }
            last--;
        }
        last = far > last ? far : last;
    }
}

/* Drops what an axis gave if its boundaries do not show again. */
static void confirm(prober *p, attest_axis axis, const uint64_t *seen, int64_t count, int64_t first,
                    int before) {
    for (int i = before; i < p->found->count; i++) {
        const int64_t at = p->found->found[i].at - first;
        if (at > 0 && at < count &&
            (probe(p, axis, at + first) != seen[at] ||
             probe(p, axis, at + first - 1) != seen[at - 1])) {
            p->found->count = before;
        }
    }
    p->found->count = p->hopeless ? before : p->found->count;
}

/* A tile's border shows while it is among the last keys, perhaps not at once: the length that has
 * one key beyond the border is another one to look at. */
static void add_borders(prober *p, int before) {
    for (int i = before, end = p->found->count; i < end; i++) {
        const attest_boundary b = p->found->found[i];
        const int64_t beyond = b.period > 0 ? b.at % b.period : 0;
        if (b.axis == ATTEST_AXIS_KEYS && beyond > 1 && beyond <= ENDS) {
            attest_boundary_add(p->found, b.axis, b.at - beyond + 1, b.period);
        }
    }
}

static void scan(prober *p, attest_axis axis, attest_level level) {
    const range lengths = range_of(axis, level);
    const int sizes = axis == ATTEST_AXIS_HEAD_SIZE || axis == ATTEST_AXIS_VALUE_SIZE;
    const int64_t first = axis == ATTEST_AXIS_KEYS ? 2 * ENDS : sizes ? SIZE : 1;
    const int before = p->found->count;
    uint64_t *seen = calloc((size_t)lengths.every + 1, sizeof *seen);
    int64_t count = 0;
    p->crashes = 0;
    while (seen && !p->hopeless && p->crashes < MOST_CRASHES && first + count <= lengths.every) {
        const attest_case c = case_of(p, axis, first + count);
        if (!attest_kernel_covers(p->kernel, p->profile, &c)) {
            break;
        }
        seen[count] = probe(p, axis, first + count);
        count++;
    }
    p->hopeless |= p->crashes == MOST_CRASHES && count == MOST_CRASHES; /* it always crashes */
    if (count > 0 && !p->hopeless) {
        const int64_t period = attest_boundaries_read(seen, count, first, axis, p->found);
        const int64_t last = first + count - 1;
        confirm(p, axis, seen, count, first, before);
        add_borders(p, before);
        if (period > 0 && p->crashes == 0) {
            const regime r = {seen + count - period, last - period + 1, period};
            search_far(p, axis, &lengths, r, last);
        }
    }
    free(seen);
}

void attest_discover(const attest_setup *setup, attest_level level, double until, int first_failure,
                     attest_boundaries *found) {
    prober p = {.bench = calloc(1, sizeof *p.bench),
                .kernel = &setup->kernel,
                .profile = &setup->profile,
                .found = found,
                .first_failure = first_failure,
                .until = until};
    *found = (attest_boundaries){.count = 0};
    if (p.bench == NULL || !attest_session_open(&p.bench->session, &setup->target, &setup->host)) {
        free(p.bench);
        return;
    }
    p.bench->profile = setup->profile;
    p.bench->session.info = setup->kernel;
    /* Without a scale of its own a problem changes with its head size. */
    const int has_scale =
        (p.kernel->features & ATTEST_SCALE) || setup->profile.default_scale == ATTN_SCALE_ONE;
    for (int axis = 0; axis < ATTEST_AXES && !p.hopeless; axis++) {
        for (p.queries = 1; p.queries <= (axis == ATTEST_AXIS_KEYS ? 9 : 1); p.queries += 8) {
            if (axis != ATTEST_AXIS_HEAD_SIZE || has_scale) {
                scan(&p, (attest_axis)axis, level);
            }
        }
    }
    attest_session_close(&p.bench->session);
    free(p.bench);
}
