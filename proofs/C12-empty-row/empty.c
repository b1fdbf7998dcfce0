/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row ROW sees nothing in one pass and anything in the other. Its output is ZERO and its LSE -inf,
 * or the sink; every other row is the same in both.
 */
#include "proofs/harness/pass.h"

int main(void) {
    static pass_inputs empty, any;
    static pass_results from_empty, from_any;
    any_inputs(&any);
    empty = any;
    for (int j = 0; j < S; j++) {
        empty.visible[ROW][j] = 0;
    }
    pass(&empty, &from_empty);
    pass(&any, &from_any);
    _Bool zero = 1, neighbours = 1;
    for (int c = 0; c < D; c++) {
        zero = zero && from_empty.out[ROW][c] == ZERO;
    }
#ifdef WITH_SINK
    const attn_real expected = any.sink;
#else
    const attn_real expected = NEG_INF;
#endif
    for (int i = 0; i < S; i++) {
        _Bool same =
            from_empty.lse[i] == from_any.lse[i] && same_rows(from_empty.out[i], from_any.out[i]);
        neighbours = neighbours && (i == ROW || same);
    }
    PROVE(zero, "C12 output is zero");
    PROVE(from_empty.lse[ROW] == expected, "C12 LSE is -inf or the sink");
    PROVE(neighbours, "C12 neighbours unchanged");
    REACHED(any.visible[ROW][0], "end, with a row that saw keys before");
}
