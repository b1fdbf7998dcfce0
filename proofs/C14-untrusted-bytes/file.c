/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vector file of any length up to the limit, in an allocation of exactly that length, read as
 * attest_safetensors_parse does: where the bounds code accepts a header, every byte of the header
 * and of the data is inside the file; where it accepts a tensor's range, every byte of the tensor
 * is; where it accepts a tiling, every byte of the data belongs to exactly one tensor. What the
 * header's JSON says is arbitrary.
 */
#include <stdlib.h>

#include "vectors/read/bounds.h"
#include "proofs/harness/proof.h"

static attest_range any_range(void) {
    const attest_range range = {nondet_size(), nondet_size()};
    return range;
}

static _Bool holds(attest_range range, uint64_t at) { return range.begin <= at && at < range.end; }

static void read_file(const unsigned char *bytes, uint64_t size) {
    const uint64_t header = attest_header_length(bytes), at = nondet_size();
    uint64_t data_bytes;
    if (!attest_header_fits(size, header, &data_bytes)) {
        return;
    }
    PROVE(header <= ATTEST_HEADER_LIMIT && data_bytes < size &&
              ATTEST_LENGTH_BYTES + header + data_bytes == size,
          "C14 header and data are the file");
    const unsigned char *data = bytes + (size - data_bytes);
    unsigned char touched = 0;
    if (at < header) {
        touched ^= bytes[ATTEST_LENGTH_BYTES + at];
    }
    const attest_range range = any_range();
    if (attest_range_fits(range, data_bytes, nondet_size()) && holds(range, at)) {
        touched ^= data[at];
        REACHED(at > header, "a byte of a tensor");
    }
    attest_range tiles[TILES];
    for (int i = 0; i < TILES; i++) {
        tiles[i] = any_range();
    }
    if (attest_ranges_tile(tiles, TILES, data_bytes)) {
        int owners = 0;
        for (int i = 0; i < TILES; i++) {
            owners += holds(tiles[i], at);
        }
        PROVE(owners == (at < data_bytes), "C14 each byte of the data has one owner");
        REACHED(holds(tiles[TILES - 1], at) && tiles[0].end > 0 && touched, "a file of tensors");
    }
}

int main(void) {
    const uint64_t size = nondet_size();
    __CPROVER_assume(size <= LONGEST);
    unsigned char *bytes = malloc(size);
    __CPROVER_assume(bytes);
    if (size >= ATTEST_LENGTH_BYTES) {
        read_file(bytes, size);
    }
    free(bytes);
}
