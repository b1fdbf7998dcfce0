/* SPDX-License-Identifier: GPL-3.0-or-later */
/* oracle_gsl_view.h - inside the second oracle: what a problem means, and its matrices. */
#ifndef ATTN_ORACLE_GSL_VIEW_H
#define ATTN_ORACLE_GSL_VIEW_H

#include <gsl/gsl_matrix.h>

#include "reference/problem/profile.h"
#include "spec/attest.h"

/* A problem with its defaults filled in. */
typedef struct attn_gsl_view {
    const attest_problem *problem;
    const attn_profile *profile;
    double scale, softcap; /* softcap 0: none */
    int64_t left, right;   /* -1: no limit */
    int causal, masked, has_sinks, has_alibi, base_2;
    int64_t mask_stride[4]; /* over [B,Hq,Sq,Sk]; 0 where an axis repeats */
} attn_gsl_view;

void attn_gsl_resolve(attn_gsl_view *view, const attest_problem *problem,
                      const attn_profile *profile);

/* The rows of one head. Keys and values of a problem without keys are one row of zeros. */
void attn_gsl_load(const attn_gsl_view *view, int64_t b, int64_t h, gsl_matrix *q, gsl_matrix *k,
                   gsl_matrix *v);

/* visible: 1 or 0 for each pair; bias: mask - alibi where visible; size: |mask| + |alibi|. */
void attn_gsl_mask(const attn_gsl_view *view, int64_t b, int64_t h, gsl_matrix *visible,
                   gsl_matrix *bias, gsl_matrix *size);

double attn_gsl_sink(const attn_gsl_view *view, int64_t h);

#endif
