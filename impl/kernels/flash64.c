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
    .name = "flash64",
    .model = "f32-f64acc",
    .workspace_bytes = workspace,
    .forward = forward,
    ATTN_ENTRY_DESCRIPTOR,
};

const attest_kernel *attest_kernel_v1(uint32_t host_abi_version) {
    return host_abi_version == ATTEST_ABI_VERSION ? &kernel : NULL;
}
