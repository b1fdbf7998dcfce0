/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/core/reference_as_kernel.h"

#include "reference/kernel/forward.h"

static attest_status forward(const attest_problem *problem, char message[ATTEST_MESSAGE_BYTES]) {
    return attn_forward(problem, &attn_profile_attest, message);
}

const attest_kernel attest_fuzz_reference = {
    .struct_bytes = sizeof attest_fuzz_reference,
    .abi_version = ATTEST_ABI_VERSION,
    .name = "reference",
    .profile = "attest",
    .model = "f32-strict",
    .features = ATTEST_ALL_FEATURES,
    .shapes = ATTEST_ALL_SHAPES,
    .dtypes = UINT64_C(1) << ATTEST_F32 | UINT64_C(1) << ATTEST_F64 | UINT64_C(1) << ATTEST_F16 |
              UINT64_C(1) << ATTEST_BF16,
    .isolation = ATTEST_ISOLATION_FULL,
    .determinism = ATTEST_SAME_THREADS | ATTEST_SAME_POSITION | ATTEST_SAME_BATCH |
                   ATTEST_SAME_CHUNK | ATTEST_SAME_DECODE | ATTEST_SAME_PREFIX,
    .reentrant = 1,
    .forward = forward,
};
