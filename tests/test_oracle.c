/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle on cases small enough to be known by hand, and what must not change its answer. */
#define _DEFAULT_SOURCE /* mmap, mprotect */

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "reference/oracle/oracle.h"
#include "tests/support/random_problem.h"

#define KEYS 3

/* One head, one query, KEYS keys; D = 1, Dv = 2. */
typedef struct tiny {
    double q[1], k[KEYS], v[2 * KEYS], o[2], lse[1], mask[KEYS], sinks[1];
    attest_problem problem;
} tiny;

static attest_tensor f64(double *data, uint32_t rank, int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t shape[4] = {a, b, c, d};
    attest_tensor tensor = {.data = data, .dtype = ATTEST_F64, .rank = rank};
    int64_t step = 1;
    for (uint32_t axis = rank; axis-- > 0;) {
        tensor.shape[axis] = shape[axis];
        tensor.stride[axis] = step;
        step *= shape[axis];
    }
    return tensor;
}

static void start(tiny *t, uint64_t features) {
    *t = (tiny){.q = {1}, .k = {0, 0, 0}, .v = {1, -1, 2, -2, 6, -6}};
    attest_problem *p = &t->problem;
    *p = (attest_problem){.struct_bytes = sizeof *p,
                          .threads = 1,
                          .features = features | ATTEST_LSE | ATTEST_SCALE,
                          .scale = 1};
    p->q = f64(t->q, 4, 1, 1, 1, 1);
    p->k = f64(t->k, 4, 1, 1, KEYS, 1);
    p->v = f64(t->v, 4, 1, 1, KEYS, 2);
    p->o = f64(t->o, 4, 1, 1, 1, 2);
    p->lse = f64(t->lse, 3, 1, 1, 1, 0);
    if (features & ATTEST_MASK_ADD) {
        p->mask = f64(t->mask, 1, KEYS, 0, 0, 0);
    }
    if (features & ATTEST_SINKS) {
        p->sinks = f64(t->sinks, 1, 1, 0, 0, 0);
    }
}

typedef struct answer {
    attn_enclosure o[2], lse[1];
} answer;

static answer ask_as(const tiny *t, const char *model, const attn_profile *profile) {
    char message[ATTEST_MESSAGE_BYTES];
    attn_normal normal;
    answer result;
    assert_int_equal(attn_normalise(&normal, &t->problem, profile, 0, message), ATTEST_OK);
    assert_int_equal(attn_oracle(&normal, attn_model_find(model), 1, result.o, result.lse, message),
                     ATTEST_OK);
    return result;
}

static answer ask(const tiny *t) { return ask_as(t, "f64-strict", &attn_profile_attest); }

static void near(const attn_enclosure *e, double exact) {
    assert_int_equal(e->kind, ATTN_FINITE);
    assert_true(fabs(e->high + e->low - exact) <= e->own_error + 4 * DBL_EPSILON * fabs(exact));
    assert_true(e->radius > 0 && e->radius < 1e-13 * (1 + fabs(exact)));
    assert_int_equal(attn_judge(e, exact, NULL), ATTN_INSIDE);
}

/* Bit for bit, padding apart. */
static void same(const attn_enclosure *a, const attn_enclosure *b, int64_t count) {
    for (int64_t n = 0; n < count; n++) {
        assert_memory_equal(&a[n].high, &b[n].high, sizeof(double));
        assert_memory_equal(&a[n].low, &b[n].low, sizeof(double));
        assert_memory_equal(&a[n].own_error, &b[n].own_error, sizeof(double));
        assert_memory_equal(&a[n].radius, &b[n].radius, sizeof(double));
        assert_int_equal(a[n].kind, b[n].kind);
        assert_int_equal(a[n].path, b[n].path);
    }
}

