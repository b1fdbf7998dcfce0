/* SPDX-License-Identifier: GPL-3.0-or-later */
/* K4: with unit vectors in V the output is the weight matrix, so its zeros are the mask used. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/host/workbench.h"
#include "certify/plan/data.h"
#include "certify/plan/space.h"

static void change(attest_plan *plan, attest_case *c, int number) {
    (void)plan;
    (void)number;
    c->v = ATTEST_RECIPE_UNIT;
    c->qk = ATTEST_RECIPE_SMALL; /* no visible weight underflows, in binary16 neither */
    if (c->features & ATTEST_MASK_ADD && c->mask == ATTEST_MASK_ALL_VISIBLE) {
        c->mask = ATTEST_MASK_RANDOM;
    }
}

static void plan(attest_plan *plan) {
    static const int64_t smoke_q[] = {1, 3, 6, -1}, smoke_k[] = {1, 4, 9, 17, -1};
    static const int64_t quick_q[] = {1, 2, 5, 8, 17, 33, -1};
    static const int64_t quick_k[] = {1, 3, 8, 9, 17, 33, 65, 130, -1};
    static const int64_t sizes[] = {4, 8, 16, 32, -1};
    const int small = plan->level == ATTEST_SMOKE;
    /* ALiBi and a distant offset push weights below the smallest number: not a mask. */
    const attest_space space = {.queries = small ? smoke_q : quick_q,
                                .keys = small ? smoke_k : quick_k,
                                .head_sizes = sizes,
                                .never = ATTEST_ALIBI,
                                .options_that_hide = (plan->kernel->features & 0x7f) != 0,
                                .most = attest_plan_by_level(plan, 24, 0, 0, 0),
                                .rounds = attest_plan_by_level(plan, 1, 3, 30, 100)};
    attest_space_plan(plan, &space, change);
}

/* One line a row: '#' seen as it must be, '.' hidden as it must be, '+' seen wrongly, '-' lost. */
static char *draw(const attn_normal *n, const unsigned char *used, const unsigned char *right,
                  int64_t b, int64_t h) {
    const int64_t rows = n->queries < 48 ? n->queries : 48, keys = n->keys < 96 ? n->keys : 96;
    char *text = malloc((size_t)(rows * (keys + 1)) + 160);
    if (text == NULL) {
        return NULL;
    }
    static const char key[] = "(# seen  . hidden  + seen wrongly  - lost)";
    size_t at = (size_t)snprintf(text, 160, "mask of batch entry %lld, head %lld %s\n",
                                 (long long)b, (long long)h, key);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < keys; j++) {
            int u = used[i * n->keys + j], r = right[i * n->keys + j];
            text[at++] = u ? (r ? '#' : '+') : (r ? '-' : '.');
        }
        text[at++] = '\n';
    }
    text[at] = '\0';
    return text;
}

/* The one condition in force; of several none can be blamed by what is seen here alone. */
static const char *condition(uint64_t features) {
    static const struct {
        uint64_t feature;
        const char *id;
    } table[] = {
        {ATTEST_CAUSAL, "MASK-01"},      {ATTEST_WINDOW, "MASK-02"},
        {ATTEST_KEY_LENGTHS, "MASK-03"}, {ATTEST_MASK_BOOL, "MASK-05"},
        {ATTEST_MASK_ADD, "MASK-08"},    {ATTEST_WINDOW_SIZE, "MASK-10"},
    };
    const char *id = "SEM-06";
    int found = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (features & table[i].feature) {
            id = found++ == 0 ? table[i].id : "MASK-04";
        }
    }
    return id;
}

static void report(const attn_normal *n, const attest_case *c, const unsigned char *used,
                   const unsigned char *right, int64_t b, int64_t h, attest_result *result) {
    int64_t extra = 0, lost = 0, first = -1;
    for (int64_t at = 0; at < n->queries * n->keys; at++) {
        extra += used[at] && !right[at];
        lost += !used[at] && right[at];
        first = first < 0 && used[at] != right[at] ? at : first;
    }
    if (first < 0) {
        return;
    }
    const char *id = condition(c->features);
    attest_result_bad(result, ATTEST_FAIL, id, lost && !extra ? CLASS_TAIL : CLASS_OPTION_IGNORED,
                      "the mask in use is not the one asked for: %lld keys seen that must be "
                      "hidden, %lld lost; first at row %lld, key %lld",
                      (long long)extra, (long long)lost, (long long)(first / n->keys),
                      (long long)(first % n->keys));
    result->place[0] = b;
    result->place[1] = h;
    result->place[2] = first / n->keys;
    result->place[3] = first % n->keys;
    free(result->picture);
    result->picture = draw(n, used, right, b, h);
}

/* -0 is not the +0 of a hidden key (NUM-04); an empty row has no weights, and its 0 any sign
 * (SPV-03). */
static int wrong_zero(const attn_normal *n, int64_t b, int64_t h, int64_t i, double w) {
    unsigned char *visible = w == 0 && signbit(w) ? malloc((size_t)n->keys + 1) : NULL;
    const int wrong = visible != NULL && attn_visible_keys(n, b, h, i, visible) > 0;
    free(visible);
    return wrong;
}

