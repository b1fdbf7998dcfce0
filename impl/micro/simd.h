/* SPDX-License-Identifier: Apache-2.0 */
/* What the vector layers share: functions that must be inlined, loops that must be unrolled. */
#ifndef ATTN_SIMD_H
#define ATTN_SIMD_H

#define SIMD inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

/* Steps of a long loop in one round. GCC takes minutes to compile many with its address sanitizer;
 * clang does not, and runs them under its own. */
#if defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define ROUND(steps) 1
#else
#define ROUND(steps) (steps)
#endif

#endif
