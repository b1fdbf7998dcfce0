/* SPDX-License-Identifier: Apache-2.0 */
#include "impl/frame/drive.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "impl/frame/pool.h"
#include "impl/frame/share.h"
#include "reference/problem/convert.h"

#define ROWS ATTN_TILE_ROWS
#define KEYS ATTN_TILE_KEYS
#define LINE_BYTES 64
#define MAX_THREADS 256
#define REAL_DTYPE (ATTN_BITS == 64 ? ATTEST_F64 : ATTEST_F32)

typedef ATTN_NAME(attn_block) block_t;
typedef ATTN_NAME(attn_state) state_t;
typedef ATTN_NAME(attn_scratch) scratch_t;
typedef ATTN_NAME(attn_engine) engine_t;
typedef ATTN_NAME(attn_matrix) matrix_t;

/* How the work is cut; depends on metadata alone. */
typedef struct plan {
    int64_t group;           /* query heads a KV head serves */
    int64_t blocks_per_head; /* of a KV head, all its query heads together */
    int64_t blocks;          /* of all batch entries and KV heads */
    int64_t chunks;
    int64_t units;
    int64_t threads;
    int64_t rows; /* of the largest block */
    int split;    /* a unit is one chunk of a block */
} plan;

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static plan make_plan(const attn_normal *n) {
    plan p = {.group = n->kv_heads ? n->q_heads / n->kv_heads : 0,
              .chunks = ceil_div(n->keys, ATTN_CHUNK_KEYS)};
    if (n->queries >= ROWS) {
        p.rows = ROWS;
        p.blocks_per_head = p.group * ceil_div(n->queries, ROWS);
    } else { /* few queries: the heads of a group share a block, and so each read of K and V */
        p.rows = smaller(p.group * n->queries, ROWS);
        p.blocks_per_head = ceil_div(p.group * n->queries, ROWS);
    }
    p.blocks = n->batch * n->kv_heads * p.blocks_per_head;
    p.split = p.chunks > 1 && p.blocks < 4 * (int64_t)n->problem->threads;
    p.units = p.split ? p.blocks * p.chunks : p.blocks;
    p.threads = smaller(smaller(n->problem->threads, MAX_THREADS), p.units);
    return p;
}

/* A cursor over the workspace; with base NULL it only counts. */
typedef struct arena {
    char *base;
    uint64_t used;
    int overflow;
} arena;

static void *take(arena *a, int64_t count, int64_t each, size_t element_bytes) {
    uint64_t bytes, start = a->used;
    a->overflow |= __builtin_mul_overflow(count, each, &bytes) ||
                   __builtin_mul_overflow(bytes, element_bytes, &bytes) ||
                   __builtin_add_overflow(bytes, LINE_BYTES - 1, &bytes) ||
                   __builtin_add_overflow(a->used, bytes / LINE_BYTES * LINE_BYTES, &a->used);
    return a->base ? a->base + start : NULL;
}

static state_t take_state(arena *a, const attn_normal *n, const plan *p) {
    return (state_t){
        .max = take(a, ROWS, 1, sizeof(attn_real)),
        .sum = take(a, ROWS, 1, sizeof(attn_real)),
        .o = take(a, p->rows, n->value_size, sizeof(attn_real)),
        .seen = take(a, ROWS, 1, 1),
    };
}

/* What one thread needs. */
typedef struct desk {
    scratch_t scratch;
    state_t total, part;
} desk;

static desk take_desk(arena *a, const attn_normal *n, const plan *p) {
    const size_t real = sizeof(attn_real);
    return (desk){
        .scratch =
            {
                .q = take(a, n->head_size + ATTN_PARTS - 1, ROWS, real),
                .k = take(a, n->head_size, KEYS, real),
                .v = take(a, n->value_size, KEYS, real),
                .s = take(a, KEYS, ROWS, real),
                .bias = take(a, KEYS, ROWS, real),
                .line = take(a, n->head_size > KEYS ? n->head_size : KEYS, 1, real),
                .factor = take(a, ROWS, 1, real),
                .visible = take(a, KEYS, ROWS, 1),
            },
        .total = take_state(a, n, p),
        .part = take_state(a, n, p),
    };
}

static uint64_t state_bytes(const attn_normal *n, const plan *p) {
    arena count = {0};
    take_state(&count, n, p);
    return count.used;
}

