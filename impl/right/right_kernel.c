/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right kernels that do it another way: one source, a switch for each choice that people make
 * (impl/right/rules.mk has the variants). None may ever be rejected.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/arithmetic/elementary.h"
#include "reference/problem/convert.h"
#include "reference/problem/normal.h"

/* The order of every sum. */
#define FORWARD 0
#define REVERSED 1
#define PAIRWISE 2
#ifndef ORDER
#define ORDER FORWARD
#endif
#ifndef TILE /* keys between two looks at the maximum; 0: it is known before the first weight */
#define TILE 0
#endif
#ifndef DIVIDED_FIRST /* weights are divided by their sum before they meet V */
#define DIVIDED_FIRST 0
#endif
#ifndef FUSED
#define FUSED 0
#endif
#ifndef EXP2 /* scores in units of log 2, log2(e) folded into the scale */
#define EXP2 0
#endif
#ifndef MINUS_ZERO /* an empty row is -0: SPV-03 */
#define MINUS_ZERO 0
#endif
#ifndef LIMITS /* the LSE of infinite scores is their limit, not the NaN of the formula: SPV-02 */
#define LIMITS 0
#endif
#ifndef FAST /* built with -ffast-math: libm's functions, which the compiler knows */
#define FAST 0
#endif

#ifdef WIDE /* f64 alone */
#define TYPES (1u << ATTEST_F64)
typedef double real;
typedef double sum_type;
#define EXP attn_exp
#define LOG attn_log
#define TANH attn_tanh
#define FMA fma
#else
#define TYPES (1u << ATTEST_F32 | 1u << ATTEST_F16 | 1u << ATTEST_BF16)
typedef float real;
#ifdef WIDE_SUM
typedef double sum_type;
#define EXP attn_exp
#define LOG attn_log
#define FMA fma
#else
typedef float sum_type;
#define EXP (FAST ? expf : attn_expf)
#define LOG (FAST ? logf : attn_logf)
#define FMA fmaf
#endif
#define TANH (FAST ? tanhf : attn_tanhf)
#endif

/* Below every score; no infinity where -ffast-math assumes that there is none. */
#define LOWEST (FAST ? (sum_type) - FLT_MAX : (sum_type) - INFINITY)
#define LOG2_E 1.44269504088896340736
#define LOG_2 0.693147180559945309417

typedef struct row {
    const attn_normal *n;
    int64_t b, h, i, count;
    sum_type *score, *term; /* of the keys it sees, and room for as many */
    int64_t *key;
} row;

static double load(const attest_tensor *t, int64_t a, int64_t b, int64_t c, int64_t d) {
    return attn_load(t->dtype, attn_element(t, (const int64_t[]){a, b, c, d}));
}

static void store(const attest_tensor *t, const row *r, int64_t c, double value) {
    const int64_t index[ATTEST_MAX_RANK] = {r->b, r->h, r->i, c};
    attn_store(t->dtype, (void *)(uintptr_t)attn_element(t, index), value);
}

static sum_type multiply_add(sum_type a, sum_type b, sum_type c) {
    return FUSED ? FMA(a, b, c) : c + a * b;
}

/* sum a[n], or sum a[n] b[n]. */
static sum_type add_up(const sum_type *a, const sum_type *b, int64_t count) {
    if (ORDER == PAIRWISE && count > 4) {
        const int64_t half = count / 2;
        return add_up(a, b, half) + add_up(a + half, b != NULL ? b + half : NULL, count - half);
    }
    sum_type sum = 0;
    for (int64_t n = 0; n < count; n++) {
        const int64_t at = ORDER == REVERSED ? count - 1 - n : n;
        sum = b != NULL ? multiply_add(a[at], b[at], sum) : sum + a[at];
    }
    return sum;
}

static sum_type exponential(sum_type x) {
#if EXP2
    return exp2f((float)x);
#else
    return EXP(x);
#endif
}

