/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One block of at most ATTN_TILE_ROWS rows, each any query below QUERIES, over at most MAX_KEYS
 * keys, with every parameter of the band, a boolean mask and which values are finite symbolic. The
 * set that each row must see is worked out here from the definition.
 */
#include "impl/frame/frame.h"
#include "proofs/harness/proof.h"

#define ROWS ATTN_TILE_ROWS
#define TILE ATTN_TILE_KEYS

uint8_t provenance_visible[ROWS];
uint8_t provenance_seen;

static attn_real queries[ROWS * D], keys_[MAX_KEYS * D], values[MAX_KEYS * D];
static unsigned char mask[ROWS * MAX_KEYS];
static attn_real max[ROWS], sum[ROWS], o[ROWS * D];
static unsigned char seen[ROWS];
static attn_real s_q[(D + ATTN_PARTS - 1) * ROWS], s_k[TILE * D], s_v[TILE * D];
static attn_real s_s[TILE * ROWS], s_bias[TILE * ROWS];
static attn_real s_line[TILE + D], s_factor[ROWS];
static unsigned char s_visible[TILE * ROWS];

static int64_t small(int64_t low, int64_t high) {
    const int64_t x = (int64_t)(nondet_byte() & 15) + low;
    __CPROVER_assume(x <= high);
    return x;
}

static _Bool in_band(const attn_band *b, int64_t i, int64_t j) {
    const int64_t place = i + b->offset;
    return j < b->length && !(b->causal && j > place) && !(b->left >= 0 && j < place - b->left) &&
           !(b->right >= 0 && j > place + b->right);
}

int main(void) {
    static ATTN_NAME(attn_block) block;
    const int64_t n = small(1, MAX_KEYS);
    block.rows = (size_t)small(1, ROWS);
    block.d = block.dv = D;
    block.band.causal = nondet_bool();
    block.band.offset = small(-MAX_KEYS, MAX_KEYS);
    block.band.left = small(-1, MAX_KEYS);
    block.band.right = small(-1, MAX_KEYS);
    block.band.length = small(0, n);
    block.scale = p_make(P_SCALE, 0, 0, 0, 0, 0);
    block.q = queries;
    block.q_stride = 1;
    block.q_load = ATTN_NAME(attn_load_real);
    block.k.data = keys_;
    block.v.data = values;
    block.k.row_stride = block.v.row_stride = D;
    block.k.column_stride = block.v.column_stride = 1;
    block.k.in_place = nondet_bool();
    block.v.in_place = nondet_bool();
    block.k.load = block.v.load = ATTN_NAME(attn_load_real);
    block.mask_bool = nondet_bool() ? mask : NULL;
    block.mask_stride = 1;
    for (int j = 0; j < MAX_KEYS; j++) {
        const uint8_t finite = nondet_bool();
        for (int c = 0; c < D; c++) {
            keys_[j * D + c] = p_make(P_KEY, 0, (uint8_t)j, (uint8_t)c, 0, 0);
            values[j * D + c] = p_make(P_VALUE, 0, (uint8_t)j, (uint8_t)c, finite, 0);
        }
    }
    for (int r = 0; r < ROWS; r++) {
        block.index[r] = small(0, QUERIES - 1);
        block.q_at[r] = r * D;
        block.mask_at[r] = r * MAX_KEYS;
        for (int c = 0; c < D; c++) {
            queries[r * D + c] = p_make(P_QUERY, (uint8_t)r, 0, (uint8_t)c, 0, 0);
        }
        for (int j = 0; j < MAX_KEYS; j++) {
            mask[r * MAX_KEYS + j] = nondet_bool();
            const _Bool shown = (size_t)r < block.rows && j < n &&
                                in_band(&block.band, block.index[r], j) &&
                                (!block.mask_bool || mask[r * MAX_KEYS + j]);
            provenance_visible[r] |= (uint8_t)(shown << j);
            provenance_seen |= (uint8_t)(shown << j);
        }
    }
    const ATTN_NAME(attn_scratch) scratch = {
        .q = s_q,
        .k = s_k,
        .v = s_v,
        .s = s_s,
        .bias = s_bias,
        .line = s_line,
        .factor = s_factor,
        .visible = s_visible,
    };
    const ATTN_NAME(attn_state) state = {.max = max, .sum = sum, .o = o, .seen = seen};
    const ATTN_NAME(attn_micro) *micro = &ATTN_NAME(attn_micro_portable);
    ATTN_NAME(attn_block_start)(&block, micro, &scratch);
    ATTN_NAME(attn_state_begin)(&state, &block, 0);
    ATTN_NAME(attn_block_range)(&state, &block, micro, &scratch, 0, n);
    ATTN_NAME(attn_block_finish)(&state, &block, 1);
    for (int r = 0; r < ROWS; r++) {
        const uint8_t all = provenance_visible[r];
        if ((size_t)r < block.rows) {
            PROVE(all ? max[r].kind == P_LOGSUM && max[r].set == all && max[r].row == r
                      : max[r].kind == P_NINF,
                  "C11 LSE holds every visible key");
            for (int c = 0; c < D; c++) {
                const attn_real out = o[r * D + c];
                PROVE(all ? out.kind == P_RESULT && out.set == all && out.row == r && out.dim == c
                          : out.kind == P_ZERO,
                      "C11 output holds every visible key");
            }
        }
    }
    REACHED(n == MAX_KEYS && block.rows == ROWS && provenance_visible[ROWS - 1] > 1 &&
                (ROWS == 1 || provenance_visible[0] == 1),
            "end with rows that see different keys");
}
