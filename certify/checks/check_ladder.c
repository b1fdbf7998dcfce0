/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * K6, K11, K12: the same rows computed another way: other threads, elsewhere in the batch, alone,
 * in chunks, one query at a time, without the keys that nobody sees. Bit for bit where the kernel
 * claims that rung, inside the radius otherwise. Parameter 0 is the rung, 1 a place.
 */
#include <stdio.h>

#include "certify/judge/derive.h"
#include "certify/judge/judge.h"
#include "certify/plan/data.h"
#include "certify/plan/space.h"

typedef enum rung { THREADS, POSITION, BATCH, CHUNK, DECODE, PREFIX, RUNGS } rung;

static const struct {
    uint64_t claim;
    const char *id, *also; /* `also`: what the rung shows over the reals, claimed or not */
    int bug_class;
    const char *what;
} rungs[RUNGS] = {
    [THREADS] = {ATTEST_SAME_THREADS, "DET-03", NULL, CLASS_RACE, "the thread count"},
    [POSITION] = {ATTEST_SAME_POSITION, "DET-04", NULL, CLASS_NEIGHBOURS,
                  "the position in the batch"},
    [BATCH] = {ATTEST_SAME_BATCH, "DET-05", NULL, CLASS_NEIGHBOURS, "the batch size"},
    [CHUNK] = {ATTEST_SAME_CHUNK, "DET-06", NULL, CLASS_WINDOW_LOOP,
               "the queries computed beside it"},
    [DECODE] = {ATTEST_SAME_DECODE, "DET-07", "SEM-15", CLASS_CACHE,
                "being computed alone, with a cache"},
    [PREFIX] = {ATTEST_SAME_PREFIX, "DET-09", "SEM-14", CLASS_CAUSAL_DIAGONAL,
                "keys that no row sees"},
};

static void change(attest_plan *plan, attest_case *c, int number) {
    static const int64_t threads[] = {2, 3, 7, 8, 16, 24};
    const uint64_t able = plan->kernel->features;
    rung r = (rung)(number % RUNGS);
    /* Where nothing leaves a key that no row sees, or an empty row is the mean of such keys. */
    if ((r == DECODE && !(able & ATTEST_CAUSAL)) ||
        (r == PREFIX && !(able & (ATTEST_CAUSAL | ATTEST_KEY_LENGTHS))) ||
        (r >= DECODE && plan->profile.empty_row == ATTN_EMPTY_MEAN_OF_ALL)) {
        r = CHUNK;
    }
    c->parameter[0] = r;
    c->parameter[1] = r == THREADS ? threads[number / RUNGS % 6] : number / RUNGS;
    c->threads = r == THREADS ? 1 : c->threads;
    c->batch += (r == POSITION || r == BATCH) && c->batch == 1;
    c->queries += r >= CHUNK && c->queries == 1 ? 4 : 0;
    if (r == DECODE || r == PREFIX) {
        c->features |= able & ATTEST_CAUSAL;
    }
    if (r == PREFIX && !(able & ATTEST_CAUSAL)) {
        c->features |= ATTEST_KEY_LENGTHS;
        c->lengths = ATTEST_LIST_ONE;
    }
}

/* Two cases a rung that are sure to mean something, causal where the kernel can be: a small one,
 * and one of several tiles, with more than 8 queries of which few are left in the part. */
static void plan_sure(attest_plan *plan) {
    for (int n = 0; n < 2 * RUNGS; n++) {
        const int large = n >= RUNGS, place = large ? 11 : 1;
        attest_case c = attest_plan_case(plan);
        c.batch = 2;
        c.queries = large ? 17 : 5;
        c.keys = large ? 130 : 9;
        c.head_size = c.value_size = large ? 8 : 4;
        c.qk = c.v = large ? ATTEST_RECIPE_FINE : ATTEST_RECIPE_COARSE; /* order shows in bits */
        attest_plan_scale(plan, &c, 0.25);
        change(plan, &c, place * RUNGS + n % RUNGS);
        attest_plan_add(plan, &c);
    }
}

static void plan(attest_plan *plan) {
    static const int64_t queries[] = {1, 3, 9, 17, 70, -1}, keys[] = {3, 17, 65, 130, 257, -1};
    static const int64_t few_q[] = {1, 5, 9, -1}, few_k[] = {4, 17, 33, -1},
                         sizes[] = {4, 8, 40, -1};
    const int small = plan->level == ATTEST_SMOKE;
    const attest_space space = {.queries = small ? few_q : queries,
                                .keys = small ? few_k : keys,
                                .head_sizes = sizes,
                                .most = attest_plan_by_level(plan, 18, 120, 0, 0)};
    plan_sure(plan);
    attest_space_plan(plan, &space, change);
    attest_space_plan_boundaries(plan, &space, change);
}

