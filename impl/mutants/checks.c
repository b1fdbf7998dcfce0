/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "checks.h"

#include <fenv.h>
#include <immintrin.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert.h"
#include "normal.h"
#include "oracle.h"

/* One call; the dense results, or NULL with `refused` set. */
static double *call(probe *p, trial *t, size_t *n) {
    char message[ATTEST_MESSAGE_BYTES] = "";
    p->refused = p->kernel->forward(&t->p, message) != ATTEST_OK;
    return p->refused ? NULL : trial_results(&t->p, n);
}

static int differ(const double *a, const double *b, size_t n) {
    size_t at = 0;
    while (a && b && at < n && trial_same(a[at], b[at])) {
        at++;
    }
    return !a || !b || at < n;
}

static int normalise(attn_normal *n, const attest_problem *p) {
    char message[ATTEST_MESSAGE_BYTES];
    return attn_normalise(n, p, &attn_profile_attest, 0, message) == ATTEST_OK;
}

/* Outputs, or LSEs, against the oracle. */
static int outside(probe *p, trial *t, int lse) {
    size_t n = 0, outputs;
    char message[ATTEST_MESSAGE_BYTES];
    attn_normal normal;
    double *got = call(p, t, &n);
    if (!got) {
        return 0;
    }
    size_t rows = (size_t)(t->p.o.shape[0] * t->p.o.shape[1] * t->p.o.shape[2]);
    outputs = rows * (size_t)t->p.o.shape[3];
    attn_enclosure *o = calloc(outputs + rows + 1, sizeof *o), *l = o + outputs;
    int broken = 0;
    if (o && normalise(&normal, &t->p) &&
        attn_oracle(&normal, attn_model_find(p->kernel->model), 1, o, l, message) == ATTEST_OK) {
        for (size_t at = lse ? outputs : 0; at < (lse ? n : outputs); at++) {
            broken |= attn_judge(&o[at], got[at], NULL) == ATTN_OUTSIDE;
        }
    } else {
        broken = 1;
    }
    free(o);
    free(got);
    return broken;
}

int probe_value(probe *p, trial *t) {
    return outside(p, t, 0);
}

int probe_lse(probe *p, trial *t) {
    return (t->p.features & ATTEST_LSE) && outside(p, t, 1);
}

/* Finite inputs and no sink: an output is a mean of visible values, however bad the scores are. */
int probe_hull(probe *p, trial *t) {
    size_t count = 0;
    char bad[64];
    attn_normal n;
    if (trial_field(t->line, "bad", bad) || (t->p.features & ATTEST_SINKS) ||
        !normalise(&n, &t->p) || n.keys == 0) {
        return 0;
    }
    unsigned char *visible = malloc((size_t)n.keys);
    double *got = call(p, t, &count);
    int broken = 0;
    for (int64_t at = 0; got && at < n.batch * n.q_heads * n.queries * n.value_size; at++) {
        int64_t row = at / n.value_size, h = row / n.queries % n.q_heads;
        int64_t place[4] = {row / n.queries / n.q_heads, attn_kv_head(&n, h), 0, at % n.value_size};
        double low = (double)INFINITY, high = -low;
        attn_visible_keys(&n, place[0], h, row % n.queries, visible);
        for (place[2] = 0; place[2] < n.keys; place[2]++) {
            if (visible[place[2]]) {
                double v = attn_load(t->p.v.dtype, attn_element(&t->p.v, place));
                low = fmin(low, v);
                high = fmax(high, v);
            }
        }
        double slack = 0.01 * (fabs(low) + fabs(high));
        broken |= low <= high && !(got[at] >= low - slack && got[at] <= high + slack);
    }
    free(got);
    free(visible);
    return broken;
}

int probe_dirty(probe *p, trial *t) {
    size_t n = 0;
    int broken = 0;
    double *first = call(p, t, &n);
    for (int round = 0; round < 3 && !broken && !p->refused; round++) {
        trial_dirty(t, (unsigned char[]){0x00, 0x55, 0x7b}[round]);
        double *second = call(p, t, &n);
        broken = differ(first, second, n);
        free(second);
    }
    free(first);
    return broken;
}

