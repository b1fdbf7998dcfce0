/* SPDX-License-Identifier: Apache-2.0 */
/* What several calls must give: determinism, history, the interface. */
#define _GNU_SOURCE
#include "impl/wrong/mutants/checks.h"

#include <fenv.h>
#include <immintrin.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "reference/problem/normal.h"

int probe_repeat(probe *p, trial *t) {
    size_t n = 0;
    double *first = probe_call(p, t, &n);
    int broken = 0;
    for (int round = 0; round < 120 && !broken && !p->refused; round++) {
        double *again = probe_call(p, t, &n);
        broken = probe_differ(first, again, n);
        free(again);
    }
    free(first);
    return broken;
}

/* Other problems first, then this one; other values in the same place, then this one again. */
int probe_history(probe *p, trial *t) {
    static const char *const others[] = {"sq=3 sk=5 d=4 seed=9", "sq=9 sk=40 d=24 lengths=3 seed=8",
                                         "mask=bool mvalues=sparse lse=0 seed=7", "lse=0 seed=6"};
    char line[600], why[ATTEST_MESSAGE_BYTES];
    int broken = 0;
    for (int round = 0; round < 4 && !broken && !p->refused; round++) {
        trial other;
        size_t n = 0;
        snprintf(line, sizeof line, "%s %s", others[round], round >= 2 ? t->line : "");
        if (trial_build(&other, line, 0, why)) {
            trial_workspace(&other, p->kernel->workspace_bytes(&other.p));
            trial_dirty(&other, 0xff);
            free(probe_call(p, &other, &n));
            trial_free(&other);
        }
        trial_dirty(t, 0xff);
        broken = !p->refused && (probe_outside(p, t, 0) || probe_lse(p, t));
    }
    if (!broken && !p->refused && t->p.v.shape[2] > 0 && t->p.v.shape[0] > 0) {
        trial_protect(t, 1);
        probe_set_row(&t->p.v, 0, 0, t->p.v.shape[2] / 2, 5.0);
        trial_protect(t, 0);
        broken = probe_outside(p, t, 0);
    }
    return broken;
}

int probe_threads(probe *p, trial *t) {
    static const int32_t counts[] = {2, 3, 4, 7, 16};
    size_t n = 0;
    double *one = probe_call(p, t, &n);
    int broken = 0;
    for (int round = 0; round < 5 && !broken && !p->refused; round++) {
        t->p.threads = counts[round];
        trial_workspace(t, p->kernel->workspace_bytes(&t->p));
        trial_dirty(t, 0xff);
        double *many = probe_call(p, t, &n);
        broken = probe_differ(one, many, n);
        free(many);
    }
    free(one);
    return broken;
}

/* The problem cut to batch entries b .. b+batch-1 and rows i .. i+rows-1, results into `o`. */
static attest_problem cut(const trial *t, int64_t b, int64_t batch, int64_t i, int64_t rows,
                          int64_t *offset, const attn_normal *n) {
    attest_problem c = t->p;
    attest_tensor *all[] = {&c.q, &c.k, &c.v, &c.o, &c.lse, &c.key_lengths};
    for (int at = 0; at < 6; at++) {
        attest_tensor *x = all[at];
        int queries = at == 0 || at == 3 || at == 4;
        if (x->dtype) {
            int64_t place = b * x->stride[0] + (queries ? i * x->stride[2] : 0);
            x->data = (char *)x->data + place * attn_dtype_bytes(x->dtype);
            x->shape[0] = batch;
            x->shape[2] = queries ? rows : x->shape[2];
        }
    }
    attest_tensor *m = &c.mask;
    int64_t place = 0;
    if (m->rank == 4 && m->shape[0] > 1) {
        place += b * m->stride[0];
        m->shape[0] = batch;
    }
    if (m->rank >= 2 && m->shape[m->rank - 2] > 1) {
        place += i * m->stride[m->rank - 2];
        m->shape[m->rank - 2] = rows;
    }
    m->data = m->dtype ? (char *)m->data + place * attn_dtype_bytes(m->dtype) : NULL;
    if (c.slopes.rank == 2) {
        c.slopes.data = (float *)c.slopes.data + b * c.slopes.stride[0];
        c.slopes.shape[0] = batch;
    }
    for (int64_t entry = 0; entry < batch; entry++) {
        offset[entry] = attn_offset(n, b + entry) + i;
    }
    c.features |= ATTEST_OFFSETS;
    c.offsets = (attest_tensor){.data = offset, .shape = {batch}, .stride = {1}};
    c.offsets.dtype = ATTEST_I64;
    c.offsets.rank = 1;
    return c;
}