/* Keys that rows up to `last_row` of some entry may still see: what a cache holds at that step. */
static int64_t cache_keys(const attn_normal *n, int64_t last_row) {
    int64_t most = 0;
    if (n->profile.empty_row == ATTN_EMPTY_MEAN_OF_ALL) {
        return n->keys; /* an empty row is then the mean of keys it does not see */
    }
    for (int64_t b = 0; b < n->batch; b++) {
        const int64_t length = attn_key_length(n, b), past = attn_offset(n, b) + last_row + 1;
        const int64_t seen = (n->features & ATTEST_CAUSAL) && past < length ? past : length;
        most = seen > most ? seen : most;
    }
    return most;
}

static attest_part part_of(const attn_normal *n, const attest_case *c) {
    attest_part part = {.entries = n->batch, .rows = n->queries, .keys = n->keys};
    const int64_t place = c->parameter[1];
    switch ((rung)c->parameter[0]) {
    case POSITION:
        part.entry = 1 + place % (n->batch > 1 ? n->batch - 1 : 1);
        break;
    case BATCH:
        part.entry = place % n->batch;
        part.entries = 1;
        break;
    case CHUNK:
        part.row = 1 + place % (n->queries > 1 ? n->queries - 1 : 1);
        part.rows = n->queries - part.row;
        break;
    case DECODE:
        part.row = place % n->queries;
        part.rows = 1;
        part.keys = cache_keys(n, part.row);
        break;
    case PREFIX:
        part.rows = 1 + place % n->queries;
        part.keys = cache_keys(n, part.rows - 1);
        break;
    default:
        break;
    }
    return part;
}

static void compare(attest_workbench *bench, const attest_case *c, const attest_kept *kept,
                    const attest_source *source, const attest_part *part, attest_result *result) {
    const rung r = (rung)c->parameter[0];
    const int claimed = (bench->session.info.determinism & rungs[r].claim) != 0;
    int64_t first = 0;
    const int64_t differing = attest_part_differs(bench, kept, source, part, &first);
    if (claimed && differing > 0) {
        attest_result_bad(result, ATTEST_FAIL, rungs[r].id, rungs[r].bug_class,
                          "the bits of %lld rows (the first is row %lld of the part) depend on %s",
                          (long long)differing, (long long)first, rungs[r].what);
        return;
    }
    attest_judge(bench, INT64_C(1) << 20, result);
    if (attest_verdict_is_bad(result->verdict)) {
        result->bug_class = rungs[r].bug_class;
        snprintf(result->label, sizeof result->label, "%s", rungs[r].id);
    } else if (!claimed) {
        snprintf(result->label, sizeof result->label, "%s", differing ? "other bits" : "same bits");
    }
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    const rung r = c->parameter[0] < RUNGS ? (rung)c->parameter[0] : THREADS;
    if (rungs[r].also != NULL && (c->features & ATTEST_CAUSAL)) {
        attest_ids_add(&result->ids, rungs[r].also);
    }
    if (bench->session.info.determinism & rungs[r].claim) {
        attest_ids_add(&result->ids, rungs[r].id);
        attest_ids_add(&result->ids, "CAP-04");
    }
    attest_source source;
    if (c->batch == 0 || c->queries == 0) {
        attest_result_mistrust(result, "there is no row");
        return;
    }
    if (!attest_workbench_build(bench, c, result) ||
        !attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
        return;
    }
    if (!attest_source_take(&source, bench)) {
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: not enough memory");
        return;
    }
    attest_kept kept = attest_keep(bench);
    attest_case other = *c;
    other.threads = r == THREADS ? c->parameter[1] : c->threads;
    const attest_part part = part_of(&source.normal, c);
    if (part.keys == 0 && !(bench->session.info.shapes & ATTEST_CAN_EMPTY)) {
        attest_result_mistrust(result, "this part has no key, which the kernel does not take");
    } else if (attest_derive(bench, &other, &source, &part, result) &&
               attest_workbench_forward(bench, ATTEST_PATTERN_NOISE, result)) {
        compare(bench, c, &kept, &source, &part, result);
        if (r >= DECODE && part.keys == source.normal.keys) {
            attest_result_mistrust(result, "no key could be left out: nothing was different");
        }
    }
    attest_kept_free(&kept);
    attest_source_free(&source);
}

const attest_check attest_check_ladder = {
    .name = "ladder",
    .sentence = "A row is the same whatever is computed with it, before it or on how many threads.",
    .requirements = "SEM-14 SEM-15 DET-03 DET-04 DET-05 DET-06 DET-07 DET-09 CAP-04",
    .classes = {CLASS_CAUSAL_DIAGONAL, CLASS_WINDOW_LOOP, CLASS_CACHE, CLASS_RACE,
                CLASS_NEIGHBOURS},
    .catalogue = "K6 K11 K12",
    .structural = 1,
    .plan = plan,
    .run = run,
};
