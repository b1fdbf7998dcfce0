/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/judge/second.h"

#include <math.h>
#include <stdlib.h>

#define MOST_WORK (INT64_C(1) << 26) /* multiplications */

void attest_second_open(attest_second *second, const attest_workbench *bench) {
    const attn_normal *n = &bench->normal;
    const int64_t rows = n->batch * n->q_heads * n->queries;
    *second = (attest_second){0};
    if (rows * n->keys * (n->head_size + n->value_size) > MOST_WORK ||
        n->queries * n->keys > MOST_WORK / 8) {
        return;
    }
    second->o = malloc(((size_t)(rows * n->value_size) + 1) * sizeof *second->o);
    second->lse = malloc(((size_t)rows + 1) * sizeof *second->lse);
    second->ready = second->o != NULL && second->lse != NULL &&
                    attn_oracle_gsl(&bench->stage.problem, &bench->profile, second->o,
                                    second->lse) == ATTEST_OK;
}

void attest_second_close(attest_second *second) {
    free(second->o);
    free(second->lse);
    *second = (attest_second){0};
}

static int replace(const attn_gsl_value *v, attn_enclosure *e) {
    switch ((attn_kind)e->kind) {
    case ATTN_NAN:
        return v->open || isnan(v->value);
    case ATTN_POS_INF:
    case ATTN_NEG_INF:
        return v->open || (isinf(v->value) && (v->value > 0) == (e->kind == ATTN_POS_INF));
    case ATTN_FINITE:
        if (v->open || !isfinite(v->own_error)) { /* it knows nothing here */
            return 1;
        }
        if (!isfinite(v->value) ||
            !(fabs(v->value - e->high - e->low) <= (v->own_error + e->own_error) * (1 + 0x1p-40))) {
            return 0;
        }
        e->high = v->value;
        e->low = 0;
        e->own_error = v->own_error;
        return 1;
    default:
        return 1;
    }
}

int attest_second_replace(const attest_second *second, const attn_normal *n, int64_t row,
                          attn_enclosure *o, attn_enclosure *lse) {
    int agree = 1;
    for (int64_t c = 0; c < n->value_size; c++) {
        agree = replace(&second->o[row * n->value_size + c], &o[c]) && agree;
    }
    return (n->problem->lse.dtype == 0 || replace(&second->lse[row], lse)) && agree;
}
