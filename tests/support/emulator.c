/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/emulator_row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const emulator_operation_name[EMULATOR_OPERATIONS] = {
    "none",   "operand", "dot product", "dot add", "scale",   "softcap", "bias", "argument", "exp",
    "weight", "product", "add",         "sum",     "rescale", "divide",  "log",  "store",
};

typedef struct partial {
    wide maximum, sum, *mix;
} partial;

static void *block(int64_t count, size_t bytes) {
    void *memory = calloc((size_t)(count > 0 ? count : 1), bytes);
    if (!memory) {
        abort();
    }
    return memory;
}

int em_push(const row_state *r, int64_t term) {
    if (r->e->mode != EMULATE_WORST) {
        return 0;
    }
    if (r->target->column < 0) {
        return r->target->direction;
    }
    wide v = term < r->keys ? r->v[term] : 0;
    return v > (wide)r->target->centre ? r->target->direction : -r->target->direction;
}

static int sum_push(const row_state *r) {
    if (r->e->mode != EMULATE_WORST) {
        return 0;
    }
    int up = r->target->column < 0 || r->target->centre < 0;
    return up ? r->target->direction : -r->target->direction;
}

static int mix_push(const row_state *r) {
    return r->e->mode == EMULATE_WORST ? r->target->direction : 0;
}

static wide exponential(const row_state *r, wide argument, int push) {
    const attn_model *m = r->e->model;
    wide x = em_round_times(r->e, argument, &m->score, ARGUMENT, push, m->argument_roundings);
    double relative = 2 * m->exp_ulps * m->score.u;
    return em_perturb(r->e, expl(x), relative, m->exp_floor, EXPONENTIAL, push);
}

/* exp(old - new) on one partial result. */
static void rescale(const row_state *r, partial *state, wide maximum) {
    const emulator *e = r->e;
    if (!isfinite(state->maximum)) {
        state->maximum = maximum;
        return;
    }
    int push = 0;
    if (e->mode == EMULATE_WORST) {
        wide so_far = r->target->column < 0 ? 1 : state->mix[0] / state->sum - r->target->centre;
        push = so_far < 0 ? -r->target->direction : r->target->direction;
    }
    wide factor = exponential(r, state->maximum - maximum, push);
    state->sum = em_round(e, state->sum * factor, &e->model->sum, RESCALE, sum_push(r));
    for (int64_t c = 0; c < r->columns; c++) {
        state->mix[c] = em_round(e, state->mix[c] * factor, &e->model->sum, RESCALE, mix_push(r));
    }
    state->maximum = maximum;
}

static void take_term(const row_state *r, partial *state, int64_t term, int sum_rounded_weights) {
    const emulator *e = r->e;
    const attn_model *m = e->model;
    int push = em_push(r, term);
    wide shift = state->maximum;
    if (m->shift_roundings && !e->plain_order && random_chance(e->source, 2)) {
        shift = em_round_times(e, shift, &m->score, ARGUMENT, -push, m->shift_roundings);
    }
    wide weight = exponential(r, r->score[term] - shift, push);
    wide narrow = em_round(e, weight, &m->weight, WEIGHT, push);
    wide share = sum_rounded_weights ? narrow : weight;
    state->sum = em_add(e, state->sum, share, &m->sum, SUM_ADD, sum_push(r));
    for (int64_t c = 0; term < r->keys && c < r->columns; c++) {
        wide product =
            em_round(e, narrow * r->v[term * r->columns + c], &m->sum, MIX_PRODUCT, mix_push(r));
        state->mix[c] = em_add(e, state->mix[c], product, &m->sum, MIX_ADD, mix_push(r));
    }
}

/* Terms order[0..n) in tiles, the maximum raised tile by tile. */
static void run_online(const row_state *r, partial *state, const int64_t *order, int64_t n,
                       int64_t tile) {
    const attn_model *m = r->e->model;
    int sum_rounded = random_chance(r->e->source, 2);
    for (int64_t start = 0; start < n; start += tile) {
        int64_t end = start + tile < n ? start + tile : n;
        wide maximum = state->maximum;
        for (int64_t at = start; at < end; at++) {
            maximum = r->score[order[at]] > maximum ? r->score[order[at]] : maximum;
        }
        int stale = isfinite(state->maximum) && maximum - state->maximum <= (wide)m->rescale_slack;
        if (maximum > state->maximum && !stale) {
            rescale(r, state, maximum);
        }
        for (int64_t at = start; at < end; at++) {
            take_term(r, state, order[at], sum_rounded);
        }
    }
}