/* Reads Dv columns at a time; a negative or NaN weight is no weight. */
static int read_weights(attest_workbench *bench, attest_case c, unsigned char *used,
                        attest_result *result) {
    const attn_normal *n = &bench->normal;
    for (c.base = 0; c.base < c.keys; c.base += c.value_size) {
        attest_fill_values(&bench->stage.problem.v, ATTEST_RECIPE_UNIT, &c, ATTEST_SLOT_V);
        if (!attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
            return 0;
        }
        const attest_tensor *o = &bench->stage.problem.o;
        unsigned char *at = used;
        for (int64_t b = 0; b < n->batch; b++) {
            for (int64_t h = 0; h < n->q_heads; h++) {
                for (int64_t i = 0; i < n->queries; i++, at += n->keys) {
                    for (int64_t e = 0; e < c.value_size && c.base + e < c.keys; e++) {
                        double w = attest_get(o, b, h, i, e);
                        at[c.base + e] = w != 0;
                        /* A little above 1 is a matter of the radius, not of the mask. */
                        if (!(w >= 0 && w <= 1.0625) || wrong_zero(n, b, h, i, w)) {
                            attest_result_bad(result, ATTEST_FAIL, "NUM-04", CLASS_EMPTY_ROW,
                                              "the weight of key %lld in row %lld is %a",
                                              (long long)(c.base + e), (long long)i,
                                              isnan(w) ? (double)NAN : w);
                            return 0;
                        }
                    }
                }
            }
        }
    }
    return 1;
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    attest_space_ids(c, &result->ids);
    attest_ids_add(&result->ids, "SEM-06 NUM-04 CAP-02 CAP-03");
    attest_ids_remove(&result->ids, "SEM-05 SEM-09 SEM-10 SEM-13 MASK-06 NUM-05 SPV-06");
    if (!attest_workbench_build(bench, c, result)) {
        return;
    }
    const attn_normal *n = &bench->normal;
    if (n->value_size == 0) {
        attest_result_mistrust(result, "V has no column to read weights by");
        return;
    }
    if (bench->profile.empty_row == ATTN_EMPTY_NAN ||
        bench->profile.empty_row == ATTN_EMPTY_MEAN_OF_ALL ||
        bench->profile.empty_row == ATTN_EMPTY_UNSPECIFIED) {
        unsigned char *seen = malloc((size_t)n->keys + 1);
        int64_t least = n->keys;
        for (int64_t row = 0; seen && row < n->batch * n->q_heads * n->queries; row++) {
            const int64_t h = row / n->queries % n->q_heads;
            const int64_t b = row / (n->q_heads * n->queries);
            int64_t count = attn_visible_keys(n, b, h, row % n->queries, seen);
            least = count < least ? count : least;
        }
        free(seen);
        if (least == 0) {
            attest_result_mistrust(result, "the profile gives empty rows another value than 0");
            return;
        }
    }
    const size_t cells = (size_t)(n->batch * n->q_heads * n->queries * n->keys);
    unsigned char *used = calloc(cells + 1, 1);
    unsigned char *right = calloc((size_t)(n->queries * n->keys) + 1, 1);
    if (used == NULL || right == NULL) {
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: not enough memory");
    } else if (read_weights(bench, *c, used, result)) {
        int64_t shown = 0;
        for (int64_t b = 0; b < n->batch; b++) {
            for (int64_t h = 0; h < n->q_heads; h++) {
                for (int64_t i = 0; i < n->queries; i++) {
                    shown += attn_visible_keys(n, b, h, i, right + i * n->keys);
                }
                if (!attest_verdict_is_bad(result->verdict)) {
                    report(n, c, used + (b * n->q_heads + h) * n->queries * n->keys, right, b, h,
                           result);
                }
            }
        }
        attest_workbench_examine(bench, used, result);
        if (shown == 0) {
            attest_result_mistrust(result, "no row sees a key");
        }
        result->keys_seen = 1;
    }
    free(used);
    free(right);
}

const attest_check attest_check_mask_readback = {
    .name = "mask-readback",
    .sentence = "Unit vectors in V show the weights: exactly the visible keys have one.",
    .requirements = "SEM-01 SEM-02 SEM-06 SEM-11 MASK-01 MASK-02 MASK-03 "
                    "MASK-04 MASK-05 MASK-07 MASK-08 MASK-09 MASK-10 MASK-11 NUM-04 "
                    "MEM-08 SPV-08 CAP-02 CAP-03",
    .classes = {CLASS_CAUSAL_DIAGONAL, CLASS_OPTION_IGNORED, CLASS_MASK_UNASKED, CLASS_OFF_BY_ONE,
                CLASS_WINDOW_LOOP, CLASS_SEQUENCE_LEAK, CLASS_MASK_POLARITY, CLASS_MASK_STRIDES,
                CLASS_EMPTY_ROW, CLASS_EMPTY_TILE, CLASS_SOFTCAP, CLASS_TAIL, CLASS_KV_HEAD},
    .catalogue = "K4 K7 K16 K18",
    .structural = 1,
    .plan = plan,
    .run = run,
};
