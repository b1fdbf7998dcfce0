/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel - attention row by row in binary32, with one defect that lies in its data (defect.h). The
 * block as compiled has no effect, and then nothing here is wrong.
 *
 *   for each row    look     which keys it sees
 *                   score    their scores; what the trigger asks of a row
 *                   spoil    where the trigger holds: keys marked, other keys seen, scores again
 *                   attend   weights, sum, output, LSE
 */
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>

#include "impl/wrong/generated/generated_row.h"

static const volatile defect compiled = {.magic = DEFECT_MAGIC};

/* What a call leaves behind for the next one. Atomic, because calls may come from several
 * threads. */
static struct {
    _Atomic int64_t calls, keys, type, shape;
    _Atomic float scale, sum;
} kept;

static int64_t type_of(attest_dtype t) { return t == ATTEST_F32 ? 1 : t == ATTEST_F16 ? 2 : 3; }

static int64_t shape_of(const attn_normal *n) {
    int64_t hash = n->batch;
    const int64_t sizes[] = {n->q_heads, n->kv_heads,  n->queries,
                             n->keys,    n->head_size, n->value_size};
    for (int i = 0; i < 6; i++) {
        hash = (int64_t)((uint64_t)hash * 1000003u + (uint64_t)sizes[i]);
    }
    return hash;
}

static void call_facts(const attn_normal *n, facts *f) {
    const attest_problem *p = n->problem;
    static const struct {
        subject subject;
        uint64_t features;
    } options[] = {
        {SUBJECT_causal, ATTEST_CAUSAL},
        {SUBJECT_offsets, ATTEST_OFFSETS},
        {SUBJECT_window, ATTEST_WINDOW | ATTEST_WINDOW_SIZE},
        {SUBJECT_lengths, ATTEST_KEY_LENGTHS},
        {SUBJECT_mask_bool, ATTEST_MASK_BOOL},
        {SUBJECT_mask_add, ATTEST_MASK_ADD},
        {SUBJECT_scale, ATTEST_SCALE},
        {SUBJECT_softcap, ATTEST_SOFTCAP},
        {SUBJECT_sinks, ATTEST_SINKS},
        {SUBJECT_alibi, ATTEST_ALIBI},
        {SUBJECT_lse, ATTEST_LSE},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        f->value[options[i].subject] = has(n, options[i].features);
    }
    f->value[SUBJECT_batch] = n->batch;
    f->value[SUBJECT_q_heads] = n->q_heads;
    f->value[SUBJECT_group] = n->kv_heads > 0 ? n->q_heads / n->kv_heads : 0;
    f->value[SUBJECT_queries] = n->queries;
    f->value[SUBJECT_keys] = n->keys;
    f->value[SUBJECT_head_size] = n->head_size;
    f->value[SUBJECT_value_size] = n->value_size;
    f->value[SUBJECT_type] = type_of(p->q.dtype);
    f->value[SUBJECT_mixed] = p->q.dtype != p->k.dtype || p->q.dtype != p->o.dtype;
    const int64_t *k = p->k.stride;
    f->value[SUBJECT_padded] = n->keys > 1 && k[2] > n->head_size * k[3] && k[1] > k[2];
    f->value[SUBJECT_tokens] = n->kv_heads > 1 && n->keys > 1 && k[1] < k[2];
    f->value[SUBJECT_spread] = n->head_size > 1 && k[3] != 1;
    f->value[SUBJECT_repeated] = n->batch > 1 && k[0] == 0;
    f->value[SUBJECT_threads] = p->threads;
    f->value[SUBJECT_scale_negative] = n->scale < 0;
    const int64_t calls = atomic_fetch_add(&kept.calls, 1);
    f->value[SUBJECT_call] = calls;
    f->value[SUBJECT_fewer_keys] = calls > 0 && atomic_exchange(&kept.keys, n->keys) > n->keys;
    f->value[SUBJECT_other_type] =
        calls > 0 && atomic_exchange(&kept.type, type_of(p->q.dtype)) != type_of(p->q.dtype);
    f->value[SUBJECT_same_shape] =
        calls > 0 && atomic_exchange(&kept.shape, shape_of(n)) == shape_of(n);
    if (calls == 0) {
        atomic_store(&kept.keys, n->keys);
        atomic_store(&kept.type, type_of(p->q.dtype));
        atomic_store(&kept.shape, shape_of(n));
    }
}

/* Tensors as a kernel sees them that takes some stride for granted. */
static void wrong_views(call *c) {
    const attest_problem *p = c->n->problem;
    c->q = p->q;
    c->k = p->k;
    c->v = p->v;
    c->mask = p->mask;
    c->k.stride[2] = c->n->head_size;
    c->v.stride[1] = c->n->keys * c->n->value_size;
    c->q.stride[0] = c->n->q_heads * c->n->queries * c->n->head_size;
    if (c->mask.rank >= 2) {
        c->mask.stride[c->mask.rank - 2] = c->n->keys;
    }
}

/* Floats of a row of scores, q, k, v and out; then a byte a key. */
static uint64_t scratch_bytes(const attn_normal *n) {
    return (uint64_t)(n->keys + 2 * n->head_size + 2 * n->value_size) * sizeof(float) +
           (uint64_t)n->keys;
}

static void run(const attn_normal *n) {
    call c = {.n = n, .defect = compiled};
    call_facts(n, &c.facts);
    wrong_views(&c);
    const uint64_t draw = (uint64_t)c.facts.value[SUBJECT_call] * UINT64_C(0x9e3779b97f4a7c15);
    c.unlucky = draw >> 62 == 0;
    c.defect.tile = c.defect.tile > 0 ? c.defect.tile : 1;
    c.scale_before = atomic_exchange(&kept.scale, (float)n->scale);
    c.scale_before = c.facts.value[SUBJECT_call] > 0 ? c.scale_before : (float)n->scale;
    c.sum_before = atomic_load(&kept.sum);
    c.fires = c.defect.effect != EFFECT_NONE && holds(&c.defect, CALL, &c.facts);
    row r = {.c = &c};
    r.s = n->problem->workspace;
    if (r.s != NULL) {
        r.q = r.s + n->keys;
        r.k = r.q + n->head_size;
        r.v = r.k + n->head_size;
        r.out = r.v + n->value_size;
        r.state = (unsigned char *)(r.out + n->value_size);
    }
    for (r.b = 0; r.b < n->batch; r.b++) {
        for (r.h = 0; r.h < n->q_heads; r.h++) {
            for (r.i = 0; r.i < n->queries; r.i++) {
                atomic_store(&kept.sum, generated_row(&r));
            }
        }
    }
}

#define KERNEL_NAME "generated"
#include "impl/wrong/mutants/mutant_entry.h"
