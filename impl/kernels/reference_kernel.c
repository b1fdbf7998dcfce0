/* SPDX-License-Identifier: Apache-2.0 */
/* reference - the proved reference behind the kernel ABI, so that it is certified like any other */
#include <stddef.h>

#include "reference/kernel/forward.h"
#include "reference/problem/normal.h"

static attest_status supports(const attest_problem *problem, char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal normal;
    return attn_normalise(&normal, problem, &attn_profile_attest, 1, message);
}

static attest_status forward(const attest_problem *problem, char message[ATTEST_MESSAGE_BYTES]) {
    return attn_forward(problem, &attn_profile_attest, message);
}

const attest_kernel *attest_kernel_v1(uint32_t host_abi_version) {
    static const attest_kernel kernel = {
        .struct_bytes = sizeof(attest_kernel),
        .abi_version = ATTEST_ABI_VERSION,
        .name = "reference",
        .vendor = "attest",
        .version = "1",
        .profile = "attest",
        .model = "f32-strict",
        .features = ATTEST_ALL_FEATURES,
        .shapes = ATTEST_ALL_SHAPES,
        .dtypes = 1u << ATTEST_F32 | 1u << ATTEST_F64 | 1u << ATTEST_F16 | 1u << ATTEST_BF16,
        .isolation = ATTEST_ISOLATION_FULL,
        /* Row by row, in the order of the visible keys: nothing else can reach a result. */
        .determinism = ATTEST_SAME_THREADS | ATTEST_SAME_POSITION | ATTEST_SAME_BATCH |
                       ATTEST_SAME_CHUNK | ATTEST_SAME_DECODE | ATTEST_SAME_PREFIX,
        .reentrant = 1,
        .supports = supports,
        .forward = forward,
    };
    return host_abi_version == ATTEST_ABI_VERSION ? &kernel : NULL;
}