static uint64_t desk_bytes(const attn_normal *n, const plan *p) {
    arena count = {0};
    take_desk(&count, n, p);
    return count.overflow ? UINT64_MAX : count.used;
}

uint64_t ATTN_NAME(attn_drive_bytes)(const attn_normal *normal) {
    plan p = make_plan(normal);
    uint64_t desks, states = 0, total;
    if (__builtin_mul_overflow(desk_bytes(normal, &p), (uint64_t)p.threads, &desks) ||
        (p.split && __builtin_mul_overflow(state_bytes(normal, &p), p.units, &states)) ||
        __builtin_add_overflow(desks, states, &total)) {
        return UINT64_MAX;
    }
    return total;
}

typedef struct job {
    const attn_normal *normal;
    const engine_t *engine;
    plan plan;
    uint64_t desk_bytes, state_bytes;
    atomic_int_fast64_t next_desk;
    attn_share *share;
} job;

static desk desk_at(const job *j, int64_t index) {
    arena a = {.base = (char *)j->normal->problem->workspace + (uint64_t)index * j->desk_bytes};
    return take_desk(&a, j->normal, &j->plan);
}

/* States of a split call lie behind the desks, chunk by chunk of each block. */
static state_t state_at(const job *j, int64_t unit) {
    arena a = {.base = (char *)j->normal->problem->workspace +
                       (uint64_t)j->plan.threads * j->desk_bytes + (uint64_t)unit * j->state_bytes};
    return take_state(&a, j->normal, &j->plan);
}

static matrix_t matrix(const attest_tensor *tensor, int64_t b, int64_t head, const engine_t *engine,
                       int may_be_narrow) {
    const int64_t start[ATTEST_MAX_RANK] = {b, head, 0, 0};
    static const attn_real nothing[1]; /* without elements data may be NULL, and no step is valid */
    int has_elements = tensor->shape[2] > 0 && tensor->shape[3] > 0;
    return (matrix_t){
        .data = has_elements ? attn_element(tensor, start) : nothing,
        .row_stride = has_elements && tensor->shape[2] > 1 ? tensor->stride[2] : 0,
        .column_stride = tensor->stride[3],
        .in_place = tensor->dtype == REAL_DTYPE && tensor->stride[3] == 1,
        .narrow = may_be_narrow && tensor->stride[3] == 1 &&
                          (tensor->dtype == ATTEST_F16 || tensor->dtype == ATTEST_BF16)
                      ? tensor->dtype
                      : 0,
        .load = ATTN_NAME(attn_loader)(engine, tensor->dtype),
    };
}

static attn_real value_at(const attest_tensor *tensor, int64_t a, int64_t b) {
    const int64_t index[ATTEST_MAX_RANK] = {a, b, 0, 0};
    return (attn_real)attn_load(tensor->dtype, attn_element(tensor, index));
}

/* Step of a mask along an axis of [B,Hq,Sq,Sk]: right-aligned, axes of length 1 repeat. */
static int64_t mask_step(const attest_tensor *mask, uint32_t axis) {
    uint32_t missing = ATTEST_MAX_RANK - mask->rank;
    return axis < missing || mask->shape[axis - missing] == 1 ? 0 : mask->stride[axis - missing];
}

/* Head and query of the first row of a block, and how many rows it has; see next_row. */
static int64_t first_row(const job *j, int64_t block_of_head, int64_t *head, int64_t *query) {
    const attn_normal *n = j->normal;
    int64_t left;
    if (n->queries >= ROWS) { /* late rows see most under a causal mask: the first of a head */
        int64_t per_head = ceil_div(n->queries, ROWS);
        *head = block_of_head / per_head;
        *query = (per_head - 1 - block_of_head % per_head) * ROWS;
        left = n->queries - *query;
    } else {
        *head = block_of_head * ROWS / n->queries;
        *query = block_of_head * ROWS % n->queries;
        left = j->plan.group * n->queries - block_of_head * ROWS;
    }
    return smaller(left, ROWS);
}

static void next_row(const job *j, int64_t *head, int64_t *query) {
    if (++*query == j->normal->queries) {
        *query = 0;
        ++*head;
    }
}