static sum_type score(const row *r, int64_t j, sum_type *q, sum_type *k) {
    const attn_normal *n = r->n;
    const attest_problem *p = n->problem;
    const int64_t kv_head = attn_kv_head(n, r->h);
    for (int64_t c = 0; c < n->head_size; c++) {
        q[c] = (sum_type)load(&p->q, r->b, r->h, r->i, c);
        k[c] = (sum_type)load(&p->k, r->b, kv_head, j, c);
    }
    const int capped = (n->features & ATTEST_SOFTCAP) != 0;
    const sum_type unit = EXP2 ? (sum_type)LOG2_E : 1;
    sum_type s = (sum_type)(n->scale * (EXP2 && !capped ? LOG2_E : 1)) * add_up(q, k, n->head_size);
    if (capped) {
        s = (sum_type)p->softcap * (sum_type)TANH((real)(s / (sum_type)p->softcap)) * unit;
    }
    sum_type bias = 0;
    if (n->features & ATTEST_MASK_ADD) {
        bias = (sum_type)attn_mask_value(n, r->b, r->h, r->i, j);
    }
    if (n->features & ATTEST_ALIBI) {
        const double slope = p->slopes.rank == 2 ? load(&p->slopes, r->b, r->h, 0, 0)
                                                 : load(&p->slopes, r->h, 0, 0, 0);
        const int64_t distance = r->i + attn_offset(n, r->b) - j;
        bias -= (sum_type)slope * (sum_type)(distance < 0 ? -distance : distance);
    }
    return s + bias * unit;
}

/* The weight of a score beside a maximum. Nothing but -inf so far: none, but a NaN stays one. */
static sum_type weight_of(sum_type s, sum_type max) {
    return max == LOWEST ? (s == s ? 0 : s) : exponential(s - max);
}

/* Keys from..to of the row, into sum and mix[], which are in units of exp(max) afterwards. */
static void take_tile(row *r, int64_t from, int64_t to, sum_type *max, sum_type *sum, sum_type *mix,
                      sum_type *values) {
    const attn_normal *n = r->n;
    sum_type top = *max;
    for (int64_t t = from; t < to; t++) {
        top = r->score[t] > top ? r->score[t] : top;
    }
    const sum_type kept = *max == LOWEST ? 1 : exponential(*max - top);
    for (int64_t t = from; t < to; t++) {
        r->term[t] = weight_of(r->score[t], top);
    }
    *sum = *sum * kept + add_up(r->term + from, NULL, to - from);
    for (int64_t t = from; DIVIDED_FIRST && t < to; t++) {
        r->term[t] /= *sum;
    }
    for (int64_t c = 0; c < n->value_size; c++) {
        for (int64_t t = from; t < to; t++) {
            values[t] = (sum_type)load(&n->problem->v, r->b, attn_kv_head(n, r->h), r->key[t], c);
        }
        const sum_type part = add_up(r->term + from, values + from, to - from);
        mix[c] = mix[c] * kept + part;
    }
    *max = top;
}

static double log_sum(const row *r, sum_type max, sum_type sum) {
    int nan = 0;
    for (int64_t t = 0; t < r->count; t++) {
        nan |= r->score[t] != r->score[t];
    }
    if (LIMITS && !nan && !(max < (sum_type)INFINITY && max > (sum_type)-INFINITY)) {
        return (double)max;
    }
#if EXP2
    return (double)((float)LOG_2 * ((float)max + log2f((float)sum)));
#else
    return (double)(max == LOWEST && sum == 0 ? (sum_type)NAN : max + LOG(sum));
#endif
}

