/* SPDX-License-Identifier: Apache-2.0 */
/* Storage types to attn_real, one element at a time. */
#include "impl/frame/drive.h"
#include "reference/problem/convert.h"

#define LOADER(name, type, dtype)                                                                  \
    static void name(attn_real *to, const void *from, int64_t position, int64_t stride,            \
                     size_t n) {                                                                   \
        const type *array = (const type *)from + position;                                         \
        for (size_t c = 0; c < n; c++) {                                                           \
            to[c] = (attn_real)attn_load(dtype, array + (int64_t)c * stride);                      \
        }                                                                                          \
    }

LOADER(load_f16, uint16_t, ATTEST_F16)
LOADER(load_bf16, uint16_t, ATTEST_BF16)
LOADER(load_f32, float, ATTEST_F32)
LOADER(load_f64, double, ATTEST_F64)

ATTN_NAME(attn_load_fn)
ATTN_NAME(attn_loader)(const ATTN_NAME(attn_engine) * engine, attest_dtype dtype) {
    if (dtype == (ATTN_BITS == 64 ? ATTEST_F64 : ATTEST_F32)) {
        return ATTN_NAME(attn_load_real);
    }
    switch (dtype) {
    case ATTEST_F16:
        return engine->load_f16 ? engine->load_f16 : load_f16;
    case ATTEST_BF16:
        return engine->load_bf16 ? engine->load_bf16 : load_bf16;
    case ATTEST_F32:
        return load_f32;
    default:
        return load_f64;
    }
}