static void known_values(void **state) {
    tiny t;
    (void)state;
    start(&t, 0); /* equal scores: the mean of v, log 3 */
    answer a = ask(&t);
    near(&a.o[0], 3);
    near(&a.o[1], -3);
    near(a.lse, log(3));
    start(&t, ATTEST_SINKS); /* a sink of score 0 counts as a fourth key of value 0 */
    a = ask(&t);
    near(&a.o[0], 2.25);
    near(a.lse, log(4));
    start(&t, ATTEST_MASK_ADD); /* -inf hides; a large negative bias does not, but weighs nothing */
    t.mask[1] = -INFINITY;
    t.mask[2] = -1e9;
    a = ask(&t);
    near(&a.o[0], 1);
    start(&t, ATTEST_SOFTCAP); /* tanh(1) and twice tanh(0) */
    t.problem.softcap = 2;
    t.k[2] = 2;
    a = ask(&t);
    double e = exp(2 * tanh(1));
    near(&a.o[0], (3 + 6 * e) / (2 + e));
    attn_profile base_2 = attn_profile_attest;
    base_2.lse_base = ATTN_LSE_BASE_2;
    start(&t, 0);
    a = ask_as(&t, "f64-strict", &base_2);
    near(a.lse, log2(3));
}

static void expect(const answer *a, attn_kind first, attn_kind second, attn_kind lse) {
    assert_int_equal(a->o[0].kind, first);
    assert_int_equal(a->o[1].kind, second);
    assert_int_equal(a->lse[0].kind, lse);
}

static void special_values(void **state) {
    tiny t;
    answer a;
    (void)state;
    start(&t, 0); /* SPV-01: a visible NaN in K reaches the row, in V its column */
    t.k[1] = NAN;
    a = ask(&t);
    expect(&a, ATTN_NAN, ATTN_NAN, ATTN_NAN);
    start(&t, 0);
    t.v[2] = NAN;
    a = ask(&t);
    expect(&a, ATTN_NAN, ATTN_FINITE, ATTN_FINITE);
    start(&t, 0); /* SPV-02 */
    t.v[2] = INFINITY;
    t.v[3] = INFINITY;
    t.v[5] = -INFINITY;
    a = ask(&t);
    expect(&a, ATTN_POS_INF, ATTN_NAN, ATTN_FINITE);
    start(&t, 0); /* its weight may round to 0, and 0 * inf is a NaN */
    t.k[0] = 2000;
    t.v[2] = INFINITY;
    a = ask(&t);
    expect(&a, ATTN_NONFINITE, ATTN_FINITE, ATTN_FINITE);
    start(&t, 0); /* +inf as a score, and -inf beside finite ones */
    t.k[1] = INFINITY;
    a = ask(&t);
    expect(&a, ATTN_NAN, ATTN_NAN, ATTN_NAN_OR_POS_INF);
    t.k[1] = -INFINITY;
    a = ask(&t);
    near(&a.o[0], 3.5);
    t.k[0] = t.k[2] = -INFINITY;
    a = ask(&t);
    expect(&a, ATTN_NAN, ATTN_NAN, ATTN_NAN_OR_NEG_INF);
    start(&t, ATTEST_SINKS);
    t.sinks[0] = INFINITY;
    a = ask(&t);
    expect(&a, ATTN_NAN, ATTN_NAN, ATTN_NAN_OR_POS_INF);
    t.sinks[0] = -INFINITY; /* adds nothing */
    a = ask(&t);
    near(&a.o[0], 3);
    start(&t, ATTEST_MASK_ADD); /* SPV-05 */
    t.mask[2] = INFINITY;
    a = ask(&t);
    expect(&a, ATTN_NAN, ATTN_NAN, ATTN_NAN_OR_POS_INF);
    t.k[0] = NAN; /* beside a NaN there is no limit */
    a = ask(&t);
    expect(&a, ATTN_NAN, ATTN_NAN, ATTN_NAN);
    t.mask[0] = t.mask[1] = t.mask[2] = -INFINITY; /* SEM-12 */
    a = ask(&t);
    expect(&a, ATTN_FINITE, ATTN_FINITE, ATTN_NEG_INF);
    assert_int_equal(attn_judge(&a.o[0], 0.0, NULL), ATTN_INSIDE);
    assert_int_equal(attn_judge(&a.o[0], DBL_TRUE_MIN, NULL), ATTN_OUTSIDE);
    start(&t, ATTEST_MASK_ADD | ATTEST_SINKS); /* an empty row is 0 whatever its sink */
    t.mask[0] = t.mask[1] = t.mask[2] = -INFINITY;
    t.sinks[0] = NAN;
    a = ask(&t);
    expect(&a, ATTN_FINITE, ATTN_FINITE, ATTN_NAN);
    t.sinks[0] = INFINITY;
    a = ask(&t);
    expect(&a, ATTN_FINITE, ATTN_FINITE, ATTN_POS_INF);
}

