/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include "bench/limits.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "impl/micro/simd.h"

enum { MAX_THREADS = 64, CHAINS = 12, STEPS = 400000, PAGE = 4096 };
static const size_t far_bytes = (size_t)1 << 30; /* far larger than the caches */

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Independent chains, enough to fill the latency of both units; vectors of the widest kind. */
#define PEAK_BODY(wide, set, fma)                                                                  \
    wide sum[CHAINS], x = set(start + 0.999f), y = set(start + 1e-3f);                             \
    for (int c = 0; c < CHAINS; c++) {                                                             \
        sum[c] = set(start + (float)c);                                                            \
    }                                                                                              \
    for (int n = 0; n < STEPS; n++) {                                                              \
        UNROLLED for (int c = 0; c < CHAINS; c++) { sum[c] = fma(sum[c], x, y); }                  \
    }                                                                                              \
    for (int c = 1; c < CHAINS; c++) {                                                             \
        sum[0] = fma(sum[c], x, sum[0]);                                                           \
    }                                                                                              \
    float lane[sizeof(wide) / sizeof(float)];                                                      \
    memcpy(lane, &sum[0], sizeof lane);                                                            \
    return lane[0]

typedef float (*peak_fn)(float);

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static float peak_512(float start) {
    PEAK_BODY(__m512, _mm512_set1_ps, _mm512_fmadd_ps);
}
__attribute__((target("avx2,fma"))) static float peak_256(float start) {
    PEAK_BODY(__m256, _mm256_set1_ps, _mm256_fmadd_ps);
}
#define SSE_MULTIPLY_ADD(x, y, z) _mm_add_ps(_mm_mul_ps(x, y), z)
static float peak_128(float start) { PEAK_BODY(__m128, _mm_set1_ps, SSE_MULTIPLY_ADD); }

static peak_fn peak_function(int *lanes) {
    if (__builtin_cpu_supports("avx512f")) {
        *lanes = 16;
        return peak_512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        *lanes = 8;
        return peak_256;
    }
    *lanes = 4;
    return peak_128;
}
#elif defined(__aarch64__)
#define NEON_FMA(x, y, z) vfmaq_f32(z, x, y)
static float peak_128(float start) { PEAK_BODY(float32x4_t, vdupq_n_f32, NEON_FMA); }

static peak_fn peak_function(int *lanes) {
    *lanes = 4;
    return peak_128;
}
#else
#define PLAIN_SET(x) (x)
#define PLAIN_FMA(x, y, z) ((x) * (y) + (z))
static float peak_1(float start) { PEAK_BODY(float, PLAIN_SET, PLAIN_FMA); }

static peak_fn peak_function(int *lanes) {
    *lanes = 1;
    return peak_1;
}
#endif

const char *bench_vector_name(void) {
    int lanes;
    peak_function(&lanes);
    return lanes == 16 ? "avx512" : lanes == 8 ? "avx2" : lanes == 4 ? "128 bits" : "scalar";
}

typedef struct task {
    pthread_barrier_t *barrier;
    double seconds;
    float sink;
    int rounds;
    const char *data;
    size_t bytes;
} task;

/* Works until the threads have each a processor of its own, then waits for the others. */
static void settle(task *t) {
    int lanes;
    peak_fn run = peak_function(&lanes);
    double start = bench_now();
    while (bench_now() < start + 0.006) {
        t->sink = run(t->sink * 1e-30f);
    }
    pthread_barrier_wait(t->barrier);
}

static void *peak_task(void *argument) {
    task *t = argument;
    int lanes;
    peak_fn run = peak_function(&lanes);
    settle(t);
    double start = bench_now();
    for (int n = 0; n < t->rounds; n++) {
        t->sink = run(t->sink * 1e-30f);
    }
    t->seconds = bench_now() - start;
    return NULL;
}

/* Eight independent sums of the widest vectors: as fast as loads can be issued. */
#define READ_BODY(bytes_wide)                                                                      \
    typedef float wide __attribute__((vector_size(bytes_wide)));                                   \
    wide sum[8] = {{0}};                                                                           \
    for (size_t at = 0; at < bytes; at += 8 * sizeof(wide)) {                                      \
        UNROLLED for (size_t n = 0; n < 8; n++) {                                                  \
            sum[n] += *(const wide *)(const void *)(data + at + n * sizeof(wide));                 \
        }                                                                                          \
    }                                                                                              \
    float total = 0;                                                                               \
    for (int n = 0; n < 8; n++) {                                                                  \
        total += sum[n][0];                                                                        \
    }                                                                                              \
    return total

#ifdef __x86_64__
__attribute__((target("avx512f"))) static float read_512(const char *data, size_t bytes) {
    READ_BODY(64);
}
__attribute__((target("avx2"))) static float read_256(const char *data, size_t bytes) {
    READ_BODY(32);
}
#endif
static float read_128(const char *data, size_t bytes) { READ_BODY(16); }

static float read_all(const char *data, size_t bytes) {
    int lanes;
    peak_function(&lanes);
#ifdef __x86_64__
    if (lanes == 16) {
        return read_512(data, bytes);
    }
    if (lanes == 8) {
        return read_256(data, bytes);
    }
#endif
    return read_128(data, bytes);
}

static void *read_task(void *argument) {
    task *t = argument;
    settle(t);
    double start = bench_now();
    t->sink = read_all(t->data, t->bytes);
    t->seconds = bench_now() - start;
    return NULL;
}

static double slowest(void *(*run)(void *), task *tasks, int threads) {
    pthread_t thread[MAX_THREADS];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int t = 0; t < threads; t++) {
        tasks[t].barrier = &barrier;
        if (t > 0 && pthread_create(&thread[t], NULL, run, &tasks[t]) != 0) {
            abort();
        }
    }
    run(&tasks[0]);
    double longest = tasks[0].seconds;
    for (int t = 1; t < threads; t++) {
        pthread_join(thread[t], NULL);
        longest = tasks[t].seconds > longest ? tasks[t].seconds : longest;
    }
    pthread_barrier_destroy(&barrier);
    return longest;
}

double bench_fma_peak(int threads, int rounds) {
    int lanes;
    task tasks[MAX_THREADS];
    memset(tasks, 0, sizeof tasks);
    for (int t = 0; t < threads; t++) {
        tasks[t].rounds = rounds;
    }
    peak_function(&lanes);
    double seconds = slowest(peak_task, tasks, threads);
    return 2e-9 * STEPS * CHAINS * lanes * rounds * threads / seconds;
}

/* Mapped once, and never given back: filling it takes longer than reading it. */
static const char *far_memory(void) {
    static char *data;
    if (!data) {
        data = mmap(NULL, far_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (data == MAP_FAILED) {
            abort();
        }
        madvise(data, far_bytes, MADV_HUGEPAGE);
        memset(data, 1, far_bytes);
    }
    return data;
}

/* Seconds to read the first `bytes` of it. */
static double read_far(int threads, size_t bytes) {
    const char *data = far_memory();
    task tasks[MAX_THREADS];
    memset(tasks, 0, sizeof tasks);
    for (int t = 0; t < threads; t++) {
        tasks[t].bytes = bytes / (size_t)threads / PAGE * PAGE;
        tasks[t].data = data + (size_t)t * tasks[t].bytes;
    }
    return slowest(read_task, tasks, threads);
}

void bench_empty_caches(int threads) { read_far(threads, far_bytes); }

double bench_read_bandwidth(int threads, size_t bytes) {
    return 1e-9 * (double)bytes / read_far(threads, bytes);
}
