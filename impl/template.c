/* SPDX-License-Identifier: Apache-2.0 */
/* A complete kernel, to copy: cc -O2 -shared -fPIC -Ispec impl/template.c -o libtemplate.so -lm */
#include <attest.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#define FEATURES (ATTEST_CAUSAL | ATTEST_KEY_LENGTHS | ATTEST_SCALE | ATTEST_LSE)
#define SAME (ATTEST_SAME_THREADS | ATTEST_SAME_POSITION | ATTEST_SAME_BATCH | ATTEST_SAME_PREFIX)

static float *at(const attest_tensor *t, int64_t b, int64_t h, int64_t s, int64_t c) {
    const int64_t *step = t->stride;
    return (float *)t->data + b * step[0] + h * step[1] + s * step[2] + c * step[3];
}

static float score(const attest_problem *p, int64_t b, int64_t h, int64_t i, int64_t g, int64_t j) {
    int has_scale = (p->features & ATTEST_SCALE) != 0;
    float sum = 0, scale = (float)(has_scale ? p->scale : 1 / sqrt((double)p->q.shape[3]));
    for (int64_t c = 0; c < p->q.shape[3]; c++) {
        sum += *at(&p->q, b, h, i, c) * *at(&p->k, b, g, j, c);
    }
    return sum * scale;
}

/* Keys 0 .. count-1 are visible. The others are never read, so nothing in them can matter. */
static void one_row(const attest_problem *p, int64_t b, int64_t h, int64_t i, int64_t count) {
    int64_t g = h / (p->q.shape[1] / p->k.shape[1]), size = p->v.shape[3];
    float max = -INFINITY, sum = 0;
    for (int64_t j = 0; j < count; j++) {
        max = fmaxf(max, score(p, b, h, i, g, j));
    }
    for (int64_t j = 0; j < count; j++) {
        float weight = expf(score(p, b, h, i, g, j) - max);
        sum += weight;
        for (int64_t c = 0; c < size; c++) {
            float *o = at(&p->o, b, h, i, c), before = j > 0 ? *o : 0;
            *o = before + weight * *at(&p->v, b, g, j, c);
        }
    }
    for (int64_t c = 0; c < size; c++) {
        *at(&p->o, b, h, i, c) = count > 0 ? *at(&p->o, b, h, i, c) / sum : 0;
    }
    if (p->features & ATTEST_LSE) {
        *at(&p->lse, b, h, i, 0) = count > 0 ? max + logf(sum) : -INFINITY;
    }
}

static attest_status forward(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]) {
    int unknown = (p->features & ~FEATURES) != 0 || p->q.dtype != ATTEST_F32 ||
                  p->k.dtype != ATTEST_F32 || p->o.dtype != ATTEST_F32;
    for (uint64_t n = offsetof(attest_problem, reserved32); n < p->struct_bytes; n++) {
        unknown |= ((const unsigned char *)p)[n];
    }
    if (unknown) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "features, dtype or reserved: not in this kernel");
        return ATTEST_UNSUPPORTED;
    }
    int64_t heads = p->q.shape[1], rows = heads * p->q.shape[2], *lengths = p->key_lengths.data;
    for (int64_t n = 0; n < p->q.shape[0] * rows; n++) {
        int64_t b = n / rows, h = n % rows % heads, i = n % rows / heads, keys = p->k.shape[2];
        keys = lengths ? lengths[b * p->key_lengths.stride[0]] : keys;
        int64_t seen = i + keys - p->q.shape[2] + 1; /* causal, bottom-right corner (MASK-09) */
        seen = !(p->features & ATTEST_CAUSAL) || seen > keys ? keys : seen > 0 ? seen : 0;
        one_row(p, b, h, i, seen);
    }
    return ATTEST_OK;
}

/* clang-format off */
static const attest_kernel kernel = {
    .struct_bytes = sizeof kernel, .abi_version = ATTEST_ABI_VERSION, .name = "template",
    .profile = "attest", .model = "f32-fastexp", .features = FEATURES, .dtypes = 1u << ATTEST_F32,
    .shapes = ATTEST_ALL_SHAPES & ~ATTEST_CAN_MIXED_TYPES, .isolation = ATTEST_ISOLATION_FULL,
    .determinism = SAME, .reentrant = 1, .forward = forward};
/* clang-format on */

const attest_kernel *attest_kernel_v1(uint32_t host) {
    return host == ATTEST_ABI_VERSION ? &kernel : NULL;
}