/* ISO-01..05, MEM-04: a hidden key may hold anything, and is not read. */
static void hidden_keys_do_not_matter(void **state) {
    static const double poison[] = {NAN, INFINITY, -DBL_MAX, 5e-324};
    tiny t;
    (void)state;
    start(&t, ATTEST_MASK_ADD);
    t.mask[1] = -INFINITY;
    answer clean = ask(&t);
    for (size_t n = 0; n < sizeof poison / sizeof poison[0]; n++) {
        t.k[1] = t.v[2] = t.v[3] = poison[n];
        answer a = ask(&t);
        same(a.o, clean.o, 2);
        same(a.lse, clean.lse, 1);
    }
}

/* K and V of padding keys stand on pages that cannot be read. */
static void hidden_keys_are_not_read(void **state) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 6 * page;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_true(memory != MAP_FAILED);
    int64_t length = (int64_t)(page / sizeof(double)); /* keys that fill one page of k, two of v */
    tiny t;
    start(&t, 0);
    attest_problem *p = &t.problem;
    p->k = f64((double *)(void *)memory, 4, 1, 1, 2 * length, 1);
    p->v = f64((double *)(void *)(memory + 2 * page), 4, 1, 1, 2 * length, 2);
    p->features |= ATTEST_KEY_LENGTHS;
    p->key_lengths = (attest_tensor){
        .data = &length, .shape = {1}, .stride = {1}, .dtype = ATTEST_I64, .rank = 1};
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    assert_int_equal(mprotect(memory + 4 * page, 2 * page, PROT_NONE), 0);
    answer a = ask(&t);
    near(a.lse, log((double)length));
    assert_int_equal(munmap(memory, bytes), 0);
}

/* The same kind everywhere. */
static void expect_all(const tiny *t, const char *model, attn_kind kind) {
    const answer a = ask_as(t, model, &attn_profile_attest);
    expect(&a, kind, kind, kind);
}

static void domain_and_radius(void **state) {
    tiny t;
    answer a;
    (void)state;
    start(&t, 0); /* NUM-06: f16 cannot hold 300 * 300 */
    t.q[0] = t.k[0] = 300;
    expect_all(&t, "f16-f16acc", ATTN_OUT_OF_DOMAIN);
    start(&t, ATTEST_MASK_ADD); /* every score is known to 60 units only */
    t.mask[0] = t.mask[1] = t.mask[2] = -1e9;
    t.q[0] = 1e-3;
    t.k[0] = 1;
    a = ask_as(&t, "f32-fastexp", &attn_profile_attest);
    expect(&a, ATTN_NO_RADIUS, ATTN_NO_RADIUS, ATTN_NO_RADIUS);
    assert_int_equal(attn_judge(&a.o[0], 1.0, NULL), ATTN_NO_VERDICT);
    /* A maximum of -1e9 scaled apart is off by exp(60), which a later one takes back; exp(600) is
     * lost. */
    t.mask[2] = 0;
    expect_all(&t, "f32-fastexp", ATTN_FINITE);
    t.mask[0] = -1e10;
    expect_all(&t, "f32-fastexp", ATTN_OUT_OF_DOMAIN);
    expect_all(&t, "f32-strict", ATTN_FINITE);
    start(&t, 0); /* infinity, or NaN after the others have overflowed */
    t.v[0] = -INFINITY;
    a = ask_as(&t, "f32-strict", &attn_profile_attest);
    expect(&a, ATTN_NEG_INF, ATTN_FINITE, ATTN_FINITE);
    t.v[2] = t.v[4] = 3e38;
    a = ask_as(&t, "f32-strict", &attn_profile_attest);
    expect(&a, ATTN_NONFINITE, ATTN_FINITE, ATTN_FINITE);
    start(&t, 0); /* a value that overflows on its way leaves the other column alone */
    t.v[0] = t.v[2] = 3e38;
    a = ask_as(&t, "f32-strict", &attn_profile_attest);
    expect(&a, ATTN_OUT_OF_DOMAIN, ATTN_FINITE, ATTN_FINITE);
}

