/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flash - the frame (frame.h) with vector micro-kernels (micro_vector.c). Prefill and decoding are
 * one kernel: few queries share a block with the other heads of their group, and a call too small
 * to occupy its threads is cut along the keys (drive.h). The bits are the same on every processor.
 */
#include <stddef.h>

#include "impl/frame/entry.h"
#include "impl/micro/fastexp.h"

const struct attn_engine_f32 *attn_engine_flash_f32(void);
const struct attn_engine_f64 *attn_engine_flash_f64(void);

static uint64_t workspace(const attest_problem *problem) {
    return attn_entry_workspace(problem, 0);
}

static attest_status forward(const attest_problem *problem, char message[ATTEST_MESSAGE_BYTES]) {
    return attn_entry_forward(problem, attn_engine_flash_f32(), attn_engine_flash_f64(), message);
}

static const attest_kernel kernel = {
    .name = "flash",
    .model = "f32-fastexp",
    .exp_ulps = ATTN_FAST_EXP_ULPS,
    .workspace_bytes = workspace,
    .forward = forward,
    ATTN_ENTRY_DESCRIPTOR,
};

const attest_kernel *attest_kernel_v1(uint32_t host_abi_version) {
    return host_abi_version == ATTEST_ABI_VERSION ? &kernel : NULL;
}
