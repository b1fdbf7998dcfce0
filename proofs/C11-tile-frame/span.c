/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interval of keys that a block keeps for a row is the band of mask.c, for every position,
 * offset, window and length that SEM-03 allows, without overflow.
 */
#include "impl/frame/frame.h"
#include "proofs/harness/proof.h"

int main(void) {
    static ATTN_NAME(attn_block) block;
    const int64_t j = nondet_long();
    block.index[0] = nondet_long();
    block.band.offset = nondet_long();
    block.band.left = nondet_long();
    block.band.right = nondet_long();
    block.band.length = nondet_long();
    block.band.causal = nondet_bool();
    const int64_t axis = INT64_C(1) << 40, most = INT64_C(1) << 62;
    __CPROVER_assume(0 <= block.index[0] && block.index[0] < axis && 0 <= j && j < axis);
    __CPROVER_assume(-most <= block.band.offset && block.band.offset <= most);
    __CPROVER_assume(0 <= block.band.length && block.band.length <= axis);
    __CPROVER_assume(block.band.left >= -1 && block.band.right >= -1);
    int64_t low, high;
    ATTN_NAME(attn_row_span)(&block, 0, &low, &high);
    PROVE((low <= j && j < high) == attn_sees_band(&block.band, block.index[0], j),
          "C11 span is the band");
    REACHED(low <= j && j < high && block.band.left >= 0 && block.band.right > 0, "end");
}