/* Bytes of the output's pages that belong to no element must keep their pattern. */
int probe_gaps(probe *p, trial *t) {
    size_t n = 0;
    char far[64];
    if (trial_field(t->line, "far", far)) {
        return 0;
    }
    trial_dirty(t, 0x5a);
    free(call(p, t, &n));
    for (int index = 8; index < TRIAL_OPERANDS && !p->refused; index++) {
        attest_tensor *x = index == 8 ? &t->p.o : &t->p.lse;
        trial_buffer *b = &t->buffer[index];
        int64_t size = attn_dtype_bytes(x->dtype);
        int64_t at[4], count = x->dtype ? 1 : 0;
        for (uint32_t axis = 0; axis < x->rank; axis++) {
            count *= x->shape[axis];
        }
        for (int64_t number = 0; number < count; number++) {
            int64_t rest = number;
            for (int axis = (int)x->rank - 1; axis >= 0; axis--) {
                at[axis] = rest % x->shape[axis];
                rest /= x->shape[axis];
            }
            memset((void *)(uintptr_t)attn_element(x, at), 0x5a, (size_t)size);
        }
        for (size_t byte = 4096; b->map && byte + 4096 < b->map_bytes; byte++) {
            if (b->map[byte] != 0x5a) {
                return 1;
            }
        }
    }
    return 0;
}

static void set_row(const attest_tensor *x, int64_t b, int64_t h, int64_t s, double value) {
    for (int64_t c = 0; c < x->shape[3]; c++) {
        const int64_t at[4] = {b, h, s, c};
        attn_store(x->dtype, (void *)(uintptr_t)attn_element(x, at), value);
    }
}

/* Rows that do not see key j of KV head 0 of the last batch entry, compared bit by bit. */
static int leaks(const attn_normal *n, int64_t j, const double *clean, const double *got,
                 unsigned char *visible) {
    int64_t dv = n->value_size, rows = n->batch * n->q_heads * n->queries;
    int has_lse = (n->features & ATTEST_LSE) != 0;
    for (int64_t row = 0; row < rows; row++) {
        int64_t i = row % n->queries, h = row / n->queries % n->q_heads;
        int64_t b = row / n->queries / n->q_heads;
        int repeated = n->problem->k.stride[0] == 0;
        attn_visible_keys(n, b, h, i, visible);
        if ((b == n->batch - 1 || repeated) && attn_kv_head(n, h) == 0 && visible[j]) {
            continue;
        }
        if (differ(clean + row * dv, got + row * dv, (size_t)dv) ||
            (has_lse && !trial_same(clean[rows * dv + row], got[rows * dv + row]))) {
            return 1;
        }
    }
    return 0;
}

int probe_hidden(probe *p, trial *t) {
    static const double poisons[] = {3.0, 1e30, 1e-40, (double)INFINITY, (double)NAN};
    attn_normal n;
    size_t count = 0;
    if (!normalise(&n, &t->p) || n.keys == 0) {
        return 0;
    }
    unsigned char *visible = malloc((size_t)n.keys);
    double *clean = call(p, t, &count);
    int broken = 0;
    int64_t step = n.keys / 20 + 1;
    for (int64_t j = n.keys - 1; j >= 0 && clean && !broken; j -= step) {
        for (size_t poison = 0; poison < 5 && !broken; poison++) {
            trial bad;
            char why[ATTEST_MESSAGE_BYTES];
            if (!trial_build(&bad, t->line, t->at_start, why)) {
                return 0;
            }
            trial_workspace(&bad, t->p.workspace_bytes);
            trial_dirty(&bad, 0xff);
            trial_protect(&bad, 1);
            double value = attn_round_to(t->p.k.dtype, poisons[poison]);
            value = isinf(value) && poison == 1 ? 6e4 : value;
            set_row(&bad.p.k, n.batch - 1, 0, j, value);
            set_row(&bad.p.v, n.batch - 1, 0, j, value);
            trial_protect(&bad, 0);
            double *got = call(p, &bad, &count);
            broken = got && leaks(&n, j, clean, got, visible);
            free(got);
            trial_free(&bad);
        }
    }
    free(clean);
    free(visible);
    return broken;
}

int probe_rows(probe *p, trial *t) {
    size_t n = 0;
    int64_t dv = t->p.o.shape[3], rows = t->p.o.shape[0] * t->p.o.shape[1] * t->p.o.shape[2];
    if (rows == 0 || t->p.q.stride[2] == 0) {
        return 0;
    }
    double *clean = call(p, t, &n);
    trial_protect(t, 1);
    set_row(&t->p.q, 0, 0, t->p.q.shape[2] / 2, (double)NAN);
    trial_protect(t, 0);
    double *got = p->refused ? NULL : call(p, t, &n);
    int broken = 0;
    for (int64_t row = 0; row < rows && got; row++) {
        if (row != t->p.q.shape[2] / 2) {
            broken |= differ(clean + row * dv, got + row * dv, (size_t)dv);
        }
    }
    free(clean);
    free(got);
    return broken;
}

