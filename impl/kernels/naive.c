/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naive - attention as its definition reads, to be read. One thread, binary32 arithmetic.
 *
 *   for each batch entry, head and row
 *     which keys are visible                       attn_visible_keys
 *     for each visible key    score, maximum
 *     for each visible key    weight, sum, output
 *     divide the output by the sum
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "reference/arithmetic/elementary.h"
#include "reference/problem/convert.h"
#include "reference/problem/normal.h"

typedef struct place {
    int64_t b, h, i;
} place;

static float load(const attest_tensor *t, int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t index[ATTEST_MAX_RANK] = {a, b, c, d};
    return (float)attn_load(t->dtype, attn_element(t, index));
}

static void store(const attest_tensor *t, const place *at, int64_t c, float value) {
    const int64_t index[ATTEST_MAX_RANK] = {at->b, at->h, at->i, c};
    attn_store(t->dtype, (void *)(uintptr_t)attn_element(t, index), (double)value);
}

/* Row s of head h of entry b as binary32: in place where it lies so, else widened into `room`. */
static const float *row_of(const attest_tensor *t, int64_t b, int64_t h, int64_t s, float *room) {
    if (t->shape[3] == 0) { /* there may be no address to begin from */
        return room;
    }
    const int64_t index[ATTEST_MAX_RANK] = {b, h, s, 0};
    const unsigned char *first = attn_element(t, index);
    if (t->dtype == ATTEST_F32 && t->stride[3] == 1) {
        return (const float *)(const void *)first;
    }
    /* The stride of an axis of one element may be anything. */
    const int64_t step = t->shape[3] > 1 ? t->stride[3] * attn_dtype_bytes(t->dtype) : 0;
    for (int64_t c = 0; c < t->shape[3]; c++) {
        room[c] = (float)attn_load(t->dtype, first + c * step);
    }
    return room;
}

static float score(const attn_normal *n, const place *at, const float *q, const float *k,
                   int64_t j) {
    const attest_problem *p = n->problem;
    float sum = 0;
    for (int64_t c = 0; c < n->head_size; c++) {
        sum += q[c] * k[c];
    }
    float s = (float)n->scale * sum;
    if (n->features & ATTEST_SOFTCAP) {
        s = (float)p->softcap * attn_tanhf(s / (float)p->softcap);
    }
    float bias = 0;
    if (n->features & ATTEST_MASK_ADD) {
        bias = (float)attn_mask_value(n, at->b, at->h, at->i, j);
    }
    if (n->features & ATTEST_ALIBI) {
        float slope = p->slopes.rank == 2 ? load(&p->slopes, at->b, at->h, 0, 0)
                                          : load(&p->slopes, at->h, 0, 0, 0);
        int64_t distance = at->i + attn_offset(n, at->b) - j;
        bias -= slope * (float)(distance < 0 ? -distance : distance);
    }
    return s + bias;
}

/* Where a row is worked on: D, D, Dv, Dv and Sk elements. */
typedef struct room {
    float *q, *k, *v, *out, *scores;
    unsigned char *visible;
} room;

