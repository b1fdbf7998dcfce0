/* SPDX-License-Identifier: Apache-2.0 */
/* The plan's design: every pair and every wanted triple of levels is in some row unless no
 * allowed row has it, by counting; and the sample of rows that a large problem is judged on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "certify/plan/covering.h"
#include "certify/judge/sample.h"

enum { FACTORS = 6 };
static const int levels[FACTORS] = {2, 3, 2, 4, 3, 2};

/* Values 1 of factor 0 and 2 of factor 1 exclude each other; the sum of the last three is
 * bounded. */
static int allows(const attest_covering *self, const int *row, size_t known) {
    int sum = 0;
    (void)self;
    for (size_t f = 3; f < known; f++) {
        sum += row[f];
    }
    return !(known > 1 && row[0] == 1 && row[1] == 2) && sum <= 4;
}

static int wants_some(const attest_covering *self, size_t f, size_t g, size_t h) {
    (void)self;
    return f < 3 && g < 3 && h >= 3;
}

static int has(const int *rows, size_t count, const int *fixed) {
    for (size_t i = 0; i < count; i++) {
        int all = 1;
        for (size_t f = 0; f < FACTORS; f++) {
            all = all && (fixed[f] < 0 || rows[i * FACTORS + f] == fixed[f]);
        }
        if (all) {
            return 1;
        }
    }
    return 0;
}

/* Every row that is allowed, by counting through all of them. */
static size_t all_rows(int *rows) {
    size_t count = 0;
    int row[FACTORS] = {0};
    for (int number = 0; number < 2 * 3 * 2 * 4 * 3 * 2; number++) {
        int rest = number;
        for (size_t f = 0; f < FACTORS; f++) {
            row[f] = rest % levels[f];
            rest /= levels[f];
        }
        if (allows(NULL, row, FACTORS)) {
            memcpy(rows + count++ * FACTORS, row, sizeof row);
        }
    }
    return count;
}

static void check(int (*wants)(const attest_covering *, size_t, size_t, size_t), size_t most) {
    static int every[288 * FACTORS];
    const size_t possible = all_rows(every);
    const attest_covering space = {
        .levels = levels, .factors = FACTORS, .wants = wants, .allows = allows};
    int *rows = NULL;
    const size_t count = attest_covering_rows(&space, 7, &rows);
    assert_true(count > 0 && count <= most);
    for (size_t i = 0; i < count; i++) {
        assert_true(allows(NULL, rows + i * FACTORS, FACTORS));
    }
    for (size_t i = 0; i < possible; i++) {
        const int *row = every + i * FACTORS;
        for (size_t f = 0; f < FACTORS; f++) {
            for (size_t g = f + 1; g < FACTORS; g++) {
                for (size_t h = g; h < FACTORS; h++) { /* h == g: a pair */
                    if (h != g && (wants == NULL || !wants(&space, f, g, h))) {
                        continue;
                    }
                    int fixed[FACTORS] = {-1, -1, -1, -1, -1, -1};
                    fixed[f] = row[f];
                    fixed[g] = row[g];
                    fixed[h] = row[h];
                    assert_true(has(rows, count, fixed));
                }
            }
        }
    }
    free(rows);
}

static void pairs(void **state) {
    (void)state;
    check(NULL, 30);
}

static void chosen_triples(void **state) {
    (void)state;
    check(wants_some, 60);
}

static void same_seed_same_rows(void **state) {
    const attest_covering space = {
        .levels = levels, .factors = FACTORS, .wants = wants_some, .allows = allows};
    int *a = NULL, *b = NULL;
    const size_t count = attest_covering_rows(&space, 3, &a);
    (void)state;
    assert_int_equal(count, attest_covering_rows(&space, 3, &b));
    assert_memory_equal(a, b, count * FACTORS * sizeof *a);
    free(a);
    free(b);
}

static int in_sample(const attest_sample *s, int64_t row) {
    for (int64_t i = 0; i < s->count; i++) {
        if (s->rows[i] == row) {
            return 1;
        }
    }
    return 0;
}

static void sample_is_all_or_has_the_ends(void **state) {
    const attn_normal n = {.batch = 3, .q_heads = 5, .queries = 700};
    attest_sample all = attest_sample_rows(&n, 20000, 0, 1);
    attest_sample some = attest_sample_rows(&n, 90, 300, 1);
    (void)state;
    assert_int_equal(all.count, 3 * 5 * 700);
    assert_true(some.count > 45 && some.count <= 90);
    for (int64_t i = 1; i < some.count; i++) {
        assert_true(some.rows[i] > some.rows[i - 1] && some.rows[i] < all.count);
    }
    int first = 0, last = 0, near = 0, edge = 0;
    for (int64_t i = 0; i < some.count; i++) {
        first |= some.rows[i] % 700 == 0;
        last |= some.rows[i] % 700 == 699;
        near |= some.rows[i] % 700 == 300;
        edge |= some.rows[i] % 700 == 512;
    }
    assert_true(first && last && near && edge);
    assert_true(in_sample(&all, 0) && in_sample(&all, all.count - 1));
    free(all.rows);
    free(some.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs),
        cmocka_unit_test(chosen_triples),
        cmocka_unit_test(same_seed_same_rows),
        cmocka_unit_test(sample_is_all_or_has_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
