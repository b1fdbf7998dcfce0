/* SPDX-License-Identifier: Apache-2.0 */
/* What one call must give: values, memory, isolation. */
#define _GNU_SOURCE
#include "impl/wrong/mutants/checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "reference/oracle/oracle.h"
#include "reference/problem/convert.h"
#include "reference/problem/normal.h"

/* One call; the dense results, or NULL with `refused` set. */
double *probe_call(probe *p, trial *t, size_t *n) {
    char message[ATTEST_MESSAGE_BYTES] = "";
    p->refused = p->kernel->forward(&t->p, message) != ATTEST_OK;
    return p->refused ? NULL : trial_results(&t->p, n);
}

int probe_differ(const double *a, const double *b, size_t n) {
    size_t at = 0;
    while (a && b && at < n && trial_same(a[at], b[at])) {
        at++;
    }
    return !a || !b || at < n;
}

int probe_normalise(attn_normal *n, const attest_problem *p) {
    char message[ATTEST_MESSAGE_BYTES];
    return attn_normalise(n, p, &attn_profile_attest, 0, message) == ATTEST_OK;
}

/* Outputs, or LSEs, against the oracle. */
int probe_outside(probe *p, trial *t, int lse) {
    size_t n = 0, outputs;
    char message[ATTEST_MESSAGE_BYTES];
    attn_normal normal;
    double *got = probe_call(p, t, &n);
    if (!got) {
        return 0;
    }
    size_t rows = (size_t)(t->p.o.shape[0] * t->p.o.shape[1] * t->p.o.shape[2]);
    outputs = rows * (size_t)t->p.o.shape[3];
    attn_enclosure *o = calloc(outputs + rows + 1, sizeof *o), *l = o + outputs;
    int broken = 0;
    if (o && probe_normalise(&normal, &t->p) &&
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

void probe_set_row(const attest_tensor *x, int64_t b, int64_t h, int64_t s, double value) {
    for (int64_t c = 0; c < x->shape[3]; c++) {
        const int64_t at[4] = {b, h, s, c};
        attn_store(x->dtype, (void *)(uintptr_t)attn_element(x, at), value);
    }
}

/* CAP-01, as far as it can be seen from here. */
int probe_descriptor(probe *p, trial *t) {
    const attest_kernel *k = p->kernel;
    uint64_t reserved = 0;
    (void)t;
    for (int at = 0; at < 16; at++) {
        reserved |= k->reserved[at];
    }
    return !k->name || !k->forward || reserved || (k->features & ~ATTEST_ALL_FEATURES) ||
           !attn_model_find(k->model) || p->entry(ATTEST_ABI_VERSION) != k;
}

int probe_value(probe *p, trial *t) { return probe_outside(p, t, 0); }

int probe_lse(probe *p, trial *t) { return (t->p.features & ATTEST_LSE) && probe_outside(p, t, 1); }

/* Finite inputs and no sink: an output is a mean of visible values, however bad the scores are. */
int probe_hull(probe *p, trial *t) {
    size_t count = 0;
    char bad[64];
    attn_normal n;
    if (trial_field(t->line, "bad", bad) || (t->p.features & ATTEST_SINKS) ||
        !probe_normalise(&n, &t->p) || n.keys == 0) {
        return 0;
    }
    unsigned char *visible = malloc((size_t)n.keys);
    double *got = probe_call(p, t, &count);
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
    double *first = probe_call(p, t, &n);
    for (int round = 0; round < 3 && !broken && !p->refused; round++) {
        trial_dirty(t, (unsigned char[]){0x00, 0x55, 0x7b}[round]);
        double *second = probe_call(p, t, &n);
        broken = probe_differ(first, second, n);
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
    free(probe_call(p, t, &n));
    for (int index = ATTN_INPUTS; index < ATTN_OPERANDS && !p->refused; index++) {
        attest_tensor *x = attn_operand_of(&t->p, index);
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
        if (probe_differ(clean + row * dv, got + row * dv, (size_t)dv) ||
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
    if (!probe_normalise(&n, &t->p) || n.keys == 0) {
        return 0;
    }
    unsigned char *visible = malloc((size_t)n.keys);
    double *clean = probe_call(p, t, &count);
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
            probe_set_row(&bad.p.k, n.batch - 1, 0, j, value);
            probe_set_row(&bad.p.v, n.batch - 1, 0, j, value);
            trial_protect(&bad, 0);
            double *got = probe_call(p, &bad, &count);
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
    double *clean = probe_call(p, t, &n);
    trial_protect(t, 1);
    probe_set_row(&t->p.q, 0, 0, t->p.q.shape[2] / 2, (double)NAN);
    trial_protect(t, 0);
    double *got = p->refused ? NULL : probe_call(p, t, &n);
    int broken = 0;
    for (int64_t row = 0; row < rows && got; row++) {
        if (row != t->p.q.shape[2] / 2) {
            broken |= probe_differ(clean + row * dv, got + row * dv, (size_t)dv);
        }
    }
    free(clean);
    free(got);
    return broken;
}

/* Pages that hold only keys nobody sees are taken away. */
int probe_unseen(probe *p, trial *t) {
    attn_normal n;
    size_t count = 0;
    if (!probe_normalise(&n, &t->p) || n.keys == 0) {
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
    free(probe_call(p, t, &count));
    return 0; /* a fault is the failure */
}