/* Pieces of the problem, each in a call of its own, give the bits of the whole. */
static int pieces(probe *p, trial *t, int64_t batch, int64_t rows) {
    attn_normal n;
    size_t count = 0;
    int64_t offset[TRIAL_MOST_BATCH];
    attest_problem whole = t->p;
    if (!probe_normalise(&n, &whole) || n.batch > TRIAL_MOST_BATCH) {
        return 0;
    }
    double *expected = probe_call(p, t, &count);
    trial_dirty(t, 0xff);
    for (int64_t b = 0; b < n.batch && !p->refused; b += batch) {
        for (int64_t i = 0; i < n.queries && !p->refused; i += rows) {
            int64_t some = n.queries - i < rows ? n.queries - i : rows;
            t->p = cut(t, b, n.batch - b < batch ? n.batch - b : batch, i, some, offset, &n);
            trial_workspace(t, p->kernel->workspace_bytes(&t->p));
            char message[ATTEST_MESSAGE_BYTES];
            p->refused = p->kernel->forward(&t->p, message) != ATTEST_OK;
            t->p = whole;
        }
    }
    double *got = trial_results(&whole, &count);
    int broken = !p->refused && probe_differ(expected, got, count);
    trial_workspace(t, p->kernel->workspace_bytes(&t->p));
    free(expected);
    free(got);
    return broken;
}

int probe_batch(probe *p, trial *t) {
    return pieces(p, t, 1, t->p.q.shape[2] > 0 ? t->p.q.shape[2] : 1);
}

int probe_chunk(probe *p, trial *t) {
    return pieces(p, t, t->p.q.shape[0], 1) || pieces(p, t, t->p.q.shape[0], 3);
}

typedef struct caller {
    probe p;
    trial t;
    const double *expected;
    int broken;
} caller;

static void *call_often(void *argument) {
    caller *c = argument;
    for (int round = 0; round < 200 && !c->broken; round++) {
        size_t n = 0;
        double *got = probe_call(&c->p, &c->t, &n);
        c->broken = probe_differ(c->expected, got, n);
        free(got);
    }
    return NULL;
}

int probe_together(probe *p, trial *t) {
    enum { CALLERS = 2 };
    static caller callers[CALLERS];
    pthread_t ids[CALLERS];
    size_t n = 0;
    char why[ATTEST_MESSAGE_BYTES];
    int broken = 0;
    for (int at = 0; at < CALLERS; at++) {
        char line[600];
        snprintf(line, sizeof line, "seed=%d %s", 100 + at, t->line);
        callers[at] = (caller){.p = *p};
        trial_build(&callers[at].t, line, 0, why);
        trial_workspace(&callers[at].t, t->p.workspace_bytes);
        trial_dirty(&callers[at].t, 0xff);
        callers[at].expected = probe_call(&callers[at].p, &callers[at].t, &n);
    }
    for (int at = 0; at < CALLERS; at++) {
        pthread_create(&ids[at], NULL, call_often, &callers[at]);
    }
    for (int at = 0; at < CALLERS; at++) {
        pthread_join(ids[at], NULL);
        broken |= callers[at].broken && !callers[at].p.refused;
        trial_free(&callers[at].t);
    }
    return broken;
}

int probe_environment(probe *p, trial *t) {
    unsigned int before = _mm_getcsr() & ~0x3fu;
    size_t n = 0;
    free(probe_call(p, t, &n));
    return (_mm_getcsr() & ~0x3fu) != before || fegetround() != FE_TONEAREST;
}

/* Unknown bits, reserved fields and later bytes: unsupported, with a message, nothing written. */
int probe_refuse(probe *p, trial *t) {
    static struct {
        attest_problem p;
        unsigned char later[16];
    } longer;
    attest_problem wrong[4] = {t->p, t->p, t->p, t->p};
    wrong[0].features |= UINT64_C(1) << 40;
    wrong[1].reserved32 = 1;
    wrong[2].reserved[14] = 1;
    longer.p = t->p;
    longer.p.struct_bytes = sizeof longer;
    longer.later[9] = 1;
    size_t n = 0;
    double *before = trial_results(&t->p, &n);
    int broken = 0;
    for (int at = 0; at < 4 && !broken; at++) {
        char message[ATTEST_MESSAGE_BYTES] = "";
        const attest_problem *asked = at < 3 ? &wrong[at] : &longer.p;
        attest_status status = p->kernel->forward(asked, message);
        double *after = trial_results(&t->p, &n);
        broken =
            status != ATTEST_UNSUPPORTED || message[0] == '\0' || probe_differ(before, after, n);
        free(after);
    }
    free(before);
    return broken;
}

int probe_supports(probe *p, trial *t) {
    attest_problem asked = t->p;
    for (int index = 0; index < ATTN_OPERANDS; index++) {
        attn_operand_of(&asked, index)->data = NULL;
    }
    asked.workspace = NULL;
    asked.workspace_bytes = 0;
    int broken = 0;
    for (int round = 0; round < 60; round++) {
        char message[ATTEST_MESSAGE_BYTES] = "";
        broken |= p->kernel->supports(&asked, message) != ATTEST_OK;
    }
    return broken;
}

int probe_late(probe *p, trial *t) {
    size_t n = 0;
    t->p.threads = 2;
    trial_workspace(t, p->kernel->workspace_bytes(&t->p));
    trial_dirty(t, 0xff);
    double *now = probe_call(p, t, &n);
    usleep(20000);
    double *later = trial_results(&t->p, &n);
    int broken = !p->refused && probe_differ(now, later, n);
    free(now);
    free(later);
    return broken;
}
