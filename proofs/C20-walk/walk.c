/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over blocks on one shape: every row of every head is in exactly one block, which has its
 * queries, mask row, slope and sink, the keys and values of its KV head and the band of its batch
 * entry; each chunk in which it sees a key enters its state once, in order, the sink once; and o
 * and lse get what the state of that row is finished to. Lengths, offsets and window are arbitrary
 * where ANY_BAND is not 0.
 *
 * drive.c is included with the frame replaced by observers, which write down what a state has
 * taken: `max` holds the row, a table beside its `sum` the chunks. Threads run one after the other;
 * what they do to each other is not looked at.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* <stdatomic.h> for one thread at a time. */
#define _STDATOMIC_H
#define __CLANG_STDATOMIC_H
typedef int64_t atomic_int_fast64_t;
#define atomic_init(place, value) (*(place) = (value))
#define atomic_load(place) (*(place))
#define atomic_fetch_add(place, value) ((*(place) += (value)) - (value))

#include "impl/frame/drive.h"
#include "reference/problem/convert.h"
#include "proofs/harness/proof.h"

double nondet_double(void);

enum { B = 2, HQ = 2 * KV_HEADS, HKV = KV_HEADS, SQ = QUERIES, SK = KEYS, D = 2, DV = 1 };
enum { ROWS_IN_ALL = B * HQ * SQ, CHUNK = 8 * ATTN_TILE_KEYS, SINK = 64, SPACE = 8192 };

static attest_problem problem;
static attn_normal normal;
static double q[ROWS_IN_ALL * D], k[B * HKV * SK * D], v[B * HKV * SK * DV];
static double o[ROWS_IN_ALL * DV], lse[ROWS_IN_ALL], sinks[HQ], slopes[HQ], slopes0[HQ];
static unsigned char mask[B * SQ * SK];
static int64_t lengths[B], offsets[B];
static _Alignas(64) double space[SPACE / sizeof(double)];
static int finished[ROWS_IN_ALL];
static int taken[SPACE / sizeof(double)]; /* chunks, where the sum of the row lies */
#define TAKEN(state, r) taken[(state)->sum - space + (r)]
static _Bool right_rows = 1, right_keys = 1, right_masks = 1, right_options = 1, right_chunks = 1,
             apart = 1, right_ranges = 1;

static int row_of(const ATTN_NAME(attn_block) * block, size_t r) {
    return (int)(block->q_at[r] / D);
}

static void observe_start(const ATTN_NAME(attn_block) * block, const ATTN_NAME(attn_micro) * micro,
                          const ATTN_NAME(attn_scratch) * scratch) {
    const size_t real = sizeof(attn_real), rows = ATTN_TILE_ROWS, keys = ATTN_TILE_KEYS;
    const struct {
        const void *from;
        size_t bytes;
    } parts[] = {{scratch->q, (D + ATTN_PARTS - 1) * rows * real},
                 {scratch->k, D * keys * real},
                 {scratch->v, DV * keys * real},
                 {scratch->s, keys * rows * real},
                 {scratch->bias, keys * rows * real},
                 {scratch->line, keys * real},
                 {scratch->factor, rows * real},
                 {scratch->visible, keys * rows}};
    (void)micro;
    for (int a = 0; a < 8; a++) {
        const uint64_t start = (uint64_t)((const char *)parts[a].from - (const char *)space);
        apart = apart && start + parts[a].bytes <= problem.workspace_bytes;
        if (a > 0) {
            const uint64_t last = (uint64_t)((const char *)parts[a - 1].from - (const char *)space);
            apart = apart && last + parts[a - 1].bytes <= start;
        }
    }
    right_rows =
        right_rows && block->rows >= 1 && block->rows <= rows && block->d == D && block->dv == DV;
}

static void observe_begin(const ATTN_NAME(attn_state) * state, const ATTN_NAME(attn_block) * block,
                          int with_sink) {
    for (size_t r = 0; r < block->rows; r++) {
        state->max[r] = row_of(block, r);
        TAKEN(state, r) = with_sink && block->has_sinks ? SINK : 0;
        state->seen[r] = 0;
    }
}

