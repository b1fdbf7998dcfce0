/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_kernel.c - checks a kernel that exports the ABI against the vectors, without attest: no
 * sandbox, no structural checks, just results. Prints a line a vector and exits with 1 if one is
 * wrong.
 *
 *   check KERNEL.so CORPUS [MODEL [FIRST]]
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/problem/normal.h"
#include "vectors/read/manifest.h"

typedef const attest_kernel *(*entry_point)(uint32_t host_abi_version);

static void *room_for(const attest_tensor *tensor) {
    size_t count = 1;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        count *= (size_t)tensor->shape[axis];
    }
    return aligned_alloc(64, (count * (size_t)attn_dtype_bytes(tensor->dtype) / 64 + 1) * 64);
}

/* What a descriptor does not declare is not asked of it. */
static int declared(const attest_kernel *kernel, const attest_problem *p, const char *profile) {
    uint64_t types =
        UINT64_C(1) << p->q.dtype | UINT64_C(1) << p->k.dtype | UINT64_C(1) << p->o.dtype;
    uint64_t shapes = 0;
    shapes |= p->q.shape[1] != p->k.shape[1] ? ATTEST_CAN_GQA : 0;
    shapes |= p->q.shape[3] != p->v.shape[3] ? ATTEST_CAN_DV : 0;
    shapes |= p->q.shape[2] * p->k.shape[2] * p->v.shape[3] == 0 ? ATTEST_CAN_EMPTY : 0;
    shapes |= p->q.dtype != p->k.dtype || p->q.dtype != p->o.dtype ? ATTEST_CAN_MIXED_TYPES : 0;
    return (p->features & ~kernel->features) == 0 && (types & ~kernel->dtypes) == 0 &&
           (shapes & ~kernel->shapes) == 0 &&
           strcmp(kernel->profile ? kernel->profile : "attest", profile) == 0;
}

static const char *verdict(const attest_kernel *kernel, const attest_vector *vector,
                           const char *model, char *message) {
    attest_problem p = vector->problem;
    if (!(kernel->features & ATTEST_LSE)) {
        p.features &= ~ATTEST_LSE;
        p.lse = (attest_tensor){0};
    }
    if (!vector->stored || !declared(kernel, &p, vector->profile)) {
        return "skip";
    }
    p.o.data = room_for(&p.o);
    p.lse.data = p.lse.dtype ? room_for(&p.lse) : NULL;
    p.workspace_bytes = kernel->workspace_bytes ? kernel->workspace_bytes(&p) : 0;
    p.workspace = p.workspace_bytes ? aligned_alloc(64, (p.workspace_bytes / 64 + 1) * 64) : NULL;
    attest_status status = kernel->forward(&p, message);
    int wrong;
    if (!vector->valid) {
        wrong = status == ATTEST_OK;
        snprintf(message, ATTEST_MESSAGE_BYTES, "an invalid problem is accepted");
    } else if (status != ATTEST_OK) {
        wrong = 1;
    } else {
        wrong = attest_vector_judge(vector, model, &p.o, p.lse.dtype ? &p.lse : NULL, message);
    }
    free(p.o.data);
    free(p.lse.data);
    free(p.workspace);
    return wrong < 0 ? "skip" : wrong ? "fail" : "pass";
}

int main(int argc, char **argv) {
    char message[ATTEST_MESSAGE_BYTES] = "";
    attest_corpus corpus;
    int failed = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: check KERNEL.so CORPUS [MODEL [FIRST]]\n");
        return 64;
    }
    void *object = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void *symbol = object ? dlsym(object, "attest_kernel_v1") : NULL;
    entry_point entry;
    memcpy(&entry, &symbol, sizeof entry);
    const attest_kernel *kernel = entry ? entry(ATTEST_ABI_VERSION) : NULL;
    if (!kernel || (kernel->init && kernel->init(message) != ATTEST_OK)) {
        fprintf(stderr, "check: %s\n", object ? "no kernel, or it does not start" : dlerror());
        return 2;
    }
    if (attest_corpus_open(&corpus, argv[2], message) != 0) {
        fprintf(stderr, "check: %s\n", message);
        return 2;
    }
    const char *model = argc > 3 && argv[3][0] ? argv[3] : kernel->model;
    size_t first = argc > 4 ? (size_t)strtoul(argv[4], NULL, 10) : 0; /* to go on after a crash */
    for (size_t k = first; k < corpus.count; k++) {
        const attest_vector *vector = &corpus.vectors[k];
        const char *word = verdict(kernel, vector, model, message);
        int fail = strcmp(word, "fail") == 0;
        printf("%s %s %s/%s%s%s\n", word, vector->id, vector->group, vector->name, fail ? ": " : "",
               fail ? message : "");
        fflush(stdout); /* a crash in the next vector must not hide this line */
        failed += fail;
    }
    attest_corpus_close(&corpus);
    if (kernel->shutdown) {
        kernel->shutdown();
    }
    return failed ? 1 : 0;
}
