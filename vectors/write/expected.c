/* SPDX-License-Identifier: Apache-2.0 */
#include "vectors/write/expected.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/oracle/oracle.h"

static const struct {
    const char *names[ATTEST_VECTOR_MODELS];
    int judge;
} suited[] = {
    {{"f64-strict"}, 0},
    {{"f32-f64acc", "f32-strict", "f32-fastexp", "tf32-f32acc"}, 2},
    {{"f32-strict", "f32-fastexp", "f16-f32acc", "f16-f16acc"}, 2},
    {{"f32-strict", "f32-fastexp", "bf16-f32acc"}, 2},
};

static int suited_to(const attest_problem *p) {
    if (p->k.dtype == ATTEST_BF16 || p->q.dtype == ATTEST_BF16) {
        return 3;
    }
    if (p->k.dtype == ATTEST_F16 || p->q.dtype == ATTEST_F16) {
        return 2;
    }
    return p->q.dtype == ATTEST_F64 ? 0 : 1;
}

/* A radius that says what the oracle says, or -1 where the two disagree on what is due. */
static double radius_of(const attest_expected *exact, const attn_enclosure *oracle,
                        attest_dtype stored_as) {
    static const attest_expected_kind same[] = {[ATTN_FINITE] = ATTEST_EXPECT_NUMBER,
                                                [ATTN_NAN] = ATTEST_EXPECT_NAN,
                                                [ATTN_POS_INF] = ATTEST_EXPECT_INFINITY,
                                                [ATTN_NEG_INF] = ATTEST_EXPECT_INFINITY,
                                                [ATTN_NONFINITE] = ATTEST_EXPECT_NONFINITE,
                                                [ATTN_ANY] = ATTEST_EXPECT_ANYTHING,
                                                [ATTN_NAN_OR_POS_INF] = ATTEST_EXPECT_NONFINITE,
                                                [ATTN_NAN_OR_NEG_INF] = ATTEST_EXPECT_NONFINITE};
    if (oracle->kind == ATTN_NO_RADIUS || oracle->kind == ATTN_OUT_OF_DOMAIN) {
        return (double)NAN;
    }
    if (same[oracle->kind] != exact->kind ||
        (oracle->kind == ATTN_POS_INF && exact->high != (double)INFINITY) ||
        (oracle->kind == ATTN_NEG_INF && exact->high != (double)-INFINITY)) {
        return -1;
    }
    if (exact->kind != ATTEST_EXPECT_NUMBER) {
        return exact->kind == ATTEST_EXPECT_ANYTHING ? (double)NAN : 0;
    }
    /* The oracle's centre is computed with the default scale in binary64: a part of the radius. */
    double apart = fabs(exact->high - oracle->high + (exact->low - oracle->low));
    if (apart > oracle->own_error + ATTN_OWN_ERROR_PART * oracle->radius) {
        return -1;
    }
    return attest_round_up(oracle->radius, stored_as);
}

static int take_radii(double *radius, const attest_expected *exact, const attn_enclosure *oracle,
                      size_t count, attest_dtype stored_as) {
    for (size_t k = 0; k < count; k++) {
        radius[k] = radius_of(&exact[k], &oracle[k], stored_as);
        if (radius[k] < 0) {
            return (int)k;
        }
    }
    return -1;
}

static attest_status add_model(attest_expectation *e, const attn_normal *n, const char *name,
                               char *message) {
    attest_dtype wide = n->problem->q.dtype == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    const attn_oracle_options options = {1, ATTN_PATH_DOUBLE};
    int at = e->models++, bad_o, bad_lse;
    attn_enclosure *o = calloc(e->o_count + 1, sizeof *o);
    attn_enclosure *lse = calloc(e->lse_count + 1, sizeof *lse);
    e->model[at] = name;
    e->o_radius[at] = calloc(e->o_count + 1, sizeof(double));
    e->lse_radius[at] = calloc(e->lse_count + 1, sizeof(double));
    attest_status status = ATTEST_NO_MEMORY;
    snprintf(message, ATTEST_MESSAGE_BYTES, "not enough memory");
    if (o && lse && e->o_radius[at] && e->lse_radius[at]) {
        status = attn_oracle_with(n, attn_model_find(name), &options, o, lse, message);
    }
    if (status == ATTEST_OK) {
        bad_o = take_radii(e->o_radius[at], e->o, o, e->o_count, wide);
        bad_lse = take_radii(e->lse_radius[at], e->lse, lse, e->lse_count, wide);
        if (bad_o >= 0 || bad_lse >= 0) {
            const attest_expected *x = bad_o >= 0 ? &e->o[bad_o] : &e->lse[bad_lse];
            const attn_enclosure *y = bad_o >= 0 ? &o[bad_o] : &lse[bad_lse];
            snprintf(message, ATTEST_MESSAGE_BYTES,
                     "%s, %s[%d]: exact %a%+a kind %d, oracle %a%+a kind %d own %a radius %a", name,
                     bad_o >= 0 ? "o" : "lse", bad_o >= 0 ? bad_o : bad_lse, x->high, x->low,
                     (int)x->kind, y->high, y->low, y->kind, y->own_error, y->radius);
            status = ATTEST_INTERNAL;
        }
    }
    free(o);
    free(lse);
    return status;
}

attest_status attest_expect(attest_expectation *e, const attn_normal *n,
                            char message[ATTEST_MESSAGE_BYTES]) {
    size_t rows = (size_t)(n->batch * n->q_heads * n->queries);
    int kind = suited_to(n->problem);
    *e = (attest_expectation){
        .o_count = rows * (size_t)n->value_size, .lse_count = rows, .judge = suited[kind].judge};
    e->o = calloc(e->o_count + 1, sizeof *e->o);
    e->lse = calloc(e->lse_count + 1, sizeof *e->lse);
    snprintf(message, ATTEST_MESSAGE_BYTES, "the exact result could not be rounded");
    attest_status status = e->o && e->lse ? attest_exact(n, e->o, e->lse) : ATTEST_NO_MEMORY;
    for (int k = 0; status == ATTEST_OK && k < ATTEST_VECTOR_MODELS && suited[kind].names[k]; k++) {
        status = add_model(e, n, suited[kind].names[k], message);
    }
    if (status != ATTEST_OK) {
        attest_expectation_free(e);
    }
    return status;
}

void attest_expectation_free(attest_expectation *e) {
    free(e->o);
    free(e->lse);
    for (int k = 0; k < e->models; k++) {
        free(e->o_radius[k]);
        free(e->lse_radius[k]);
    }
    *e = (attest_expectation){0};
}