int probe_repeat(probe *p, trial *t) {
    size_t n = 0;
    double *first = call(p, t, &n);
    int broken = 0;
    for (int round = 0; round < 120 && !broken && !p->refused; round++) {
        double *again = call(p, t, &n);
        broken = differ(first, again, n);
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
            free(call(p, &other, &n));
            trial_free(&other);
        }
        trial_dirty(t, 0xff);
        broken = !p->refused && (outside(p, t, 0) || probe_lse(p, t));
    }
    if (!broken && !p->refused && t->p.v.shape[2] > 0 && t->p.v.shape[0] > 0) {
        trial_protect(t, 1);
        set_row(&t->p.v, 0, 0, t->p.v.shape[2] / 2, 5.0);
        trial_protect(t, 0);
        broken = outside(p, t, 0);
    }
    return broken;
}

int probe_threads(probe *p, trial *t) {
    static const int32_t counts[] = {2, 3, 4, 7, 16};
    size_t n = 0;
    double *one = call(p, t, &n);
    int broken = 0;
    for (int round = 0; round < 5 && !broken && !p->refused; round++) {
        t->p.threads = counts[round];
        trial_workspace(t, p->kernel->workspace_bytes(&t->p));
        trial_dirty(t, 0xff);
        double *many = call(p, t, &n);
        broken = differ(one, many, n);
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
    if (!normalise(&n, &whole) || n.batch > TRIAL_MOST_BATCH) {
        return 0;
    }
    double *expected = call(p, t, &count);
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
    int broken = !p->refused && differ(expected, got, count);
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
        double *got = call(&c->p, &c->t, &n);
        c->broken = differ(c->expected, got, n);
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
        callers[at].expected = call(&callers[at].p, &callers[at].t, &n);
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
    free(call(p, t, &n));
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
        broken = status != ATTEST_UNSUPPORTED || message[0] == '\0' || differ(before, after, n);
        free(after);
    }
    free(before);
    return broken;
}

int probe_supports(probe *p, trial *t) {
    attest_problem asked = t->p;
    attest_tensor *all[] = {&asked.q,      &asked.k,           &asked.v,       &asked.mask, &asked.sinks,
                            &asked.slopes, &asked.key_lengths, &asked.offsets, &asked.o,    &asked.lse};
    for (int at = 0; at < 10; at++) {
        all[at]->data = NULL;
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

/* Pages that hold only keys nobody sees are taken away. */
int probe_unseen(probe *p, trial *t) {
    attn_normal n;
    size_t count = 0;
    if (!normalise(&n, &t->p) || n.keys == 0) {
        return 0;
    }
    unsigned char *visible = malloc((size_t)n.keys);
    for (int index = 1; index <= 2; index++) {
        const attest_tensor *x = index == 1 ? &t->p.k : &t->p.v;
        const trial_buffer *b = &t->buffer[index];
        size_t pages = b->map_bytes / 4096;
        unsigned char *needed = calloc(pages, 1);
        for (int64_t row = 0; row < n.batch * n.q_heads * n.queries; row++) {
            int64_t at[4] = {row / n.queries / n.q_heads, 0, 0, 0};
            int64_t h = row / n.queries % n.q_heads;
            attn_visible_keys(&n, at[0], h, row % n.queries, visible);
            at[1] = attn_kv_head(&n, h);
            for (at[2] = 0; at[2] < n.keys; at[2]++) {
                for (at[3] = 0; visible[at[2]] && at[3] < x->shape[3]; at[3]++) {
                    needed[((const unsigned char *)attn_element(x, at) - b->map) / 4096] = 1;
                }
            }
        }
        for (size_t page = 1; page + 1 < pages; page++) {
            if (!needed[page]) {
                mprotect(b->map + page * 4096, 4096, PROT_NONE);
            }
        }
        free(needed);
    }
    free(visible);
    free(call(p, t, &count));
    return 0; /* a fault is the failure */
}

int probe_late(probe *p, trial *t) {
    size_t n = 0;
    t->p.threads = 2;
    trial_workspace(t, p->kernel->workspace_bytes(&t->p));
    trial_dirty(t, 0xff);
    double *now = call(p, t, &n);
    usleep(20000);
    double *later = trial_results(&t->p, &n);
    int broken = !p->refused && differ(now, later, n);
    free(now);
    free(later);
    return broken;
}
