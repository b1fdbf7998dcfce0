/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/emulator_row.h"

#include <math.h>

#include "reference/problem/convert.h"

static double draw(const emulator *e) {
    double unit = random_unit(e->source);
    return e->mode == EMULATE_UNIFORM ? unit : unit < 0 ? -1 : 1;
}

/* An error in [-1, 1] that moves x where `push` says, or anywhere. */
static double error_towards(const emulator *e, wide x, int push) {
    if (e->mode != EMULATE_WORST || push == 0) {
        return draw(e);
    }
    return x < 0 ? -push : push;
}

wide em_perturb(const emulator *e, wide x, double relative, double absolute,
                emulator_operation operation, int push) {
    double grow = operation == e->faulty ? e->fault : 1;
    if (x == 0) {
        return x;
    }
    if (fabsl(x) * (wide)relative < (wide)absolute) { /* underflow */
        double sign = e->mode == EMULATE_WORST && push != 0 ? push : draw(e);
        return x + (wide)(sign * grow) * (wide)absolute;
    }
    return x * (1 + (wide)(error_towards(e, x, push) * grow) * (wide)relative);
}

wide em_round(const emulator *e, wide x, const attn_format *format, emulator_operation operation,
              int push) {
    return em_perturb(e, x, format->u, format->eta, operation, push);
}

wide em_round_times(const emulator *e, wide x, const attn_format *format,
                    emulator_operation operation, int push, uint32_t times) {
    for (uint32_t n = 0; n < times; n++) {
        x = em_round(e, x, format, operation, push);
    }
    return x;
}

wide em_add(const emulator *e, wide x, wide y, const attn_format *format,
            emulator_operation operation, int push) {
    return x == 0 || y == 0 ? x + y : em_round(e, x + y, format, operation, push);
}

int em_wider(attest_dtype dtype, const attn_format *format) {
    attn_format from = attn_format_of(dtype);
    return from.u < format->u || from.eta < format->eta;
}

wide em_load(const attest_tensor *tensor, int64_t b, int64_t h, int64_t s, int64_t c) {
    const int64_t index[ATTEST_MAX_RANK] = {b, h, s, c};
    return (wide)attn_load(tensor->dtype, attn_element(tensor, index));
}

static wide chain(const emulator *e, const wide *terms, int64_t n, const attn_format *format,
                  emulator_operation operation, int push) {
    wide sum = terms[0];
    for (int64_t c = 1; c < n; c++) {
        sum = em_add(e, sum, terms[c], format, operation, push);
    }
    return sum;
}

static wide blocked(const emulator *e, const wide *terms, int64_t n, const attn_format *format,
                    emulator_operation operation, int push) {
    int64_t block = e->model->block, first = n < block ? n : block;
    wide sum = chain(e, terms, first, format, operation, push);
    for (int64_t start = first; start < n; start += block) {
        int64_t size = n - start < block ? n - start : block;
        wide part = chain(e, terms + start, size, format, operation, push);
        sum = em_add(e, sum, part, format, operation, push);
    }
    return sum;
}

/* Any order is a chain, or two parts cut anywhere, again and again; pairwise cuts in the middle. */
wide em_sum(const emulator *e, const wide *terms, int64_t n, const attn_format *format,
            emulator_operation operation, int push) {
    int pairwise = e->model->summation == ATTN_PAIRWISE;
    if (e->model->summation == ATTN_BLOCKED) {
        return blocked(e, terms, n, format, operation, push);
    }
    if (n <= 2 || (!pairwise &&
                   (e->plain_order || e->mode == EMULATE_WORST || random_chance(e->source, 2)))) {
        return chain(e, terms, n, format, operation, push);
    }
    int64_t cut = pairwise ? n / 2 : random_between(e->source, 1, n - 1);
    wide left = em_sum(e, terms, cut, format, operation, push);
    wide right = em_sum(e, terms + cut, n - cut, format, operation, push);
    return em_add(e, left, right, format, operation, push);
}

/* scale * q.k with the scale on q, on both factors or on the result. */
static wide linear_score(row_state *r, const wide *q, const wide *k, int push) {
    const emulator *e = r->e;
    const attn_model *m = e->model;
    int64_t d = r->normal->head_size;
    wide scale = r->normal->scale;
    int style = e->plain_order ? 0 : (int)random_between(e->source, 0, 2);
    int fused = e->mode != EMULATE_WORST && random_chance(e->source, 2);
    if (style == 2 && scale < 0) {
        style = 1;
    }
    wide root = style == 2 ? em_round(e, sqrtl(scale), &m->score, SCALE, 0) : 0;
    for (int64_t c = 0; c < d; c++) {
        wide left = q[c], right = k[c];
        int side = left * right < 0 ? -push : push;
        if (style == 1) {
            left = em_round(e, left * scale, &m->score, SCALE, left * scale < 0 ? -side : side);
            if (m->narrow & ATTN_NARROW_SCALED_Q) {
                left = em_round(e, left, &m->operand, SCALE, left < 0 ? -side : side);
            }
        } else if (style == 2) {
            left = em_round(e, left * root, &m->score, SCALE, left < 0 ? -side : side);
            right = em_round(e, right * root, &m->score, SCALE, right < 0 ? -side : side);
        }
        wide product = left * right;
        r->scratch[c] = fused ? product : em_round(e, product, &m->score, DOT_PRODUCT, push);
    }
    int scaled = style == 0 && scale < 0 ? -push : push;
    wide dot = em_sum(e, r->scratch, d, &m->score, DOT_ADD, scaled);
    uint32_t left_over = style == 2 ? 1 : m->scale_roundings - (style == 1 ? 1 : 0);
    dot = style == 0 ? dot * scale : dot;
    dot = em_round_times(e, dot, &m->score, SCALE, push, left_over);
    if ((m->narrow & ATTN_NARROW_SCALE) && style == 0) {
        dot = em_round(e, dot, &m->operand, SCALE, push);
    }
    return m->narrow & ATTN_NARROW_SCORE ? em_round(e, dot, &m->operand, SCALE, push) : dot;
}

