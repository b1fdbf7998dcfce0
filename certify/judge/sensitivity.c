/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/judge/sensitivity.h"

#include <math.h>
#include <stdlib.h>

#include "certify/plan/data.h"

/* Plain binary64 is enough: only whether a loss is far outside the radius matters. */
static double score(const attn_normal *n, int64_t b, int64_t h, int64_t i, int64_t j) {
    const attest_problem *p = n->problem;
    const int64_t g = attn_kv_head(n, h);
    double dot = 0;
    for (int64_t d = 0; d < n->head_size; d++) {
        dot += attest_get(&p->q, b, h, i, d) * attest_get(&p->k, b, g, j, d);
    }
    double s = n->scale * dot;
    if (n->features & ATTEST_SOFTCAP) {
        s = p->softcap * tanh(s / p->softcap);
    }
    if (n->features & ATTEST_MASK_ADD) {
        s += attn_mask_value(n, b, h, i, j);
    }
    if (n->features & ATTEST_ALIBI) {
        double slope = p->slopes.rank == 2 ? attest_get(&p->slopes, b, h, 0, 0)
                                           : attest_get(&p->slopes, h, 0, 0, 0);
        s -= slope * fabs((double)i + (double)attn_offset(n, b) - (double)j);
    }
    return s;
}

int attest_key_loss(const attn_normal *n, int64_t b, int64_t h, int64_t i, const attn_enclosure *o,
                    int64_t *seen, int64_t *shown) {
    unsigned char *visible = malloc((size_t)n->keys + 1);
    double *weight = malloc(((size_t)n->keys + 1) * sizeof *weight);
    *seen = *shown = 0;
    if (visible == NULL || weight == NULL) {
        free(visible);
        free(weight);
        return 0;
    }
    *seen = attn_visible_keys(n, b, h, i, visible);
    double most = -INFINITY, sum = 0;
    const int has_sink = (n->features & ATTEST_SINKS) != 0;
    const double sink = has_sink ? attest_get(&n->problem->sinks, h, 0, 0, 0) : -INFINITY;
    for (int64_t j = 0; j < n->keys; j++) {
        weight[j] = visible[j] ? score(n, b, h, i, j) : -INFINITY;
        most = fmax(most, weight[j]);
    }
    most = fmax(most, sink);
    for (int64_t j = 0; j < n->keys; j++) {
        weight[j] = visible[j] ? exp(weight[j] - most) : 0;
        sum += weight[j];
    }
    sum += has_sink ? exp(sink - most) : 0;
    const int64_t g = attn_kv_head(n, h);
    for (int64_t j = 0; j < n->keys; j++) {
        double rest = sum - weight[j];
        for (int64_t c = 0; visible[j] && c < n->value_size; c++) {
            if (o[c].kind != ATTN_FINITE) {
                continue;
            }
            /* Without key j the output moves by w (o - v) / (1 - w); a lone key leaves 0 behind. */
            double value = attest_get(&n->problem->v, b, g, j, c);
            double moved = rest > 0 ? weight[j] * (o[c].high - value) / rest : o[c].high;
            if (fabs(moved) > 2 * (o[c].radius + o[c].own_error)) {
                (*shown)++;
                break;
            }
        }
    }
    free(visible);
    free(weight);
    return 1;
}

int attest_hull(const attn_normal *n, int64_t b, int64_t h, int64_t i, int64_t c, double *low,
                double *high) {
    unsigned char *visible = malloc((size_t)n->keys + 1);
    if (visible == NULL || attn_visible_keys(n, b, h, i, visible) == 0) {
        free(visible);
        return 0;
    }
    const int has_sink = (n->features & ATTEST_SINKS) != 0;
    *low = has_sink ? 0 : INFINITY;
    *high = has_sink ? 0 : -INFINITY;
    int finite = 1;
    for (int64_t j = 0; j < n->keys; j++) {
        if (visible[j]) {
            const double value = attest_get(&n->problem->v, b, attn_kv_head(n, h), j, c);
            finite = finite && isfinite(value) && isfinite(score(n, b, h, i, j));
            *low = fmin(*low, value);
            *high = fmax(*high, value);
        }
    }
    free(visible);
    return finite;
}
