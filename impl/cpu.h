/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.h - whether this processor, and its system, run the micro-kernels of an instruction set. */
#ifndef ATTN_CPU_H
#define ATTN_CPU_H

#if defined(__x86_64__)
#include <cpuid.h>

static inline int attn_cpu_has_avx2(void) {
    unsigned a = 0, b = 0, c = 0, d = 0; /* F16C by hand: not every compiler knows its name */
    int has_f16c = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
    return has_f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static inline int attn_cpu_has_avx512(void) {
    return attn_cpu_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

#endif
