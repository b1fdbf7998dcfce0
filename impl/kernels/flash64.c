/* SPDX-License-Identifier: Apache-2.0 */
/* flash64 - flash with every sum in binary64, whatever the types of the operands. */
#include <stddef.h>

#include "impl/frame/entry.h"

const struct attn_engine_f64 *attn_engine_flash_f64(void);

static uint64_t workspace(const attest_problem *problem) {
    return attn_entry_workspace(problem, 1);
}

static attest_status forward(const attest_problem *problem, char message[ATTEST_MESSAGE_BYTES]) {
    return attn_entry_forward(problem, NULL, attn_engine_flash_f64(), message);
}

static const attest_kernel kernel = {
    .struct_bytes = sizeof kernel,
    .abi_version = ATTEST_ABI_VERSION,
    .name = "flash64",
    .vendor = "attest",
    .version = "1",
    .profile = "attest",
    .model = "f32-f64acc",
    .features = ATTEST_ALL_FEATURES,
    .shapes = ATTEST_ALL_SHAPES,
    .dtypes = ATTN_ALL_FLOATS,
    .isolation = ATTEST_ISOLATION_FULL,
    .determinism = ATTN_ALL_SAME,
    .reentrant = 1,
    .supports = attn_entry_supports,
    .workspace_bytes = workspace,
    .forward = forward,
};

const attest_kernel *attest_kernel_v1(uint32_t host_abi_version) {
    return host_abi_version == ATTEST_ABI_VERSION ? &kernel : NULL;
}
