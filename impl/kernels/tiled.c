/* SPDX-License-Identifier: Apache-2.0 */
/* tiled - the frame (frame.h) with portable micro-kernels: online softmax in plain C. */
#include <stddef.h>

#include "impl/frame/entry.h"

extern const struct attn_engine_f32 attn_engine_tiled_f32;
extern const struct attn_engine_f64 attn_engine_tiled_f64;

static uint64_t workspace(const attest_problem *problem) {
    return attn_entry_workspace(problem, 0);
}

static attest_status forward(const attest_problem *problem, char message[ATTEST_MESSAGE_BYTES]) {
    return attn_entry_forward(problem, &attn_engine_tiled_f32, &attn_engine_tiled_f64, message);
}

static const attest_kernel kernel = {
    .name = "tiled",
    .model = "f32-strict",
    .workspace_bytes = workspace,
    .forward = forward,
    ATTN_ENTRY_DESCRIPTOR,
};

const attest_kernel *attest_kernel_v1(uint32_t host_abi_version) {
    return host_abi_version == ATTEST_ABI_VERSION ? &kernel : NULL;
}