static void one_row(row *r, sum_type *scratch, unsigned char *visible) {
    const attn_normal *n = r->n;
    const attest_problem *p = n->problem;
    sum_type *const mix = scratch, *const values = mix + n->value_size;
    const int has_sink = (n->features & ATTEST_SINKS) != 0;
    const double sink = has_sink ? load(&p->sinks, r->h, 0, 0, 0) : (double)LOWEST;
    attn_visible_keys(n, r->b, r->h, r->i, visible);
    r->count = 0;
    for (int64_t j = 0; j < n->keys; j++) {
        if (visible[j]) {
            r->key[r->count] = j;
            r->score[r->count++] = score(r, j, values + n->keys, values + n->keys + n->head_size);
        }
    }
    sum_type max = (sum_type)sink * (EXP2 && has_sink ? (sum_type)LOG2_E : 1), sum = 0;
    if (has_sink && max != LOWEST) {
        sum = exponential(max - max); /* 1, and NaN for what is not finite */
    }
    for (int64_t c = 0; c < n->value_size; c++) {
        mix[c] = 0;
    }
    const int64_t tile = TILE > 0 ? TILE : r->count;
    for (int64_t from = 0; from < r->count; from += tile) {
        const int64_t to = from + tile < r->count ? from + tile : r->count;
        take_tile(r, from, to, &max, &sum, mix, values);
    }
    const int none = r->count == 0;
    for (int64_t c = 0; c < n->value_size; c++) {
        const sum_type divided = DIVIDED_FIRST && sum > 0 ? mix[c] : mix[c] / sum;
        store(&p->o, r, c, none ? (MINUS_ZERO ? -0.0 : 0.0) : (double)divided);
    }
    if (n->features & ATTEST_LSE) {
        store(&p->lse, r, 0, !none ? log_sum(r, max, sum) : has_sink ? sink : -(double)INFINITY);
    }
}

static attest_status supports(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal n;
    const attest_status status = attn_normalise(&n, p, &attn_profile_attest, 1, message);
    const attest_dtype types[] = {p->q.dtype, p->k.dtype, p->o.dtype};
    for (int t = 0; status == ATTEST_OK && t < 3; t++) {
        if (!(TYPES >> types[t] & 1)) {
            snprintf(message, ATTEST_MESSAGE_BYTES, "dtype: not in this kernel");
            return ATTEST_UNSUPPORTED;
        }
    }
    return status;
}

static attest_status forward(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal n;
    attest_status status = supports(p, message);
    status = status == ATTEST_OK ? attn_normalise(&n, p, &attn_profile_attest, 0, message) : status;
    if (status != ATTEST_OK) {
        return status;
    }
    const size_t keys = (size_t)n.keys + 1, sizes = (size_t)(2 * n.head_size + n.value_size) + 1;
    row r = {.n = &n,
             .score = calloc(keys, sizeof *r.score),
             .term = calloc(keys, sizeof *r.term),
             .key = calloc(keys, sizeof *r.key)};
    sum_type *scratch = calloc(keys + sizes, sizeof *scratch);
    unsigned char *visible = calloc(keys, 1);
    const int fine = r.score && r.term && r.key && scratch && visible;
    for (int64_t at = 0; fine && at < n.batch * n.q_heads * n.queries; at++) {
        r.b = at / (n.q_heads * n.queries);
        r.h = at / n.queries % n.q_heads;
        r.i = at % n.queries;
        one_row(&r, scratch, visible);
    }
    free(r.score);
    free(r.term);
    free(r.key);
    free(scratch);
    free(visible);
    return fine ? ATTEST_OK : ATTEST_NO_MEMORY;
}

const attest_kernel *attest_kernel_v1(uint32_t host_abi_version) {
    static const attest_kernel kernel = {
        .struct_bytes = sizeof kernel,
        .abi_version = ATTEST_ABI_VERSION,
        .name = NAME,
        .vendor = "attest",
        .version = "1",
        .profile = "attest",
        .model = MODEL,
        .features = ATTEST_ALL_FEATURES,
        .shapes = ATTEST_ALL_SHAPES,
        .dtypes = TYPES,
        .finite_only = FAST,
        .isolation = ATTEST_ISOLATION_FULL,
        .reentrant = 1,
        .supports = supports,
        .forward = forward,
    };
    return host_abi_version == ATTEST_ABI_VERSION ? &kernel : NULL;
}