static void observe_range(const ATTN_NAME(attn_state) * state, const ATTN_NAME(attn_block) * block,
                          const ATTN_NAME(attn_micro) * micro,
                          const ATTN_NAME(attn_scratch) * scratch, int64_t begin, int64_t end) {
    (void)micro;
    (void)scratch;
    right_ranges = right_ranges && begin % CHUNK == 0 && begin < end &&
                   end == (begin + CHUNK < SK ? begin + CHUNK : SK);
    for (size_t r = 0; r < block->rows; r++) {
        TAKEN(state, r) += 1 << begin / CHUNK;
    }
}

static void observe_merge(const ATTN_NAME(attn_state) * into, const ATTN_NAME(attn_state) * from,
                          const ATTN_NAME(attn_block) * block, const ATTN_NAME(attn_micro) * micro,
                          const ATTN_NAME(attn_scratch) * scratch) {
    (void)micro;
    (void)scratch;
    for (size_t r = 0; r < block->rows; r++) {
        const int had = TAKEN(into, r) & (SINK - 1), more = TAKEN(from, r);
        right_chunks = right_chunks && into->max[r] == row_of(block, r) &&
                       from->max[r] == row_of(block, r) && had < more && !(had & more) &&
                       more < SINK;
        TAKEN(into, r) += more;
    }
}

/* What the block says of a row against spec/attention.md. */
static void check_row(const ATTN_NAME(attn_block) * block, size_t r) {
    const int row = row_of(block, r), i = row % SQ, h = row / SQ % HQ, b = row / SQ / HQ;
    const int g = h / (HQ / HKV);
    const int64_t length = lengths[b];
    right_rows = right_rows && block->index[r] == i && block->q == q && block->q_stride == 1;
    right_keys = right_keys && block->k.data == k + (b * HKV + g) * SK * D &&
                 block->v.data == v + (b * HKV + g) * SK * DV && block->k.row_stride == D &&
                 block->v.row_stride == DV && block->k.column_stride == 1 &&
                 block->v.column_stride == 1;
    right_masks = right_masks && block->mask_bool == mask && !block->mask_add &&
                  block->mask_at[r] == (b * SQ + i) * SK && block->mask_stride == 1;
    right_options = right_options && block->band.causal && block->band.offset == offsets[b] &&
                    block->band.left == normal.left && block->band.right == normal.right &&
                    block->band.length == length && __CPROVER_equal(block->slope[r], slopes0[h]) &&
                    (!block->has_sinks || block->sink[r] == 20 + h) && block->has_slopes &&
                    block->scale == 2 && !block->has_softcap;
}

static void observe_finish(const ATTN_NAME(attn_state) * state, const ATTN_NAME(attn_block) * block,
                           int with_lse) {
    right_options = right_options && with_lse;
    for (size_t r = 0; r < block->rows; r++) {
        const int row = row_of(block, r), chunks = TAKEN(state, r) & (SINK - 1);
        int64_t low, high;
        ATTN_NAME(attn_row_span)(block, r, &low, &high);
        check_row(block, r);
        for (int chunk = 0; chunk * CHUNK < SK; chunk++) {
            const _Bool sees = low < high && low < (chunk + 1) * CHUNK && high > chunk * CHUNK;
            right_chunks = right_chunks && (!sees || chunks >> chunk & 1);
        }
        right_chunks = right_chunks && state->max[r] == row &&
                       (TAKEN(state, r) >= SINK) == (block->has_sinks != 0);
        finished[row]++;
        state->o[r] = 100 + row;
        state->max[r] = 200 + row;
    }
}

static void run_one_by_one(void (*work)(void *), void *argument, int others) {
    for (int thread = 0; thread <= others; thread++) {
        work(argument);
    }
}

#define attn_block_start_f64 observe_start
#define attn_state_begin_f64 observe_begin
#define attn_block_range_f64 observe_range
#define attn_state_merge_f64 observe_merge
#define attn_block_finish_f64 observe_finish
#define attn_pool_run run_one_by_one
#include PROOF_SOURCE

int snprintf(char *text, size_t size, const char *format, ...) {
    (void)text;
    (void)size;
    (void)format;
    return 0;
}

