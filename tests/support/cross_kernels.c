/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a hash of what each kernel in a directory computes for random problems; no test library,
 * so that it runs under an emulator: see test_cross.sh. */
#include <dlfcn.h>
#include <stdio.h>

#include "tests/support/kernel_case.h"

enum { CASES = 480 };

typedef const attest_kernel *(*entry_fn)(uint32_t);

static uint64_t hash_word(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_tensor(uint64_t hash, const attest_tensor *t) {
    int64_t total = t->rank ? 1 : 0;
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        total *= t->shape[axis];
    }
    for (int64_t n = 0; n < total; n++) {
        int64_t at[ATTEST_MAX_RANK] = {0}, rest = n;
        for (uint32_t axis = t->rank; axis > 0; axis--) {
            at[axis - 1] = rest % t->shape[axis - 1];
            rest /= t->shape[axis - 1];
        }
        double value = attn_load(t->dtype, attn_element(t, at));
        uint64_t word;
        memcpy(&word, &value, sizeof word);
        hash = hash_word(hash, isnan(value) ? 1 : word);
    }
    return hash;
}

static int run(const attest_kernel *k) {
    for (uint64_t seed = 0; seed < CASES; seed++) {
        kernel_case c;
        char message[ATTEST_MESSAGE_BYTES] = "";
        case_make(&c, seed, (k->dtypes >> ATTEST_F64 & 1) != 0,
                  seed % 240 == 0 ? 2
                  : seed % 8 == 5 ? 3
                                  : seed % 8 == 0);
        c.p.threads = (int32_t)(seed % 3) + 1;
        c.p.workspace_bytes = k->workspace_bytes(&c.p);
        c.p.workspace = aligned_alloc(64, c.p.workspace_bytes / 64 * 64 + 64);
        if (k->forward(&c.p, message) != ATTEST_OK) {
            fprintf(stderr, "%s, case %d: %s\n", k->name, (int)seed, message);
            return 1;
        }
        uint64_t hash = hash_tensor(hash_tensor(seed, &c.p.o), &c.p.lse);
        printf("%s %d %016llx\n", k->name, (int)seed, (unsigned long long)hash);
        free(c.p.workspace);
        case_release(&c);
    }
    return 0;
}

int main(int argc, char **argv) {
    int bad = argc < 2;
    for (int n = 1; n < argc; n++) {
        void *object = dlopen(argv[n], RTLD_NOW | RTLD_LOCAL);
        entry_fn entry = NULL;
        if (object) {
            *(void **)&entry = dlsym(object, "attest_kernel_v1");
        }
        bad |= !entry || run(entry(ATTEST_ABI_VERSION));
    }
    return bad;
}