static wide bend(const emulator *e, wide x, double softcap, int push) {
    const attn_model *m = e->model;
    wide ratio = em_round_times(e, x / (wide)softcap, &m->score, SOFTCAP, push, 3);
    double relative = 2 * m->tanh_ulps * m->score.u;
    wide bent = em_perturb(e, tanhl(ratio), relative, m->score.eta, SOFTCAP, push);
    return em_round_times(e, bent * (wide)softcap, &m->score, SOFTCAP, push, 2);
}

static wide add_bias(const row_state *r, wide y, int64_t b, int64_t h, int64_t i, int64_t j,
                     int push) {
    const emulator *e = r->e;
    const attn_model *m = e->model;
    const attn_normal *n = r->normal;
    const attest_problem *p = n->problem;
    wide mask = 0, alibi = 0;
    int has_mask = (n->features & ATTEST_MASK_ADD) != 0;
    int has_alibi = (n->features & ATTEST_ALIBI) != 0;
    if (has_mask) {
        mask = (wide)attn_mask_value(n, b, h, i, j);
        if (em_wider(p->mask.dtype, &m->score)) {
            mask = em_round(e, mask, &m->score, BIAS, push);
        }
    }
    if (has_alibi) {
        wide slope =
            p->slopes.rank == 2 ? em_load(&p->slopes, b, h, 0, 0) : em_load(&p->slopes, h, 0, 0, 0);
        int64_t distance = i + attn_offset(n, b) - j;
        alibi = slope * (wide)(distance < 0 ? -distance : distance);
        alibi = em_round_times(e, alibi, &m->score, BIAS, -push, 3);
        if (m->narrow & ATTN_NARROW_ALIBI) {
            alibi = em_round_times(e, alibi, &m->operand, BIAS, -push, 2);
        }
    }
    wide score = y;
    if (has_mask && has_alibi && random_chance(e->source, 2)) {
        wide bias = em_add(e, mask, -alibi, &m->score, BIAS, push);
        score = em_add(e, y, bias, &m->score, BIAS, push);
    } else {
        score = has_mask ? em_add(e, score, mask, &m->score, BIAS, push) : score;
        score = has_alibi ? em_add(e, score, -alibi, &m->score, BIAS, push) : score;
    }
    score = em_round_times(e, score, &m->score, BIAS, push, m->score_roundings);
    return m->narrow & ATTN_NARROW_SCORE ? em_round(e, score, &m->operand, BIAS, push) : score;
}

void em_score_row(row_state *r, int64_t b, int64_t h, int64_t i) {
    const emulator *e = r->e;
    const attn_model *m = e->model;
    const attn_normal *n = r->normal;
    const attest_problem *p = n->problem;
    int64_t kv_head = attn_kv_head(n, h), d = n->head_size;
    if (r->uniform) { /* scores of 0, as they are */
        return;
    }
    wide *q = r->scratch + d, *k = q + d;
    for (int64_t c = 0; c < d; c++) {
        q[c] = em_load(&p->q, b, h, i, c);
        if (em_wider(p->q.dtype, &m->operand)) {
            q[c] = em_round(e, q[c], &m->operand, OPERAND, 0);
        }
    }
    for (int64_t t = 0; t < r->keys; t++) {
        int push = em_push(r, t);
        for (int64_t c = 0; c < d; c++) {
            k[c] = em_load(&p->k, b, kv_head, r->key[t], c);
            if (em_wider(p->k.dtype, &m->operand)) {
                int side = q[c] * (wide)n->scale < 0 ? -push : push;
                k[c] = em_round(e, k[c], &m->operand, OPERAND, side);
            }
        }
        wide score = linear_score(r, q, k, push);
        if (n->features & ATTEST_SOFTCAP) {
            score = bend(e, score, p->softcap, push);
        }
        r->score[t] = add_bias(r, score, b, h, i, r->key[t], push);
    }
    if (r->terms > r->keys) {
        int push = em_push(r, r->keys);
        wide sink = em_load(&p->sinks, h, 0, 0, 0);
        uint32_t times = m->score_roundings + (em_wider(p->sinks.dtype, &m->score) ? 1u : 0u);
        sink = em_round_times(e, sink, &m->score, BIAS, push, times);
        if (m->narrow & ATTN_NARROW_SCORE) {
            sink = em_round(e, sink, &m->operand, BIAS, push);
        }
        r->score[r->keys] = sink;
    }
}
