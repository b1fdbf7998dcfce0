/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/oracle/oracle.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/oracle/oracle_finish.h"
#include "reference/oracle/oracle_row.h"

#define LONG_ROW 65536 /* from here on a row has its memory to itself */
#define MAX_THREADS 64

/*
 * The binary64 path as a model: two passes, no rescaling, the functions of elementary.h. Its
 * underflow error is 2^-1074; a normal number in its place keeps denormals, which are slow on many
 * machines, out of the bounds, and is far below every radius but those of denormal binary64 data.
 */
#define OWN_ETA 0x1p-900
static const attn_model own_model = {
    .name = "oracle-f64",
    .operand = {0, 0, DBL_MAX}, /* inputs are taken as they are */
    .score = {0x1p-53, OWN_ETA, DBL_MAX},
    .weight = {0x1p-53, OWN_ETA, DBL_MAX},
    .sum = {0x1p-53, OWN_ETA, DBL_MAX},
    .scale_roundings = 1,
    .argument_roundings = 1,
    .exp_ulps = 0.6,
    .tanh_ulps = 0.6,
    .log_ulps = 0.6,
    .exp_floor = OWN_ETA,
    .summation = ATTN_ANY_ORDER,
};

typedef struct team {
    const attn_oracle_call *call;
    attn_enclosure *o, *lse;
    int threads, block_rows;
} team;

typedef struct worker {
    const team *team;
    int rank;
    int out_of_memory;
    pthread_t thread;
} worker;

static int64_t round_up(int64_t n) { return (n + ATTN_LANES - 1) / ATTN_LANES * ATTN_LANES; }

static void start_call(attn_oracle_call *call, const attn_normal *normal, const attn_model *model,
                       attn_path least_path) {
    const attest_problem *p = normal->problem;
    *call = (attn_oracle_call){
        .normal = normal,
        .model = model,
        .least_path = least_path,
        .own_model = own_model,
        .o_format = attn_format_of(p->o.dtype),
        .lse_format = p->q.dtype == ATTEST_F64 ? attn_format_f64 : attn_format_f32,
        .padded_d = round_up(normal->head_size),
        .padded_dv = round_up(normal->value_size),
    };
    attn_bound_problem(&call->bound, model, normal);
    attn_bound_problem(&call->own_bound, &call->own_model, normal);
}

static int open_block(attn_row_block *block, const attn_oracle_call *call, int rows) {
    int64_t longest = call->padded_d > call->padded_dv ? call->padded_d : call->padded_dv;
    block->count = 0;
    block->vectors = calloc((size_t)longest + 1, 8 * sizeof(double));
    block->rows = calloc((size_t)rows, sizeof *block->rows);
    int fine = block->vectors && block->rows;
    for (int r = 0; fine && r < rows; r++) {
        fine = attn_row_reserve(&block->rows[r], call);
    }
    return fine;
}

static void close_block(attn_row_block *block, int rows) {
    for (int r = 0; block->rows && r < rows; r++) {
        attn_row_release(&block->rows[r]);
    }
    free(block->rows);
    free(block->vectors);
}

/* Rows i .. i + count - 1 of one head, into o and lse of the first of them. */
static void evaluate(attn_row_block *block, const attn_oracle_call *call, int64_t b, int64_t h,
                     int64_t i, int count, attn_enclosure *o, attn_enclosure *lse) {
    block->count = count;
    for (int r = 0; r < count; r++) {
        attn_row_open(&block->rows[r], call, b, h, i + r);
    }
    attn_block_scores(block, call);
    for (int r = 0; r < count; r++) {
        attn_row_weigh(&block->rows[r], call);
    }
    attn_block_outputs(block, call);
    for (int r = 0; r < count; r++) {
        attn_precise precise = {0};
        const attn_row_data *row = &block->rows[r];
        for (int64_t c = 0; c < call->normal->value_size; c++) {
            attn_finish_output(row, call, &precise, c, &o[r * call->normal->value_size + c]);
        }
        if (lse) {
            attn_finish_lse(row, call, &precise, &lse[r]);
        }
        attn_precise_release(&precise);
    }
}

