/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Throughput of the oracle by path, counted as 4 D operations a visible pair. One thread is timed
 * by the processor time it took, so that a busy machine does not count; two threads by the clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "reference/oracle/oracle.h"
#include "reference/problem/convert.h"
#include "tests/support/random_problem.h"

static double seconds(int threads) {
    struct timespec now;
    if (threads == 1) {
        return (double)clock() / CLOCKS_PER_SEC;
    }
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct bench {
    random_problem problem;
    attn_normal normal;
    attn_enclosure *o, *lse;
    int64_t outputs;
    double operations;
} bench;

static void fill(attest_tensor *tensor, random_source *source, attest_dtype dtype, int64_t heads,
                 int64_t length, int64_t size) {
    int64_t count = heads * length * size, step = attn_dtype_bytes(dtype);
    char *values = calloc((size_t)count, (size_t)step);
    for (int64_t n = 0; values && n < count; n++) {
        attn_store(dtype, values + n * step, 2 * random_unit(source));
    }
    *tensor = (attest_tensor){.data = values,
                              .shape = {1, heads, length, size},
                              .stride = {count, length * size, size, 1},
                              .dtype = dtype,
                              .rank = 4};
}

static int prepare(bench *b, attest_dtype dtype, int64_t heads, int64_t queries, int64_t keys,
                   int64_t size) {
    char message[ATTEST_MESSAGE_BYTES];
    random_source source = {1};
    attest_problem *p = &b->problem.problem;
    *p = (attest_problem){.struct_bytes = sizeof *p, .threads = 1};
    fill(&p->q, &source, dtype, heads, queries, size);
    fill(&p->k, &source, dtype, heads, keys, size);
    fill(&p->v, &source, dtype, heads, keys, size);
    fill(&p->o, &source, dtype, heads, queries, size);
    b->outputs = heads * queries * size;
    b->o = calloc((size_t)b->outputs, sizeof *b->o);
    b->lse = calloc((size_t)(heads * queries), sizeof *b->lse);
    b->operations = 4.0 * (double)(heads * queries * keys * size);
    return b->o && b->lse &&
           attn_normalise(&b->normal, p, &attn_profile_attest, 0, message) == ATTEST_OK;
}

/* Best of a few runs, in 10^9 operations a second. */
static double rate(bench *b, const char *model, attn_path path, int threads, int runs) {
    char message[ATTEST_MESSAGE_BYTES];
    const attn_oracle_options options = {threads, path};
    double best = 0;
    for (int run = 0; run < runs; run++) {
        double start = seconds(threads);
        if (attn_oracle_with(&b->normal, attn_model_find(model), &options, b->o, b->lse, message) !=
            ATTEST_OK) {
            printf("%s\n", message);
            exit(1);
        }
        double speed = 1e-9 * b->operations / (seconds(threads) - start);
        best = speed > best ? speed : best;
    }
    return best;
}

static void shares(const bench *b, const char *model) {
    long count[3] = {0};
    for (int64_t n = 0; n < b->outputs; n++) {
        count[b->o[n].path]++;
    }
    double all = 100.0 / (double)b->outputs;
    printf("%-12s elements by path: binary64 %.2f %%, double-double %.2f %%, MPFR %.2f %%\n", model,
           all * (double)count[0], all * (double)count[1], all * (double)count[2]);
}

int main(void) {
    bench large, small;
    if (!prepare(&large, ATTEST_F32, 4, 256, 1024, 64) ||
        !prepare(&small, ATTEST_F64, 1, 8, 256, 64)) {
        printf("no memory\n");
        return 1;
    }
    double one = rate(&large, "f32-strict", ATTN_PATH_DOUBLE, 1, 5);
    shares(&large, "f32-strict");
    double two = rate(&large, "f32-strict", ATTN_PATH_DOUBLE, 2, 5);
    printf("binary64       %7.3f GFLOP/s on one thread, %.3f on two (%.2f times)\n", one, two,
           two / one);
    clock_t before = clock();
    rate(&large, "f32-strict", ATTN_PATH_DOUBLE, 2, 5);
    double both = (double)(clock() - before) / CLOCKS_PER_SEC / 5;
    printf("               two threads take %.2f times the processor time of one\n",
           both / (1e-9 * large.operations / one));
    printf("double-double  %7.3f GFLOP/s\n",
           rate(&small, "f64-strict", ATTN_PATH_DOUBLE_DOUBLE, 1, 3));
    printf("MPFR           %7.3f GFLOP/s\n", rate(&small, "f64-strict", ATTN_PATH_MPFR, 1, 1));
    rate(&small, "f64-strict", ATTN_PATH_DOUBLE, 1, 1);
    shares(&small, "f64-strict");
    return 0;
}
