/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/cost.h"

/* Measured on the bundled naive kernel and the oracle; only their proportion matters. */
double attest_kernel_cost(int64_t rows, int64_t keys, int64_t sizes) {
    return (double)rows * (double)keys * (30 + 2.5 * (double)sizes);
}

double attest_oracle_cost(int64_t rows, int64_t keys, int64_t sizes) {
    return (double)rows * ((double)keys * (140 + 3 * (double)sizes) + 60 * (double)sizes + 1000);
}

double attest_case_cost(const attest_case *c) {
    const int64_t rows = c->batch * c->q_heads * c->queries, sizes = c->head_size + c->value_size;
    const double filled = 15.0 * (double)(rows + c->batch * c->kv_heads * c->keys) * (double)sizes;
    return filled + attest_kernel_cost(rows, c->keys, sizes);
}