static void merge(const row_state *r, partial *into, partial *from) {
    const emulator *e = r->e;
    wide maximum = into->maximum > from->maximum ? into->maximum : from->maximum;
    if (into->maximum < maximum) {
        rescale(r, into, maximum);
    }
    if (from->maximum < maximum) {
        rescale(r, from, maximum);
    }
    into->sum = em_add(e, into->sum, from->sum, &e->model->sum, SUM_ADD, sum_push(r));
    for (int64_t c = 0; c < r->columns; c++) {
        into->mix[c] = em_add(e, into->mix[c], from->mix[c], &e->model->sum, MIX_ADD, mix_push(r));
    }
}

/* Divides weights first, as a softmax that is a step of its own does; sums by any tree. */
static void run_normalised(const row_state *r, partial *state, const int64_t *order) {
    const emulator *e = r->e;
    const attn_model *m = e->model;
    wide *weight = block(2 * r->terms, sizeof *weight), *product = weight + r->terms;
    for (int64_t at = 0; at < r->terms; at++) {
        wide score = r->score[order[at]];
        state->maximum = score > state->maximum ? score : state->maximum;
    }
    for (int64_t at = 0; at < r->terms; at++) {
        wide argument = r->score[order[at]] - state->maximum;
        weight[at] = exponential(r, argument, em_push(r, order[at]));
    }
    state->sum = em_sum(e, weight, r->terms, &m->sum, SUM_ADD, sum_push(r));
    for (int64_t at = 0; at < r->terms; at++) {
        int push = em_push(r, order[at]);
        weight[at] = em_round(e, weight[at] / state->sum, &m->sum, DIVIDE, push);
        weight[at] = em_round(e, weight[at], &m->weight, WEIGHT, push);
    }
    for (int64_t c = 0; r->keys > 0 && c < r->columns; c++) {
        int64_t keys = 0;
        for (int64_t at = 0; at < r->terms; at++) {
            if (order[at] < r->keys) {
                wide exact = weight[at] * r->v[order[at] * r->columns + c];
                product[keys++] = em_round(e, exact, &m->sum, MIX_PRODUCT, mix_push(r));
            }
        }
        state->mix[c] = em_sum(e, product, keys, &m->sum, MIX_ADD, mix_push(r));
    }
    free(weight);
}

static void shuffle(const emulator *e, int64_t *order, int64_t n) {
    for (int64_t at = 0; at < n; at++) {
        order[at] = at;
    }
    for (int64_t at = n - 1; !e->plain_order && at > 0; at--) {
        int64_t other = random_between(e->source, 0, at), held = order[at];
        order[at] = order[other];
        order[other] = held;
    }
}

/* 1 if the result is already divided by its denominator. */
static int run_softmax(const row_state *r, partial *state, partial *other, int64_t *order) {
    const emulator *e = r->e;
    int64_t least_tile = e->model->rescale_tile;
    shuffle(e, order, r->terms);
    int bounded_depth = e->model->summation != ATTN_ANY_ORDER;
    if (bounded_depth || (!e->plain_order && random_chance(e->source, 4))) {
        run_normalised(r, state, order);
        return 1;
    }
    int64_t tile = least_tile == 0 ? r->terms : least_tile;
    if (!e->plain_order && tile < r->terms) {
        tile = random_chance(e->source, 3) ? r->terms : random_between(e->source, tile, r->terms);
    }
    if (!e->plain_order && least_tile == 1 && r->terms > 2 && random_chance(e->source, 3)) {
        int64_t cut = random_between(e->source, 1, r->terms - 1);
        run_online(r, state, order, cut, tile);
        run_online(r, other, order + cut, r->terms - cut, tile);
        merge(r, state, other);
    } else {
        run_online(r, state, order, r->terms, tile);
    }
    return 0;
}

/* The format of the last operation before a store to dtype. */
static attn_format last_format(const emulator *e, const attn_format *format, attest_dtype dtype) {
    const attn_format to = attn_format_of(dtype);
    attn_format last = *format;
    if (e->stores && format->u >= to.u) {
        last.u = (format->u - to.u) / (1 + to.u);
        last.eta = format->eta > to.eta ? format->eta - to.eta : 0;
    }
    return last;
}

