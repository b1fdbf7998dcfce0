/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h - what the probe looks at. Each check runs in a process of its own; 1 means broken. */
#ifndef ATTN_MUTANT_CHECKS_H
#define ATTN_MUTANT_CHECKS_H

#include "impl/wrong/mutants/trial.h"
#include "reference/problem/normal.h"

typedef struct probe {
    const attest_kernel *kernel;
    const char *line;
    int refused; /* the kernel did not answer ATTEST_OK */
    const attest_kernel *(*entry)(uint32_t);
} probe;

typedef int (*probe_check)(probe *p, trial *t);

/* One call; the dense results, or NULL with `refused` set. */
double *probe_call(probe *p, trial *t, size_t *n);
int probe_differ(const double *a, const double *b, size_t n);
/* Calls, and looks whether outputs, or LSEs, are outside the oracle's intervals. */
int probe_outside(probe *p, trial *t, int lse);
int probe_normalise(attn_normal *n, const attest_problem *p);
void probe_set_row(const attest_tensor *x, int64_t b, int64_t h, int64_t s, double value);

int probe_descriptor(probe *p, trial *t);
int probe_value(probe *p, trial *t);
int probe_lse(probe *p, trial *t);
int probe_hull(probe *p, trial *t);
int probe_dirty(probe *p, trial *t);
int probe_gaps(probe *p, trial *t);
int probe_hidden(probe *p, trial *t);
int probe_rows(probe *p, trial *t);
int probe_repeat(probe *p, trial *t);
int probe_history(probe *p, trial *t);
int probe_threads(probe *p, trial *t);
int probe_batch(probe *p, trial *t);
int probe_chunk(probe *p, trial *t);
int probe_together(probe *p, trial *t);
int probe_environment(probe *p, trial *t);
int probe_refuse(probe *p, trial *t);
int probe_supports(probe *p, trial *t);
int probe_unseen(probe *p, trial *t);
int probe_late(probe *p, trial *t);

#endif