static attest_tensor tensor(void *data, attest_dtype dtype, uint32_t rank, int64_t a, int64_t b,
                            int64_t c, int64_t d) {
    attest_tensor t = {.data = data, .dtype = dtype, .rank = rank, .shape = {a, b, c, d}};
    int64_t step = 1;
    for (int axis = (int)rank - 1; axis >= 0; axis--) {
        t.stride[axis] = step;
        step *= t.shape[axis];
    }
    return t;
}

int main(void) {
    static const ATTN_NAME(attn_micro) micro;
    const ATTN_NAME(attn_engine) engine = {.micro = &micro};
    static char message[ATTEST_MESSAGE_BYTES];
    problem.features = ATTEST_CAUSAL | ATTEST_OFFSETS | ATTEST_KEY_LENGTHS | ATTEST_WINDOW |
                       ATTEST_MASK_BOOL | ATTEST_ALIBI | ATTEST_LSE | (SINKS ? ATTEST_SINKS : 0);
    problem.threads = THREADS;
    problem.q = tensor(q, ATTEST_F64, 4, B, HQ, SQ, D);
    problem.k = tensor(k, ATTEST_F64, 4, B, HKV, SK, D);
    problem.v = tensor(v, ATTEST_F64, 4, B, HKV, SK, DV);
    problem.o = tensor(o, ATTEST_F64, 4, B, HQ, SQ, DV);
    problem.lse = tensor(lse, ATTEST_F64, 3, B, HQ, SQ, 0);
    problem.mask = tensor(mask, ATTEST_BOOL, 4, B, 1, SQ, SK);
    problem.sinks = tensor(sinks, ATTEST_F64, 1, HQ, 0, 0, 0);
    problem.slopes = tensor(slopes, ATTEST_F64, 1, HQ, 0, 0, 0);
    problem.key_lengths = tensor(lengths, ATTEST_I64, 1, B, 0, 0, 0);
    problem.offsets = tensor(offsets, ATTEST_I64, 1, B, 0, 0, 0);
    for (int h = 0; h < HQ; h++) {
        slopes[h] = slopes0[h] = nondet_double();
        sinks[h] = 20 + h;
    }
    for (int b = 0; b < B; b++) {
        lengths[b] = ANY_BAND ? nondet_byte() % (SK + 1) : SK - b;
        offsets[b] = ANY_BAND ? (int64_t)(nondet_byte() % 64) - 32 : 9 * b;
    }
    normal = (attn_normal){.problem = &problem,
                           .features = problem.features,
                           .batch = B,
                           .q_heads = HQ,
                           .kv_heads = HKV,
                           .queries = SQ,
                           .keys = SK,
                           .head_size = D,
                           .value_size = DV,
                           .scale = 2,
                           .left = ANY_BAND ? (int64_t)(nondet_byte() % 8) - 1 : 1,
                           .right = -1};
    problem.workspace = space;
    problem.workspace_bytes = attn_drive_bytes_f64(&normal);
    __CPROVER_assert(problem.workspace_bytes <= SPACE, "C20 the harness has room");
    const attest_status status = attn_drive_f64(&normal, &engine, message);
    _Bool once = 1, stored = 1;
    for (int row = 0; row < ROWS_IN_ALL; row++) {
        once = once && finished[row] == 1;
        stored = stored && o[row * DV] == 100 + row && lse[row] == 200 + row;
    }
    PROVE(status == ATTEST_OK, "C20 the walk ends well");
    PROVE(once, "C20 each row is finished once");
    PROVE(stored, "C20 o and lse hold what the row was finished to");
    PROVE(right_rows, "C20 queries of the rows");
    PROVE(right_keys, "C20 keys and values of the KV head");
    PROVE(right_masks, "C20 mask of the rows");
    PROVE(right_options, "C20 band, slopes and sinks");
    PROVE(right_ranges, "C20 ranges are whole chunks");
    PROVE(right_chunks, "C20 each chunk that a row sees enters once, in order");
    PROVE(apart, "C20 buffers are apart and inside the workspace");
    REACHED(lengths[0] != lengths[1] && offsets[1] > 0, "end with different entries");
}