static wide stored(const emulator *e, wide x, attest_dtype dtype, int push) {
    attn_format to = attn_format_of(dtype);
    int exact = e->stores || (e->model->sum.u >= to.u && e->model->sum.eta >= to.eta);
    return exact ? x : em_round(e, x, &to, STORE, push);
}

static wide log_sum_exp(const row_state *r, const partial *state) {
    const emulator *e = r->e;
    const attn_model *m = e->model;
    int base_2 = r->normal->profile.lse_base == ATTN_LSE_BASE_2;
    int push = e->mode == EMULATE_WORST ? r->target->direction : 0;
    wide logarithm = logl(state->sum);
    logarithm = em_perturb(e, logarithm, 2 * m->log_ulps * m->sum.u, m->sum.eta, LOGARITHM, push);
    uint32_t extra = m->score_roundings + (base_2 ? 2 : 0);
    wide shift = em_round_times(e, state->maximum, &m->score, LOGARITHM, push, extra);
    logarithm = em_round_times(e, logarithm, &m->sum, LOGARITHM, push, extra);
    attest_dtype dtype = r->normal->problem->q.dtype == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    const attn_format last = last_format(e, &m->sum, dtype);
    wide lse = em_round(e, shift + logarithm, &last, LOGARITHM, push);
    lse = base_2 ? lse * 1.44269504088896340735992468100189214L : lse;
    return stored(e, lse, dtype, push);
}

static void load_values(row_state *r, int64_t b, int64_t h) {
    const emulator *e = r->e;
    const attest_tensor *v = &r->normal->problem->v;
    int narrow = em_wider(v->dtype, &e->model->operand);
    for (int64_t t = 0; t < r->keys; t++) {
        for (int64_t c = 0; c < r->columns; c++) {
            wide x = em_load(v, b, attn_kv_head(r->normal, h), r->key[t], r->first_column + c);
            r->v[t * r->columns + c] =
                narrow ? em_round(e, x, &e->model->operand, OPERAND, mix_push(r)) : x;
        }
    }
}

void emulate_row(const emulator *e, const attn_normal *normal, int64_t b, int64_t h, int64_t i,
                 const emulator_target *target, long double *o, long double *lse) {
    int one_column = e->mode == EMULATE_WORST;
    row_state r = {.e = e, .normal = normal, .target = target};
    unsigned char *visible = block(normal->keys, 1);
    r.first_column = one_column && target->column > 0 ? target->column : 0;
    r.columns = one_column ? (normal->value_size > 0 ? 1 : 0) : normal->value_size;
    r.keys = attn_visible_keys(normal, b, h, i, visible);
    r.terms = r.keys + ((normal->features & ATTEST_SINKS) ? 1 : 0);
    if (r.terms == 0) { /* the caller says that there is a row to compute: the mean of all keys */
        memset(visible, 1, (size_t)normal->keys);
        r.uniform = 1;
        r.keys = r.terms = normal->keys;
    }
    r.key = block(r.keys, sizeof *r.key);
    r.score = block(r.terms, sizeof(wide));
    r.v = block(r.keys * r.columns, sizeof(wide));
    r.scratch = block(3 * normal->head_size, sizeof(wide));
    int64_t *order = block(r.terms, sizeof *order);
    for (int64_t j = 0, t = 0; j < normal->keys; j++) {
        if (visible[j]) {
            r.key[t++] = j;
        }
    }
    partial state = {-(wide)INFINITY, 0, block(r.columns, sizeof(wide))};
    partial other = {-(wide)INFINITY, 0, block(r.columns, sizeof(wide))};
    load_values(&r, b, h);
    em_score_row(&r, b, h, i);
    int divided = run_softmax(&r, &state, &other, order);
    for (int64_t c = 0; c < r.columns; c++) {
        wide x = state.mix[c];
        if (!divided) { /* a reciprocal and a product */
            const attn_format last = last_format(e, &e->model->sum, normal->problem->o.dtype);
            x = em_round(e, x / state.sum, &e->model->sum, DIVIDE, mix_push(&r));
            x = em_round(e, x, &last, DIVIDE, mix_push(&r));
        }
        o[r.first_column + c] = stored(e, x, normal->problem->o.dtype, mix_push(&r));
    }
    *lse = log_sum_exp(&r, &state);
    free(visible);
    free(r.key);
    free(r.score);
    free(r.v);
    free(r.scratch);
    free(order);
    free(state.mix);
    free(other.mix);
}
