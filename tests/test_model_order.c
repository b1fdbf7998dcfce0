/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of the models: what is inside the radius of a stricter model is inside that of every
 * looser one, or outside the looser one's domain; and cheats are inside none.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reference/oracle/oracle.h"
#include "reference/problem/convert.h"
#include "tests/support/random_problem.h"

#define MODELS 8
#define RESULTS 100000

static const attn_model *model(int index) { return attn_model_find(attn_model_name(index)); }

/* The enclosures of one random problem under every model. */
typedef struct enclosures {
    random_problem problem;
    attn_normal normal;
    int64_t outputs, rows;
    attn_enclosure *o[MODELS], *lse[MODELS];
} enclosures;

static void enclose(enclosures *all) {
    char message[ATTEST_MESSAGE_BYTES];
    const attn_normal *n = &all->normal;
    assert_int_equal(
        attn_normalise(&all->normal, &all->problem.problem, &all->problem.profile, 0, message),
        ATTEST_OK);
    all->rows = n->batch * n->q_heads * n->queries;
    all->outputs = all->rows * n->value_size;
    for (int m = 0; m < MODELS; m++) {
        all->o[m] = calloc((size_t)all->outputs + 1, sizeof(attn_enclosure));
        all->lse[m] = calloc((size_t)all->rows + 1, sizeof(attn_enclosure));
        assert_true(all->o[m] && all->lse[m]);
        assert_int_equal(attn_oracle(n, model(m), 1, all->o[m], all->lse[m], message), ATTEST_OK);
    }
}

static void discard(enclosures *all) {
    for (int m = 0; m < MODELS; m++) {
        free(all->o[m]);
        free(all->lse[m]);
    }
    random_problem_free(&all->problem);
}

/* Results that passed a and were judged, and failed, by b. */
typedef struct pair_count {
    long passed, failed;
} pair_count;

static void try_element(random_source *source, attn_enclosure *const *list, int64_t at,
                        pair_count count[MODELS][MODELS]) {
    for (int a = 0; a < MODELS; a++) {
        const attn_enclosure *strict = &list[a][at];
        double part = 1.05 * random_unit(source);
        double actual = strict->high + part * (strict->radius + strict->own_error);
        if (strict->kind != ATTN_FINITE || attn_judge(strict, actual, NULL) != ATTN_INSIDE) {
            continue;
        }
        for (int b = 0; b < MODELS; b++) {
            count[a][b].passed++;
            count[a][b].failed += attn_judge(&list[b][at], actual, NULL) == ATTN_OUTSIDE;
        }
    }
}

static void stricter_passes_looser(void **state) {
    static pair_count count[MODELS][MODELS];
    random_source source = {11};
    (void)state;
    long done = 0;
    while (done < RESULTS) {
        enclosures all;
        random_limits limits = random_limits_small;
        random_problem_make(&all.problem, &source, &limits);
        enclose(&all);
        for (int64_t at = 0; at < all.outputs; at++) {
            try_element(&source, all.o, at, count);
        }
        for (int64_t at = 0; at < all.rows; at++) {
            try_element(&source, all.lse, at, count);
        }
        discard(&all);
        done = RESULTS;
        for (int a = 0; a < MODELS; a++) {
            done = count[a][a].passed < done ? count[a][a].passed : done;
        }
    }
    int edges = 0, told_apart = 0, strangers = 0;
    for (int a = 0; a < MODELS; a++) {
        for (int b = 0; b < MODELS; b++) {
            if (a != b && attn_model_implies(model(a), model(b))) {
                edges++;
                print_message("%-12s -> %-12s %ld results\n", model(a)->name, model(b)->name,
                              count[a][b].passed);
                assert_int_equal(count[a][b].failed, 0);
            } else if (a != b) {
                strangers++;
                told_apart += count[a][b].failed > 0;
            }
        }
    }
    /* Where no order is declared there is none to be found, so the test can fail. */
    print_message("%d edges; %d of %d other pairs told apart\n", edges, told_apart, strangers);
    assert_true(edges > 0);
    assert_int_equal(told_apart, strangers);
}

