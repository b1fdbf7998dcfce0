/* SPDX-License-Identifier: Apache-2.0 */
#include "vectors/write/exact.h"

#include <stdlib.h>

#include "reference/problem/convert.h"
#include "vectors/write/exact_row.h"

#define FIRST_BITS 320
#define LAST_BITS 20480

typedef attest_exact_row row;

static double sink_of(const attn_normal *n, int64_t h) {
    const int64_t index[ATTEST_MAX_RANK] = {h};
    return attn_load(n->problem->sinks.dtype, attn_element(&n->problem->sinks, index));
}

static void set_precision(row *r, mpfr_prec_t bits) {
    for (int64_t j = 0; j < r->n->keys; j++) {
        mpfr_set_prec(r->score[j], bits);
        mpfr_set_prec(r->weight[j], bits);
        r->special[j] = 0;
    }
    mpfr_set_prec(r->scale, bits);
    mpfr_set_prec(r->softcap, bits);
    mpfr_set_prec(r->sum, bits);
    mpfr_set_prec(r->maximum, bits);
    mpfr_set_prec(r->term, bits);
    mpfr_set_prec(r->part, bits);
    mpfr_set_zero(r->magnitude, 1);
    if ((r->n->features & ATTEST_SCALE) || r->n->profile.default_scale == ATTN_SCALE_ONE) {
        mpfr_set_d(r->scale, r->n->scale, MPFR_RNDN);
    } else { /* SEM-13: 1/sqrt(D), not what binary64 makes of it */
        mpfr_rec_sqrt(r->scale, (mpfr_set_si(r->term, (long)r->n->head_size, MPFR_RNDN), r->term),
                      MPFR_RNDN);
    }
    mpfr_set_d(r->softcap, r->n->problem->softcap, MPFR_RNDN);
}

static int open_row(row *r, const attn_normal *n) {
    size_t keys = n->keys ? (size_t)n->keys : 1;
    *r = (row){.n = n,
               .visible = calloc(keys, 1),
               .special = calloc(keys, sizeof *r->special),
               .score = calloc(keys, sizeof *r->score),
               .weight = calloc(keys, sizeof *r->weight)};
    if (!r->visible || !r->special || !r->score || !r->weight) {
        return 0;
    }
    for (int64_t j = 0; j < n->keys; j++) {
        mpfr_inits2(FIRST_BITS, r->score[j], r->weight[j], (mpfr_ptr)0);
    }
    mpfr_inits2(FIRST_BITS, r->scale, r->softcap, r->sum, r->maximum, r->term, r->part,
                (mpfr_ptr)0);
    mpfr_inits2(64, r->magnitude, r->bound, (mpfr_ptr)0);
    return 1;
}

static void close_row(row *r, int opened) {
    for (int64_t j = 0; opened && j < r->n->keys; j++) {
        mpfr_clears(r->score[j], r->weight[j], (mpfr_ptr)0);
    }
    if (opened) {
        mpfr_clears(r->scale, r->softcap, r->sum, r->maximum, r->term, r->part, r->magnitude,
                    r->bound, (mpfr_ptr)0);
    }
    free(r->visible);
    free(r->special);
    free(r->score);
    free(r->weight);
}

attest_status attest_exact(const attn_normal *n, attest_expected *o, attest_expected *lse) {
    row r;
    int opened = open_row(&r, n);
    attest_status status = opened ? ATTEST_OK : ATTEST_NO_MEMORY;
    int64_t rows = n->batch * n->q_heads * n->queries;
    for (int64_t at = 0; status == ATTEST_OK && at < rows; at++) {
        r.i = at % n->queries;
        r.h = at / n->queries % n->q_heads;
        r.b = at / n->queries / n->q_heads;
        r.kv_head = attn_kv_head(n, r.h);
        r.visible_count = attn_visible_keys(n, r.b, r.h, r.i, r.visible);
        r.has_sink = (n->features & ATTEST_SINKS) != 0;
        r.sink = r.has_sink ? sink_of(n, r.h) : 0;
        int certain = 0;
        for (mpfr_prec_t bits = FIRST_BITS; !certain && bits <= LAST_BITS; bits *= 4) {
            set_precision(&r, bits);
            certain = attest_exact_one_row(&r, o + at * n->value_size, lse + at);
        }
        status = certain ? ATTEST_OK : ATTEST_INTERNAL;
    }
    close_row(&r, opened);
    mpfr_free_cache();
    return status;
}
