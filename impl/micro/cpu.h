/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.h - whether this processor, and its system, run the micro-kernels of an instruction set. */
#ifndef ATTN_CPU_H
#define ATTN_CPU_H

#if defined(__x86_64__)
#if defined(__clang__) ? __clang_major__ < 16 : __GNUC__ < 11
#include <cpuid.h>
static inline int attn_cpu_has_f16c(void) { /* this compiler does not know the name */
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
}
#else
static inline int attn_cpu_has_f16c(void) { return __builtin_cpu_supports("f16c") != 0; }
#endif

static inline int attn_cpu_has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && attn_cpu_has_f16c();
}

static inline int attn_cpu_has_avx512(void) {
    return attn_cpu_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

#endif
