/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - what this machine can do: fused multiply-adds and memory reads a second. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include <stddef.h>

/* Monotonic time in seconds. */
double bench_now(void);

/* GFLOP/s of binary32 FMA in registers on `threads` threads: best of `tries` of about 20 ms. */
double bench_fma_peak(int threads, int tries);

/* GB/s read from a buffer far larger than the caches: best of `tries` passes. */
double bench_read_bandwidth(int threads, int tries);

/* Name of the vector instructions the peak was measured with. */
const char *bench_vector_name(void);

#endif