/* An infinite slope leaves no key any weight, unless what is finite overflows before: inf - inf. */
static void beside_an_infinity(void **state) {
    tiny t;
    double slope[1] = {INFINITY};
    int64_t offset[1] = {5};
    (void)state;
    start(&t, ATTEST_ALIBI | ATTEST_SINKS | ATTEST_OFFSETS | ATTEST_MASK_ADD);
    t.problem.slopes = f64(slope, 1, 1, 0, 0, 0);
    t.problem.offsets = (attest_tensor){
        .data = offset, .dtype = ATTEST_I64, .rank = 1, .shape = {1}, .stride = {1}};
    expect_all(&t, "f32-strict", ATTN_FINITE);
    t.q[0] = t.k[1] = 0x1p+64;
    expect_all(&t, "f32-strict", ATTN_OUT_OF_DOMAIN);
    t.q[0] = 1;
    t.k[1] = t.mask[1] = 0.49 * FLT_MAX;
    expect_all(&t, "f32-strict", ATTN_FINITE);
    t.k[1] = t.mask[1] = 0.5 * FLT_MAX; /* the sum fits, its errors do not */
    expect_all(&t, "f32-strict", ATTN_OUT_OF_DOMAIN);
    t.problem.features |= ATTEST_SOFTCAP; /* an infinite product that softcap makes finite again */
    t.problem.softcap = 0.4 * FLT_MAX;
    t.k[1] = INFINITY;
    expect_all(&t, "f32-strict", ATTN_FINITE);
    t.mask[1] = 0.7 * FLT_MAX;
    expect_all(&t, "f32-strict", ATTN_OUT_OF_DOMAIN);
    t.problem.features &= ~(uint64_t)ATTEST_SOFTCAP; /* an infinite product and a finite slope */
    t.k[0] = t.k[1] = t.k[2] = -INFINITY;
    t.mask[1] = 0;
    slope[0] = -0.19 * FLT_MAX; /* times a distance of 5 */
    expect_all(&t, "f32-strict", ATTN_FINITE);
    slope[0] = -0.19999999 * FLT_MAX; /* fits, but rounds */
    expect_all(&t, "f32-strict", ATTN_OUT_OF_DOMAIN);
    start(&t, ATTEST_SOFTCAP); /* a scale that rounds to 0 beside an infinity */
    t.problem.softcap = 1;
    t.problem.scale = 1e-60;
    t.q[0] = INFINITY;
    t.k[0] = t.k[1] = t.k[2] = 1;
    expect_all(&t, "f64-strict", ATTN_FINITE);
    expect_all(&t, "f32-strict", ATTN_OUT_OF_DOMAIN);
    t.problem.scale = 1; /* the same of a key */
    t.k[0] = 1e-60;
    expect_all(&t, "f32-strict", ATTN_OUT_OF_DOMAIN);
    t.q[0] = 1e-60; /* a NaN stays one */
    t.k[0] = NAN;
    expect_all(&t, "f32-strict", ATTN_NAN);
}

