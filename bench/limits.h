/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - what this machine can do: fused multiply-adds and memory reads a second. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include <stddef.h>

/* Monotonic time in seconds. */
double bench_now(void);

/* GFLOP/s of binary32 FMA in registers on `threads` threads, over `rounds` of about a
 * millisecond. */
double bench_fma_peak(int threads, int rounds);

/* GB/s of reading `bytes` (at most 1 GiB) on `threads` threads: from memory after
 * bench_empty_caches, if the caches are small beside 1 GiB. */
double bench_read_bandwidth(int threads, size_t bytes);

/* Reads so much other memory that what was used before must come from memory again. */
void bench_empty_caches(int threads);

/* Name of the vector instructions the peak was measured with. */
const char *bench_vector_name(void);

#endif