/* Blocks of rows are dealt round robin: what a row gives depends on nothing but the row. */
static void *work(void *argument) {
    worker *self = argument;
    const team *t = self->team;
    const attn_normal *n = t->call->normal;
    attn_row_block block;
    if (!open_block(&block, t->call, t->block_rows)) {
        self->out_of_memory = 1;
        close_block(&block, t->block_rows);
        return NULL;
    }
    int64_t per_head = (n->queries + t->block_rows - 1) / t->block_rows;
    int64_t blocks = n->batch * n->q_heads * per_head;
    for (int64_t unit = self->rank; unit < blocks; unit += t->threads) {
        int64_t head = unit / per_head, i = unit % per_head * t->block_rows;
        int64_t left = n->queries - i, row = head * n->queries + i;
        int count = left < t->block_rows ? (int)left : t->block_rows;
        evaluate(&block, t->call, head / n->q_heads, head % n->q_heads, i, count,
                 t->o + row * n->value_size, t->lse ? t->lse + row : NULL);
    }
    close_block(&block, t->block_rows);
    return NULL;
}

attest_status attn_oracle_with(const attn_normal *normal, const attn_model *model,
                               const attn_oracle_options *options, attn_enclosure *o,
                               attn_enclosure *lse, char message[ATTEST_MESSAGE_BYTES]) {
    attn_oracle_call call;
    worker workers[MAX_THREADS];
    int threads = options->threads < 1 ? 1 : options->threads;
    threads = threads < MAX_THREADS ? threads : MAX_THREADS;
    start_call(&call, normal, model, options->least_path);
    int block_rows = normal->keys < LONG_ROW ? ATTN_BLOCK_ROWS : 1;
    if (normal->queries < block_rows) {
        block_rows = normal->queries < 1 ? 1 : (int)normal->queries;
    }
    const team all = {&call, o, lse, threads, block_rows};
    int started[MAX_THREADS] = {0}, failed = 0;
    for (int rank = 0; rank < threads; rank++) {
        workers[rank] = (worker){.team = &all, .rank = rank};
        started[rank] =
            rank > 0 && pthread_create(&workers[rank].thread, NULL, work, &workers[rank]) == 0;
    }
    for (int rank = 0; rank < threads; rank++) {
        if (!started[rank]) { /* the caller's share, and that of a thread there was no room for */
            work(&workers[rank]);
        }
    }
    for (int rank = 0; rank < threads; rank++) {
        if (started[rank]) {
            pthread_join(workers[rank].thread, NULL);
        }
        failed |= workers[rank].out_of_memory;
    }
    if (failed) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "oracle: not enough memory for rows of %lld keys",
                 (long long)normal->keys);
        return ATTEST_NO_MEMORY;
    }
    return ATTEST_OK;
}

attest_status attn_oracle(const attn_normal *normal, const attn_model *model, int threads,
                          attn_enclosure *o, attn_enclosure *lse,
                          char message[ATTEST_MESSAGE_BYTES]) {
    const attn_oracle_options options = {threads, ATTN_PATH_DOUBLE};
    return attn_oracle_with(normal, model, &options, o, lse, message);
}

attest_status attn_oracle_row(const attn_normal *normal, const attn_model *model, int64_t b,
                              int64_t h, int64_t i, attn_enclosure *o, attn_enclosure *lse,
                              char message[ATTEST_MESSAGE_BYTES]) {
    attn_oracle_call call;
    attn_row_block block;
    start_call(&call, normal, model, ATTN_PATH_DOUBLE);
    int fine = open_block(&block, &call, 1);
    if (fine) {
        evaluate(&block, &call, b, h, i, 1, o, lse);
    } else {
        snprintf(message, ATTEST_MESSAGE_BYTES, "oracle: not enough memory for a row of %lld keys",
                 (long long)normal->keys);
    }
    close_block(&block, 1);
    return fine ? ATTEST_OK : ATTEST_NO_MEMORY;
}