static void fill_rows(block_t *block, const job *j, int64_t b, int64_t kv_head,
                      int64_t block_of_head) {
    const attn_normal *n = j->normal;
    const attest_problem *p = n->problem;
    int64_t head, query;
    int64_t rows = first_row(j, block_of_head, &head, &query);
    block->rows = (size_t)rows;
    for (int64_t r = 0; r < rows; r++, next_row(j, &head, &query)) {
        int64_t h = kv_head * j->plan.group + head;
        block->index[r] = query;
        block->q_at[r] = b * p->q.stride[0] + h * p->q.stride[1] + query * p->q.stride[2];
        if (block->mask_bool || block->mask_add) {
            block->mask_at[r] = b * mask_step(&p->mask, 0) + h * mask_step(&p->mask, 1) +
                                query * mask_step(&p->mask, 2);
        }
        if (block->has_slopes) {
            block->slope[r] =
                p->slopes.rank == 2 ? value_at(&p->slopes, b, h) : value_at(&p->slopes, h, 0);
        }
        if (block->has_sinks) {
            block->sink[r] = value_at(&p->sinks, h, 0);
        }
    }
}

static void fill_block(block_t *block, const job *j, int64_t number) {
    const attn_normal *n = j->normal;
    const attest_problem *p = n->problem;
    int64_t block_of_head = number % j->plan.blocks_per_head;
    int64_t kv_head = number / j->plan.blocks_per_head % n->kv_heads;
    int64_t b = number / j->plan.blocks_per_head / n->kv_heads;
    int few =
        j->engine->micro->scores_narrow && j->plan.rows <= (int64_t)j->engine->micro->narrow_rows;
    int has_mask = (n->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) != 0;
    *block = (block_t){
        .d = (size_t)n->head_size,
        .dv = (size_t)n->value_size,
        .q = p->q.data,
        .q_stride = p->q.stride[3],
        .q_load = ATTN_NAME(attn_loader)(j->engine, p->q.dtype),
        .k = matrix(&p->k, b, kv_head, j->engine, few),
        .v = matrix(&p->v, b, kv_head, j->engine, few),
        .band = {.offset = attn_offset(n, b),
                 .left = n->left,
                 .right = n->right,
                 .length = attn_key_length(n, b),
                 .causal = (n->features & ATTEST_CAUSAL) != 0},
        .mask_bool = (n->features & ATTEST_MASK_BOOL) ? p->mask.data : NULL,
        .mask_add = (n->features & ATTEST_MASK_ADD) ? p->mask.data : NULL,
        .mask_load = ATTN_NAME(attn_loader)(j->engine, p->mask.dtype),
        .mask_stride = has_mask ? mask_step(&p->mask, 3) : 0,
        .scale = (attn_real)n->scale,
        .softcap = (n->features & ATTEST_SOFTCAP) ? (attn_real)p->softcap : ONE,
        .has_softcap = (n->features & ATTEST_SOFTCAP) != 0,
        .has_slopes = (n->features & ATTEST_ALIBI) != 0,
        .has_sinks = (n->features & ATTEST_SINKS) != 0,
    };
    fill_rows(block, j, b, kv_head, block_of_head);
}

static void store(const attest_tensor *tensor, const int64_t index[ATTEST_MAX_RANK],
                  const attn_real *row, int64_t count) {
    char *address = (char *)(uintptr_t)attn_element(tensor, index);
    int64_t step = tensor->rank == 4 ? tensor->stride[3] * attn_dtype_bytes(tensor->dtype) : 0;
    if (tensor->dtype == REAL_DTYPE && step == (int64_t)sizeof(attn_real)) {
        memcpy(address, row, (size_t)count * sizeof(attn_real));
        return;
    }
    for (int64_t c = 0; c < count; c++) {
        attn_store(tensor->dtype, address + c * step, (double)row[c]);
    }
}

static void write_block(const job *j, const block_t *block, const state_t *state, int64_t number) {
    const attn_normal *n = j->normal;
    int64_t block_of_head = number % j->plan.blocks_per_head;
    int64_t kv_head = number / j->plan.blocks_per_head % n->kv_heads;
    int64_t b = number / j->plan.blocks_per_head / n->kv_heads;
    int64_t head, query;
    int64_t rows = first_row(j, block_of_head, &head, &query);
    ATTN_NAME(attn_block_finish)(state, block, (n->features & ATTEST_LSE) != 0);
    for (int64_t r = 0; r < rows; r++, next_row(j, &head, &query)) {
        const int64_t at[ATTEST_MAX_RANK] = {b, kv_head * j->plan.group + head, query, 0};
        if (n->value_size > 0) {
            store(&n->problem->o, at, state->o + r * n->value_size, n->value_size);
        }
        if (n->features & ATTEST_LSE) {
            store(&n->problem->lse, at, state->max + r, 1);
        }
    }
}