static void one_row(const attn_normal *n, const place *at, const room *r) {
    const attest_problem *p = n->problem;
    float *scores = r->scores, *out = r->out;
    unsigned char *visible = r->visible;
    const float *q = row_of(&p->q, at->b, at->h, at->i, r->q);
    int64_t kv_head = attn_kv_head(n, at->h);
    int64_t count = attn_visible_keys(n, at->b, at->h, at->i, visible);
    int has_sink = (n->features & ATTEST_SINKS) != 0;
    float sink = has_sink ? load(&p->sinks, at->h, 0, 0, 0) : -INFINITY;
    float max = sink, sum = 0;
    for (int64_t j = 0; j < n->keys; j++) {
        if (visible[j]) {
            scores[j] = score(n, at, q, row_of(&p->k, at->b, kv_head, j, r->k), j);
            max = scores[j] > max ? scores[j] : max;
        }
    }
    for (int64_t c = 0; c < n->value_size; c++) {
        out[c] = 0;
    }
    for (int64_t j = 0; j < n->keys; j++) {
        if (visible[j]) {
            const float weight = attn_expf(scores[j] - max);
            const float *v = row_of(&p->v, at->b, kv_head, j, r->v);
            sum += weight;
            for (int64_t c = 0; c < n->value_size; c++) {
                out[c] += weight * v[c];
            }
        }
    }
    if (has_sink) {
        sum += attn_expf(sink - max);
    }
    for (int64_t c = 0; c < n->value_size; c++) {
        store(&p->o, at, c, count > 0 ? out[c] / sum : 0.0f);
    }
    if (n->features & ATTEST_LSE) {
        store(&p->lse, at, 0, count > 0 ? max + attn_logf(sum) : sink);
    }
}

/* Floats for a row of scores, two of q and two of v; then a byte a key. */
static uint64_t workspace_bytes(const attest_problem *p) {
    return (uint64_t)(p->k.shape[2] + 2 * p->q.shape[3] + 2 * p->v.shape[3]) * sizeof(float) +
           (uint64_t)p->k.shape[2];
}

static attest_status supports(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal normal;
    attest_status status = attn_normalise(&normal, p, &attn_profile_attest, 1, message);
    if (status == ATTEST_OK &&
        (p->q.dtype == ATTEST_F64 || p->k.dtype == ATTEST_F64 || p->o.dtype == ATTEST_F64)) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "dtype: binary64 is not in this kernel");
        return ATTEST_UNSUPPORTED;
    }
    return status;
}

static attest_status forward(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal n;
    attest_status status = supports(p, message);
    if (status == ATTEST_OK) {
        status = attn_normalise(&n, p, &attn_profile_attest, 0, message);
    }
    if (status != ATTEST_OK) {
        return status;
    }
    if (p->workspace_bytes < workspace_bytes(p) || (workspace_bytes(p) > 0 && !p->workspace)) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "workspace_bytes: too few for a row of scores");
        return ATTEST_NO_MEMORY;
    }
    room r = {.scores = p->workspace};
    if (r.scores != NULL) { /* NULL only where nothing has a size */
        r.q = r.scores + n.keys;
        r.k = r.q + n.head_size;
        r.v = r.k + n.head_size;
        r.out = r.v + n.value_size;
        r.visible = (unsigned char *)(r.out + n.value_size);
    }
    for (place at = {0, 0, 0}; at.b < n.batch; at.b++) {
        for (at.h = 0; at.h < n.q_heads; at.h++) {
            for (at.i = 0; at.i < n.queries; at.i++) {
                one_row(&n, &at, &r);
            }
        }
    }
    return ATTEST_OK;
}

static const attest_kernel kernel = {
    .struct_bytes = sizeof kernel,
    .abi_version = ATTEST_ABI_VERSION,
    .name = "naive",
    .vendor = "attest",
    .version = "1",
    .profile = "attest",
    .model = "f32-strict",
    .features = ATTEST_ALL_FEATURES,
    .shapes = ATTEST_ALL_SHAPES,
    .dtypes = UINT64_C(1) << ATTEST_F32 | UINT64_C(1) << ATTEST_F16 | UINT64_C(1) << ATTEST_BF16,
    .isolation = ATTEST_ISOLATION_FULL,
    .determinism = ATTEST_SAME_THREADS | ATTEST_SAME_POSITION | ATTEST_SAME_BATCH |
                   ATTEST_SAME_CHUNK | ATTEST_SAME_DECODE | ATTEST_SAME_PREFIX,
    .reentrant = 1,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .forward = forward,
};

const attest_kernel *attest_kernel_v1(uint32_t host_abi_version) {
    return host_abi_version == ATTEST_ABI_VERSION ? &kernel : NULL;
}
