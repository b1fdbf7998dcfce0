/* SPDX-License-Identifier: Apache-2.0 */
/* The reference as a kernel that follows the profile given by -DPROFILE_NAME, -DCORNER, ... */
#include <stddef.h>

#include "reference/kernel/forward.h"
#include "reference/problem/normal.h"

static const attn_profile profile = {
    .corner = CORNER,
    .window_form = WINDOW_FORM,
    .default_scale = DEFAULT_SCALE,
    .gqa_order = GQA_ORDER,
    .lse_base = LSE_BASE,
    .lse_empty = LSE_EMPTY,
    .empty_row = EMPTY_ROW,
    .mask_with_causal = MASK_WITH_CAUSAL,
};

static attest_status forward(const attest_problem *problem, char message[ATTEST_MESSAGE_BYTES]) {
    return attn_forward(problem, &profile, message);
}

ATTEST_EXPORT const attest_kernel *attest_kernel_v1(uint32_t host) {
    static const attest_kernel kernel = {
        .struct_bytes = sizeof kernel,
        .abi_version = ATTEST_ABI_VERSION,
        .name = "follower",
        .profile = PROFILE_NAME,
        .model = "f32-strict",
        .features = ATTEST_ALL_FEATURES & ~(uint64_t)WITHOUT_FEATURES,
        .shapes = ATTEST_ALL_SHAPES,
        .dtypes = 1u << ATTEST_F32 | 1u << ATTEST_F64 | 1u << ATTEST_F16 | 1u << ATTEST_BF16,
        .isolation = ATTEST_ISOLATION_FULL,
        .determinism = ATTEST_SAME_THREADS | ATTEST_SAME_POSITION | ATTEST_SAME_BATCH |
                       ATTEST_SAME_CHUNK | ATTEST_SAME_DECODE | ATTEST_SAME_PREFIX,
        .reentrant = 1,
        .forward = forward,
    };
    return host == ATTEST_ABI_VERSION ? &kernel : NULL;
}
