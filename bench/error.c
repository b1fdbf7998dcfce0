/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/error.h"

#include <math.h>
#include <stdlib.h>

#include "reference/oracle/oracle.h"
#include "reference/problem/convert.h"

static double row_error(const attn_normal *n, const attn_model *model, const int64_t at[4],
                        attn_enclosure *exact) {
    char message[ATTEST_MESSAGE_BYTES];
    double worst = 0;
    if (attn_oracle_row(n, model, at[0], at[1], at[2], exact, NULL, message) != ATTEST_OK) {
        return (double)INFINITY;
    }
    for (int64_t c = 0; c < n->value_size; c++) {
        const int64_t place[4] = {at[0], at[1], at[2], c};
        double ratio = (double)INFINITY;
        attn_judge(&exact[c], attn_load(n->problem->o.dtype, attn_element(&n->problem->o, place)),
                   &ratio);
        worst = ratio > worst ? ratio : worst;
    }
    return worst;
}

double bench_error(const attest_problem *problem, const char *name, double exp_ulps, int64_t rows) {
    char message[ATTEST_MESSAGE_BYTES];
    attn_normal n;
    const attn_model *known = attn_model_find(name);
    if (!known || attn_normalise(&n, problem, &attn_profile_attest, 0, message) != ATTEST_OK) {
        return (double)INFINITY;
    }
    attn_model model = attn_model_claimed(known, exp_ulps, 0);
    int64_t total = n.batch * n.q_heads * n.queries, judged = rows < total ? rows : total;
    attn_enclosure *exact = calloc((size_t)n.value_size + 1, sizeof *exact);
    double worst = exact ? 0 : (double)INFINITY;
    for (int64_t r = 0; exact && r < judged; r++) {
        int64_t row = judged > 1 ? r * (total - 1) / (judged - 1) : total - 1;
        const int64_t at[4] = {row / n.queries / n.q_heads, row / n.queries % n.q_heads,
                               row % n.queries, 0};
        double ratio = row_error(&n, &model, at, exact);
        worst = ratio > worst ? ratio : worst;
    }
    free(exact);
    return worst;
}