static void run_chunk(const job *j, const block_t *block, const scratch_t *scratch,
                      const state_t *state, int64_t chunk) {
    int64_t begin = chunk * ATTN_CHUNK_KEYS;
    ATTN_NAME(attn_state_begin)(state, block, 0);
    ATTN_NAME(attn_block_range)(state, block, j->engine->micro, scratch, begin,
                                smaller(begin + ATTN_CHUNK_KEYS, j->normal->keys));
}

/* Chunks where no row of the block sees anything are neutral, and are not visited. */
static void chunks_in_use(const job *j, const block_t *block, int64_t *first, int64_t *last) {
    *first = j->plan.chunks;
    *last = 0;
    for (size_t r = 0; r < block->rows; r++) {
        int64_t low, high;
        ATTN_NAME(attn_row_span)(block, r, &low, &high);
        if (low < high) {
            *first = smaller(*first, low / ATTN_CHUNK_KEYS);
            int64_t end = ceil_div(high, ATTN_CHUNK_KEYS);
            *last = *last > end ? *last : end;
        }
    }
}

static void whole_block(const job *j, desk *d, block_t *block, int64_t number) {
    fill_block(block, j, number);
    ATTN_NAME(attn_block_start)(block, j->engine->micro, &d->scratch);
    int64_t first, last;
    chunks_in_use(j, block, &first, &last);
    if (first < last && !block->has_sinks) { /* merging into nothing would give these bits */
        run_chunk(j, block, &d->scratch, &d->total, first++);
    } else {
        ATTN_NAME(attn_state_begin)(&d->total, block, 1);
    }
    for (int64_t chunk = first; chunk < last; chunk++) {
        run_chunk(j, block, &d->scratch, &d->part, chunk);
        ATTN_NAME(attn_state_merge)(&d->total, &d->part, block, j->engine->micro, &d->scratch);
    }
    write_block(j, block, &d->total, number);
}

static void worker(void *argument) {
    job *j = argument;
    const int64_t own = atomic_fetch_add(&j->next_desk, 1);
    desk d = desk_at(j, own);
    block_t block;
    int64_t unit;
    while ((unit = attn_take_unit(j->share, j->plan.threads, own)) >= 0) {
        if (j->plan.split) {
            state_t state = state_at(j, unit);
            fill_block(&block, j, unit / j->plan.chunks);
            ATTN_NAME(attn_block_start)(&block, j->engine->micro, &d.scratch);
            run_chunk(j, &block, &d.scratch, &state, unit % j->plan.chunks);
        } else {
            whole_block(j, &d, &block, unit);
        }
    }
}

static void merge_split(const job *j) {
    desk d = desk_at(j, 0);
    block_t block;
    for (int64_t number = 0; number < j->plan.blocks; number++) {
        fill_block(&block, j, number);
        ATTN_NAME(attn_state_begin)(&d.total, &block, 1);
        for (int64_t chunk = 0; chunk < j->plan.chunks; chunk++) {
            state_t part = state_at(j, number * j->plan.chunks + chunk);
            ATTN_NAME(attn_state_merge)(&d.total, &part, &block, j->engine->micro, &d.scratch);
        }
        write_block(j, &block, &d.total, number);
    }
}

attest_status ATTN_NAME(attn_drive)(const attn_normal *normal, const engine_t *engine,
                                    char message[ATTEST_MESSAGE_BYTES]) {
    uint64_t needed = ATTN_NAME(attn_drive_bytes)(normal);
    if (needed > normal->problem->workspace_bytes || (needed > 0 && !normal->problem->workspace)) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "workspace_bytes: %llu, %llu are needed",
                 (unsigned long long)normal->problem->workspace_bytes, (unsigned long long)needed);
        return ATTEST_NO_MEMORY;
    }
    attn_share share[MAX_THREADS];
    job j = {.normal = normal, .engine = engine, .plan = make_plan(normal), .share = share};
    j.desk_bytes = desk_bytes(normal, &j.plan);
    j.state_bytes = state_bytes(normal, &j.plan);
    if (j.plan.units == 0) {
        return ATTEST_OK;
    }
    attn_share_out(j.share, j.plan.threads, j.plan.units);
    attn_pool_run(worker, &j, (int)j.plan.threads - 1);
    if (j.plan.split) {
        merge_split(&j);
    }
    return ATTEST_OK;
}