static void judging(void **state) {
    const attn_enclosure e = {.high = 1, .low = 0x1p-60, .own_error = 0x1p-60, .radius = 0x1p-20};
    double ratio;
    (void)state;
    assert_int_equal(attn_judge(&e, 1 + 0x1p-20, &ratio), ATTN_INSIDE);
    assert_true(ratio > 0.999 && ratio <= 1);
    assert_int_equal(attn_judge(&e, 1 + 0x1p-19, &ratio), ATTN_OUTSIDE);
    assert_true(fabs(ratio - 2) < 0.001);
    assert_int_equal(attn_judge(&e, NAN, &ratio), ATTN_OUTSIDE);
    assert_true(isinf(ratio));
    assert_int_equal(attn_judge(&e, INFINITY, NULL), ATTN_OUTSIDE);
    const attn_enclosure endless = {.radius = INFINITY},
                         sum = {.radius = DBL_MAX, .own_error = DBL_MAX};
    assert_int_equal(attn_judge(&endless, 1e300, &ratio), ATTN_NO_VERDICT);
    assert_int_equal(attn_judge(&sum, 1e300, &ratio), ATTN_NO_VERDICT);
    static const struct {
        attn_kind kind;
        double actual;
        int verdict;
    } table[] = {
        {ATTN_NAN, NAN, ATTN_INSIDE},
        {ATTN_NAN, 0, ATTN_OUTSIDE},
        {ATTN_POS_INF, INFINITY, ATTN_INSIDE},
        {ATTN_POS_INF, -INFINITY, ATTN_OUTSIDE},
        {ATTN_NEG_INF, -INFINITY, ATTN_INSIDE},
        {ATTN_NEG_INF, NAN, ATTN_OUTSIDE},
        {ATTN_NONFINITE, NAN, ATTN_INSIDE},
        {ATTN_NAN_OR_POS_INF, NAN, ATTN_INSIDE},
        {ATTN_NAN_OR_POS_INF, INFINITY, ATTN_INSIDE},
        {ATTN_NAN_OR_POS_INF, -INFINITY, ATTN_OUTSIDE},
        {ATTN_NAN_OR_POS_INF, 1, ATTN_OUTSIDE},
        {ATTN_NAN_OR_NEG_INF, -INFINITY, ATTN_INSIDE},
        {ATTN_NAN_OR_NEG_INF, INFINITY, ATTN_OUTSIDE},
        {ATTN_NONFINITE, 1, ATTN_OUTSIDE},
        {ATTN_ANY, 7, ATTN_INSIDE},
        {ATTN_OUT_OF_DOMAIN, 7, ATTN_NO_VERDICT},
    };
    for (size_t n = 0; n < sizeof table / sizeof table[0]; n++) {
        const attn_enclosure one = {.kind = (uint8_t)table[n].kind};
        assert_int_equal(attn_judge(&one, table[n].actual, NULL), table[n].verdict);
    }
}

/* Neither threads nor the rows beside it change a row: the same bits. */
static void rows_stand_alone(void **state) {
    char message[ATTEST_MESSAGE_BYTES];
    random_source source = {3};
    (void)state;
    for (int round = 0; round < 40; round++) {
        random_limits limits = random_limits_small;
        random_problem r;
        attn_normal n;
        limits.queries = 20;
        limits.specials = round % 2;
        random_problem_make(&r, &source, &limits);
        assert_int_equal(attn_normalise(&n, &r.problem, &r.profile, 0, message), ATTEST_OK);
        const attn_model *model = attn_model_find(attn_model_name(round % 8));
        int64_t rows = n.batch * n.q_heads * n.queries, dv = n.value_size;
        attn_enclosure *o = calloc((size_t)(4 * (rows + 1) * (dv + 1)), sizeof *o);
        assert_non_null(o);
        attn_enclosure *lse = o + rows * dv, *o3 = lse + rows, *lse3 = o3 + rows * dv;
        attn_enclosure *one = lse3 + rows, *one_lse = one + dv;
        assert_int_equal(attn_oracle(&n, model, 1, o, lse, message), ATTEST_OK);
        assert_int_equal(attn_oracle(&n, model, 3, o3, lse3, message), ATTEST_OK);
        same(o, o3, rows * dv + rows);
        for (int64_t at = 0; at < rows; at++) {
            int64_t head = at / n.queries;
            assert_int_equal(attn_oracle_row(&n, model, head / n.q_heads, head % n.q_heads,
                                             at % n.queries, one, one_lse, message),
                             ATTEST_OK);
            same(one, o + at * dv, dv);
            same(one_lse, lse + at, 1);
        }
        free(o);
        random_problem_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(special_values),
        cmocka_unit_test(hidden_keys_do_not_matter),
        cmocka_unit_test(hidden_keys_are_not_read),
        cmocka_unit_test(domain_and_radius),
        cmocka_unit_test(beside_an_infinity),
        cmocka_unit_test(judging),
        cmocka_unit_test(rows_stand_alone),
    };
    return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
