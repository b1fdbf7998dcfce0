/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame with every buffer exactly as large as frame.h says and K and V no larger than their
 * strides and the key length need: no access outside, for all shapes up to MAX_KEYS keys, strides
 * D..D + 2 and any mask. The reading is memory.h: addresses, not values.
 */
#include <stdlib.h>

#include "impl/frame/frame.h"
#include "proofs/harness/proof.h"

#define ROWS ATTN_TILE_ROWS
#define TILE ATTN_TILE_KEYS

static int64_t small(int64_t low, int64_t high) {
    const int64_t x = (int64_t)(nondet_byte() & 15) + low;
    __CPROVER_assume(x <= high);
    return x;
}

static void *exactly(int64_t elements, size_t bytes) {
    void *p = malloc((size_t)elements * bytes);
    __CPROVER_assume(p);
    return p;
}

static ATTN_NAME(attn_matrix) matrix(int64_t n) {
    ATTN_NAME(attn_matrix) m = {.row_stride = small(D, D + 2), .column_stride = 1};
    m.data = exactly((n - 1) * m.row_stride + D, sizeof(attn_real));
    m.in_place = nondet_bool();
    m.load = ATTN_NAME(attn_load_real);
    return m;
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
    block.band.length = n;
    block.q = exactly((int64_t)block.rows * D, sizeof(attn_real));
    block.q_stride = 1;
    block.q_load = ATTN_NAME(attn_load_real);
    block.k = matrix(n);
    block.v = matrix(n);
    block.mask_bool = nondet_bool() ? exactly((int64_t)block.rows * n, 1) : NULL;
    block.mask_stride = 1;
    for (size_t r = 0; r < ROWS; r++) {
        if (r < block.rows) {
            block.index[r] = small(0, MAX_KEYS - 1);
            block.q_at[r] = (int64_t)r * D;
            block.mask_at[r] = (int64_t)r * n;
        }
    }
    const size_t word = sizeof(attn_real);
    const ATTN_NAME(attn_scratch) scratch = {
        .q = exactly((D + ATTN_PARTS - 1) * ROWS, word),
        .k = exactly(TILE * D, word),
        .v = exactly(TILE * D, word),
        .s = exactly(TILE * ROWS, word),
        .bias = exactly(TILE * ROWS, word),
        .line = exactly(D > TILE ? D : TILE, word),
        .factor = exactly(ROWS, word),
        .visible = exactly(TILE * ROWS, 1),
    };
    const ATTN_NAME(attn_state) state = {
        .max = exactly(ROWS, word),
        .sum = exactly(ROWS, word),
        .o = exactly((int64_t)block.rows * D, word),
        .seen = exactly(ROWS, 1),
    };
    const ATTN_NAME(attn_micro) *micro = &ATTN_NAME(attn_micro_portable);
    ATTN_NAME(attn_block_start)(&block, micro, &scratch);
    ATTN_NAME(attn_state_begin)(&state, &block, 0);
    ATTN_NAME(attn_block_range)(&state, &block, micro, &scratch, 0, n);
    ATTN_NAME(attn_block_finish)(&state, &block, 1);
    REACHED(n == MAX_KEYS && block.rows == ROWS, "end");
}
