/* SPDX-License-Identifier: Apache-2.0 */
/* For the generic target: the kernel is the shared object that ATTEST_KERNEL names. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec/attest.h"

const attest_kernel *attest_kernel_v1(uint32_t host_abi_version) {
    const char *path = getenv("ATTEST_KERNEL");
    void *object = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = object ? dlsym(object, "attest_kernel_v1") : NULL;
    const attest_kernel *(*entry)(uint32_t) = NULL;
    if (symbol == NULL) {
        fprintf(stderr, "ATTEST_KERNEL: %s\n", path ? dlerror() : "not set");
        return NULL;
    }
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from object to function */
    return entry(host_abi_version);
}
