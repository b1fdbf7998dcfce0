/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oneDNN as a peer: product, softmax, product over whole matrices, the mask added in between (as a
 * post-op it is slower by far). The heads of a group lie together, so their queries are the rows of
 * one matrix. Written for version 2.
 */
#include <dnnl.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>

enum { AXES = 3 }; /* KV head of a batch entry, row, column */
enum { Q, K, V, S, O, MASK, TENSORS };

typedef struct bench_onednn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_memory_t memory[TENSORS];
    dnnl_primitive_t scores, hide, softmax, mix;
    float *s;
    int causal, threads;
} bench_onednn;

bench_onednn *bench_onednn_new(const float *q, const float *k, const float *v, const float *mask,
                               float *o, const int64_t shape[6], int threads);
int bench_onednn_run(const bench_onednn *b);
void bench_onednn_free(bench_onednn *b);

static void need(int condition) {
    if (!condition) {
        abort();
    }
}

static void ok(dnnl_status_t status) { need(status == dnnl_success); }

static dnnl_primitive_t made(const void *description, dnnl_primitive_attr_t attributes,
                             dnnl_engine_t engine) {
    dnnl_primitive_desc_t what;
    dnnl_primitive_t primitive;
    ok(dnnl_primitive_desc_create(&what, description, attributes, engine, NULL));
    ok(dnnl_primitive_create(&primitive, what));
    ok(dnnl_primitive_desc_destroy(what));
    return primitive;
}

static dnnl_memory_desc_t matrix(int64_t count, int64_t rows, int64_t columns, int turned) {
    const dnnl_dims_t shape = {count, rows, columns};
    dnnl_memory_desc_t made_desc;
    ok(dnnl_memory_desc_init_by_tag(&made_desc, AXES, shape, dnnl_f32,
                                    turned ? dnnl_acb : dnnl_abc));
    return made_desc;
}

bench_onednn *bench_onednn_new(const float *q, const float *k, const float *v, const float *mask,
                               float *o, const int64_t shape[6], int threads) {
    const int64_t n = shape[0] * shape[2], rows = shape[1] / shape[2] * shape[3], sk = shape[4],
                  d = shape[5];
    bench_onednn *made_peer = calloc(1, sizeof *made_peer);
    need(made_peer != NULL);
    made_peer->s = malloc((size_t)(n * rows * sk) * sizeof(float));
    need(made_peer->s != NULL);
    made_peer->causal = shape[3] > 1;
    made_peer->threads = threads;
    omp_set_num_threads(threads);
    ok(dnnl_engine_create(&made_peer->engine, dnnl_cpu, 0));
    ok(dnnl_stream_create(&made_peer->stream, made_peer->engine, dnnl_stream_default_flags));

    const dnnl_memory_desc_t layout[TENSORS] = {
        [Q] = matrix(n, rows, d, 0),  [K] = matrix(n, d, sk, 1),   [V] = matrix(n, sk, d, 0),
        [S] = matrix(n, rows, sk, 0), [O] = matrix(n, rows, d, 0), [MASK] = matrix(1, rows, sk, 0)};
    const void *data[TENSORS] = {q, k, v, made_peer->s, o, mask};
    for (int t = 0; t < TENSORS; t++) {
        ok(dnnl_memory_create(&made_peer->memory[t], &layout[t], made_peer->engine,
                              (void *)(uintptr_t)data[t]));
    }

    dnnl_primitive_attr_t attributes;
    const float scale = 1 / sqrtf((float)d);
    ok(dnnl_primitive_attr_create(&attributes));
    ok(dnnl_primitive_attr_set_output_scales(attributes, 1, 0, &scale));
    dnnl_matmul_desc_t product;
    dnnl_binary_desc_t sum;
    dnnl_softmax_desc_t softmax;
    ok(dnnl_matmul_desc_init(&product, &layout[Q], &layout[K], NULL, &layout[S]));
    made_peer->scores = made(&product, attributes, made_peer->engine);
    ok(dnnl_binary_desc_init(&sum, dnnl_binary_add, &layout[S], &layout[MASK], &layout[S]));
    made_peer->hide = made(&sum, NULL, made_peer->engine);
    ok(dnnl_softmax_forward_desc_init(&softmax, dnnl_forward_inference, &layout[S], AXES - 1));
    made_peer->softmax = made(&softmax, NULL, made_peer->engine);
    ok(dnnl_matmul_desc_init(&product, &layout[S], &layout[V], NULL, &layout[O]));
    made_peer->mix = made(&product, NULL, made_peer->engine);
    ok(dnnl_primitive_attr_destroy(attributes));
    return made_peer;
}

int bench_onednn_run(const bench_onednn *b) {
    dnnl_memory_t const *m = b->memory;
    const dnnl_exec_arg_t scores[] = {
        {DNNL_ARG_SRC, m[Q]}, {DNNL_ARG_WEIGHTS, m[K]}, {DNNL_ARG_DST, m[S]}};
    const dnnl_exec_arg_t hide[] = {
        {DNNL_ARG_SRC_0, m[S]}, {DNNL_ARG_SRC_1, m[MASK]}, {DNNL_ARG_DST, m[S]}};
    const dnnl_exec_arg_t softmax[] = {{DNNL_ARG_SRC, m[S]}, {DNNL_ARG_DST, m[S]}};
    const dnnl_exec_arg_t mix[] = {
        {DNNL_ARG_SRC, m[S]}, {DNNL_ARG_WEIGHTS, m[V]}, {DNNL_ARG_DST, m[O]}};
    omp_set_num_threads(b->threads);
    return dnnl_primitive_execute(b->scores, b->stream, 3, scores) == dnnl_success &&
           (!b->causal || dnnl_primitive_execute(b->hide, b->stream, 3, hide) == dnnl_success) &&
           dnnl_primitive_execute(b->softmax, b->stream, 2, softmax) == dnnl_success &&
           dnnl_primitive_execute(b->mix, b->stream, 3, mix) == dnnl_success &&
           dnnl_stream_wait(b->stream) == dnnl_success;
}

void bench_onednn_free(bench_onednn *b) {
    for (int t = 0; t < TENSORS; t++) {
        dnnl_memory_destroy(b->memory[t]);
    }
    dnnl_primitive_destroy(b->scores);
    dnnl_primitive_destroy(b->hide);
    dnnl_primitive_destroy(b->softmax);
    dnnl_primitive_destroy(b->mix);
    dnnl_stream_destroy(b->stream);
    dnnl_engine_destroy(b->engine);
    free(b->s);
    free(b);
}
