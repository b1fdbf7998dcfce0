/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emulator behind the kernel ABI: a kernel that is right, and makes errors as large and sums in
 * orders as odd as its model MODEL allows. Certifying it must raise no alarm. It takes finite
 * inputs only; draws depend on the row index alone, so that the same call gives the same bits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/problem/convert.h"
#include "tests/support/emulator.h"

static attest_status check(attn_normal *n, const attest_problem *p, int metadata_only,
                           char message[ATTEST_MESSAGE_BYTES]) {
    return attn_normalise(n, p, &attn_profile_attest, metadata_only, message);
}

static attest_status supports(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal n;
    return check(&n, p, 1, message);
}

static void store(const attest_tensor *t, const int64_t index[ATTEST_MAX_RANK], double value) {
    attn_store(t->dtype, (void *)(uintptr_t)attn_element(t, index), value);
}

static void one_row(const attn_normal *n, int64_t b, int64_t h, int64_t i, long double *o,
                    unsigned char *visible) {
    random_source source = {(uint64_t)i + 1};
    const emulator e = {
        .model = attn_model_find(MODEL), .source = &source, .mode = EMULATE_UNIFORM, .stores = 1};
    const attest_problem *p = n->problem;
    long double lse = -INFINITY;
    if (attn_visible_keys(n, b, h, i, visible) > 0) {
        emulate_row(&e, n, b, h, i, NULL, o, &lse);
    } else {
        const int64_t head[ATTEST_MAX_RANK] = {h};
        for (int64_t c = 0; c < n->value_size; c++) {
            o[c] = 0;
        }
        lse = n->features & ATTEST_SINKS ? attn_load(p->sinks.dtype, attn_element(&p->sinks, head))
                                         : -INFINITY;
    }
    for (int64_t c = 0; c < n->value_size; c++) {
        store(&p->o, (const int64_t[]){b, h, i, c}, (double)o[c]);
    }
    if (n->features & ATTEST_LSE) {
        store(&p->lse, (const int64_t[]){b, h, i, 0}, (double)lse);
    }
}

static attest_status forward(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal n;
    const attest_status status = check(&n, p, 0, message);
    if (status != ATTEST_OK) {
        return status;
    }
    long double *o = malloc(((size_t)n.value_size + 1) * sizeof *o);
    unsigned char *visible = malloc((size_t)n.keys + 1);
    for (int64_t row = 0; o && visible && row < n.batch * n.q_heads * n.queries; row++) {
        one_row(&n, row / (n.q_heads * n.queries), row / n.queries % n.q_heads, row % n.queries, o,
                visible);
    }
    const int fine = o != NULL && visible != NULL;
    if (!fine) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "memory: not enough");
    }
    free(o);
    free(visible);
    return fine ? ATTEST_OK : ATTEST_NO_MEMORY;
}

const attest_kernel *attest_kernel_v1(uint32_t host_abi_version) {
    static const attest_kernel kernel = {
        .struct_bytes = sizeof kernel,
        .abi_version = ATTEST_ABI_VERSION,
        .name = "emulator of " MODEL,
        .vendor = "attest",
        .version = "1",
        .profile = "attest",
        .model = MODEL,
        .features = ATTEST_ALL_FEATURES,
        .shapes = ATTEST_ALL_SHAPES,
        .dtypes = TYPES,
        .finite_only = 1,
        .isolation = ATTEST_ISOLATION_FULL,
        .reentrant = 1,
        .supports = supports,
        .forward = forward,
    };
    return host_abi_version == ATTEST_ABI_VERSION ? &kernel : NULL;
}
