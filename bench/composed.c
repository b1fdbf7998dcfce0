/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The baseline that every framework should beat: sgemm, softmax, sgemm over blocks of 64 query
 * rows, fully masked columns skipped, blocks handed out to threads. With one query, the heads of a
 * group are the rows. BLAS itself runs on one thread.
 */
#include <cblas.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "impl/micro/fastexp.h"

enum { ROWS = 64, MAX_THREADS = 64 };

typedef struct work {
    const float *q, *k, *v;
    float *o;
    int64_t batch, heads, kv_heads, queries, keys, size;
    atomic_int_fast64_t next;
} work;

int bench_composed(const float *q, const float *k, const float *v, float *o, const int64_t shape[6],
                   int threads);

static void softmax_row(float *s, int64_t visible, int64_t width) {
    float top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < visible; j++) {
        top = s[j] > top ? s[j] : top;
    }
    for (int64_t j = 0; j < visible; j++) {
        s[j] = attn_fast_expf(s[j] - top);
        sum += s[j];
    }
    float inverse = 1 / sum;
    for (int64_t j = 0; j < visible; j++) {
        s[j] *= inverse;
    }
    for (int64_t j = visible; j < width; j++) {
        s[j] = 0;
    }
}

static int64_t units_of(const work *w) {
    int64_t blocks = (w->queries + ROWS - 1) / ROWS;
    return w->queries == 1 ? w->batch * w->kv_heads : w->batch * w->heads * blocks;
}

/* Rows of q and o that lie together, their KV head, and how far they see. */
static void one_block(const work *w, int64_t unit, float *s) {
    int64_t blocks = (w->queries + ROWS - 1) / ROWS, group = w->heads / w->kv_heads, d = w->size;
    int64_t first = (blocks - 1 - unit % blocks) * ROWS, row = unit / blocks * w->queries + first;
    int64_t kv = unit / blocks / group, offset = w->keys - w->queries;
    int64_t rows = w->queries - first < ROWS ? w->queries - first : ROWS;
    int64_t width = first + rows + offset;
    if (w->queries == 1) {
        kv = unit;
        row = unit * group;
        rows = group;
    }
    const float *k = w->k + kv * w->keys * d, *v = w->v + kv * w->keys * d;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)width, (int)d,
                1 / sqrtf((float)d), w->q + row * d, (int)d, k, (int)d, 0, s, (int)width);
    for (int64_t r = 0; r < rows; r++) {
        softmax_row(s + r * width, w->queries == 1 ? width : first + r + offset + 1, width);
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)d, (int)width, 1, s,
                (int)width, v, (int)d, 0, w->o + row * d, (int)d);
}

static void *worker(void *argument) {
    work *w = argument;
    int64_t units = units_of(w), unit;
    float *s = malloc((size_t)((ROWS + w->heads) * w->keys) * sizeof *s);
    while (s && (unit = atomic_fetch_add(&w->next, 1)) < units) {
        one_block(w, unit, s);
    }
    free(s);
    return NULL;
}

/* Causal, bottom-right, dense [B,H,S,D]; shape is B, Hq, Hkv, Sq, Sk, D. */
int bench_composed(const float *q, const float *k, const float *v, float *o, const int64_t shape[6],
                   int threads) {
    work w = {.q = q,
              .k = k,
              .v = v,
              .o = o,
              .batch = shape[0],
              .heads = shape[1],
              .kv_heads = shape[2],
              .queries = shape[3],
              .keys = shape[4],
              .size = shape[5]};
    pthread_t thread[MAX_THREADS];
    for (int t = 1; t < threads; t++) {
        if (pthread_create(&thread[t], NULL, worker, &w) != 0) {
            abort();
        }
    }
    worker(&w);
    for (int t = 1; t < threads; t++) {
        pthread_join(thread[t], NULL);
    }
    return 0;
}