static void order_is_partial(void **state) {
    (void)state;
    for (int a = 0; a < MODELS; a++) {
        assert_true(attn_model_implies(model(a), model(a)));
        for (int b = 0; b < MODELS; b++) {
            assert_false(a != b && attn_model_implies(model(a), model(b)) &&
                         attn_model_implies(model(b), model(a)));
            for (int c = 0; c < MODELS; c++) {
                if (attn_model_implies(model(a), model(b)) &&
                    attn_model_implies(model(b), model(c))) {
                    assert_true(attn_model_implies(model(a), model(c)));
                }
            }
        }
    }
    assert_null(attn_model_name(MODELS));
    assert_null(attn_model_find("f8-strict"));
    const attn_model *bf16 = attn_model_find("bf16-f32acc"), *f16 = attn_model_find("f16-f32acc");
    assert_false(attn_model_implies(bf16, f16) || attn_model_implies(f16, bf16));
    attn_model claimed = attn_model_claimed(f16, 9, 0);
    assert_true(attn_model_implies(f16, &claimed));
    assert_false(attn_model_implies(&claimed, f16));
}

/* -------------------------------------------------------------------------------- cheats --- */
typedef enum cheat { ZEROS, MEAN_OF_V, LAST_ROW_OF_V, CONSTANT, CHEATS } cheat;
static const char *const cheat_name[] = {"zeros", "mean of V", "last row of V", "a constant"};

static double value_at(const attn_normal *n, int64_t b, int64_t h, int64_t j, int64_t c) {
    const int64_t index[ATTEST_MAX_RANK] = {b, attn_kv_head(n, h), j, c};
    return attn_load(n->problem->v.dtype, attn_element(&n->problem->v, index));
}

/* What the cheat would write; it may even know which keys are visible. */
static double cheated(cheat kind, const attn_normal *n, const unsigned char *visible, int64_t b,
                      int64_t h, int64_t c) {
    double sum = 0, last = 0;
    int64_t count = 0;
    for (int64_t j = 0; j < n->keys; j++) {
        if (visible[j]) {
            last = value_at(n, b, h, j, c);
            sum += last;
            count++;
        }
    }
    switch (kind) {
    case MEAN_OF_V:
        return count ? sum / (double)count : 0;
    case LAST_ROW_OF_V:
        return last;
    case CONSTANT:
        return 0.5;
    default:
        return 0;
    }
}

static long outside(const enclosures *all, int m, cheat kind) {
    const attn_normal *n = &all->normal;
    unsigned char *visible = calloc((size_t)n->keys + 1, 1);
    long count = 0;
    assert_non_null(visible);
    for (int64_t at = 0; at < all->outputs; at++) {
        int64_t row = at / n->value_size, head = row / n->queries;
        int64_t b = head / n->q_heads, h = head % n->q_heads;
        attn_visible_keys(n, b, h, row % n->queries, visible);
        double actual = cheated(kind, n, visible, b, h, at % n->value_size);
        count += attn_judge(&all->o[m][at], actual, NULL) == ATTN_OUTSIDE;
    }
    free(visible);
    return count;
}

static void cheats_are_outside(void **state) {
    static const struct {
        const char *group;
        uint64_t features;
    } groups[] = {
        {"SEM", 0},
        {"SEM (softcap, bias, sink)", ATTEST_SOFTCAP | ATTEST_ALIBI | ATTEST_SINKS},
        {"MASK (positions)", ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_KEY_LENGTHS},
        {"MASK (boolean)", ATTEST_MASK_BOOL},
        {"MASK (additive)", ATTEST_MASK_ADD | ATTEST_CAUSAL},
        {"NUM", ATTEST_SCALE | ATTEST_LSE},
        {"ISO, DET, MEM", ATTEST_CAUSAL | ATTEST_OFFSETS},
    };
    (void)state;
    random_source source = {5};
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        long caught[MODELS][CHEATS] = {{0}};
        for (int round = 0; round < 12; round++) {
            enclosures all;
            random_limits limits = random_limits_small;
            limits.features = 0;
            limits.force_features = groups[g].features;
            limits.dtypes = 1u << ATTEST_F32;
            limits.magnitude = RANDOM_ORDINARY;
            random_problem_make(&all.problem, &source, &limits);
            all.problem.problem.window_left = 5; /* leave most rows something to see */
            enclose(&all);
            for (int m = 0; m < MODELS; m++) {
                for (int kind = 0; kind < CHEATS; kind++) {
                    caught[m][kind] += outside(&all, m, (cheat)kind);
                }
            }
            discard(&all);
        }
        for (int m = 0; m < MODELS; m++) {
            for (int kind = 0; kind < CHEATS; kind++) {
                if (caught[m][kind] == 0) {
                    print_message("%s: %s passes under %s\n", groups[g].group, cheat_name[kind],
                                  model(m)->name);
                }
                assert_true(caught[m][kind] > 0);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_partial),
        cmocka_unit_test(stricter_passes_looser),
        cmocka_unit_test(cheats_are_outside),
    };
    return cmocka_run_group_tests_name("model order", tests, NULL, NULL);
}
