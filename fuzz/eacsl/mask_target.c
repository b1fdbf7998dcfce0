/* SPDX-License-Identifier: Apache-2.0 */
/* The predicates of mask.h on any numbers; Frama-C's E-ACSL adds the checks of their contracts. */
#include <stddef.h>
#include <stdint.h>

#include "reference/problem/mask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int64_t word[6] = {0}; /* i, j, offset, left, right, length */
    for (size_t n = 0; n < size && n < sizeof word; n++) {
        word[n / 8] |= (int64_t)((uint64_t)data[n] << 8 * (n % 8));
    }
    for (int n = 0; n < 2; n++) { /* the contracts require i, j >= 0 */
        word[n] = word[n] < 0 ? -(word[n] + 1) : word[n];
    }
    const attn_band band = {word[2], word[3], word[4], word[5], (int)(size & 1)};
    attn_sees_causal(word[0], word[2], word[1]);
    attn_sees_window(word[0], word[2], word[3], word[4], word[1]);
    attn_sees_length(word[5], word[1]);
    attn_sees_band(&band, word[0], word[1]);
    return 0;
}
