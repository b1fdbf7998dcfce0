/* SPDX-License-Identifier: Apache-2.0 */
#include "impl/frame/drive.h"

extern const ATTN_NAME(attn_engine) ATTN_NAME(attn_engine_tiled);
const ATTN_NAME(attn_engine)
    ATTN_NAME(attn_engine_tiled) = {.micro = &ATTN_NAME(attn_micro_portable)};
