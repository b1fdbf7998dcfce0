/* SPDX-License-Identifier: Apache-2.0 */
/* The bundled kernels, loaded and called; for tests, after cmocka.h. */
#ifndef KERNEL_CALLS_H
#define KERNEL_CALLS_H

#include <dlfcn.h>
#include <stdio.h>

#include "tests/support/kernel_case.h"

enum { CASES = 240 };

typedef const attest_kernel *(*entry_fn)(uint32_t);

static const char *const names[] = {"naive", "tiled", "flash64", "flash"};
enum { KERNELS = sizeof names / sizeof names[0] };
static const attest_kernel *kernels[KERNELS];

static int load_kernels(void **state) {
    (void)state;
    const char *build = getenv("BUILD");
    for (int n = 0; n < KERNELS; n++) {
        char path[512];
        snprintf(path, sizeof path, "%s/impl/lib%s.so", build ? build : "build/default", names[n]);
        void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!object) {
            print_error("%s\n", dlerror());
            return -1;
        }
        entry_fn entry;
        *(void **)&entry = dlsym(object, "attest_kernel_v1");
        kernels[n] = entry(ATTEST_ABI_VERSION);
    }
    return 0;
}

static int takes_wide(const attest_kernel *k) { return (k->dtypes >> ATTEST_F64 & 1) != 0; }

/* Calls a kernel with a workspace of exactly what it asks for, full of NaN. */
static attest_status call(const attest_kernel *k, attest_problem *p, char *message) {
    p->workspace_bytes = k->workspace_bytes ? k->workspace_bytes(p) : 0;
    size_t padded = (p->workspace_bytes + 63) / 64 * 64;
    p->workspace = padded ? aligned_alloc(64, padded) : NULL;
    if (padded) {
        memset(p->workspace, 0xff, padded);
    }
    attest_status status = k->forward(p, message);
    free(p->workspace);
    p->workspace = NULL;
    return status;
}

static void run(const attest_kernel *k, attest_problem *p) {
    char message[ATTEST_MESSAGE_BYTES] = "";
    if (call(k, p, message) != ATTEST_OK) {
        fail_msg("%s: %s", k->name, message);
    }
}

typedef struct results {
    double *o, *lse;
    int64_t rows, size;
} results;

static results read_results(const attest_problem *p) {
    int64_t rows = p->q.shape[0] * p->q.shape[1] * p->q.shape[2], size = p->o.shape[3];
    results r = {.rows = rows, .size = size};
    r.o = calloc((size_t)(rows * size + 1), sizeof(double));
    r.lse = calloc((size_t)rows + 1, sizeof(double));
    for (int64_t n = 0; n < rows; n++) {
        int64_t at[4] = {n / p->q.shape[2] / p->q.shape[1], n / p->q.shape[2] % p->q.shape[1],
                         n % p->q.shape[2], 0};
        if (p->features & ATTEST_LSE) {
            r.lse[n] = attn_load(p->lse.dtype, attn_element(&p->lse, at));
        }
        for (at[3] = 0; at[3] < size; at[3]++) {
            r.o[n * size + at[3]] = attn_load(p->o.dtype, attn_element(&p->o, at));
        }
    }
    return r;
}

static void drop(results r) {
    free(r.o);
    free(r.lse);
}

static int same(double a, double b) {
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static int same_rows(const results *a, int64_t a_row, const results *b, int64_t b_row) {
    int equal = same(a->lse[a_row], b->lse[b_row]);
    for (int64_t c = 0; c < a->size; c++) {
        equal &= same(a->o[a_row * a->size + c], b->o[b_row * a->size + c]);
    }
    return equal;
}

#endif
