/* SPDX-License-Identifier: Apache-2.0 */
#include "vectors/read/bounds.h"

uint64_t attest_header_length(const unsigned char bytes[ATTEST_LENGTH_BYTES]) {
    uint64_t length = 0;
    for (unsigned i = 0; i < ATTEST_LENGTH_BYTES; i++) {
        length |= (uint64_t)bytes[i] << (8 * i);
    }
    return length;
}

int attest_header_fits(uint64_t file_bytes, uint64_t header_bytes, uint64_t *data_bytes) {
    if (file_bytes > ATTEST_FILE_LIMIT || file_bytes < ATTEST_LENGTH_BYTES ||
        header_bytes > ATTEST_HEADER_LIMIT || header_bytes > file_bytes - ATTEST_LENGTH_BYTES) {
        return 0;
    }
    *data_bytes = file_bytes - ATTEST_LENGTH_BYTES - header_bytes;
    return 1;
}

int attest_shape_bytes(uint64_t element_bytes, const int64_t *shape, size_t rank, uint64_t *bytes) {
    uint64_t product = element_bytes;
    int has_elements = 1;
    for (size_t axis = 0; axis < rank; axis++) {
        if (shape[axis] < 0) {
            return 0;
        }
        if (shape[axis] == 0) {
            has_elements = 0;
        } else if (product > ATTEST_FILE_LIMIT / (uint64_t)shape[axis]) {
            return 0;
        } else {
            product *= (uint64_t)shape[axis];
        }
    }
    *bytes = has_elements ? product : 0;
    return 1;
}

int attest_range_fits(attest_range range, uint64_t data_bytes, uint64_t bytes) {
    return range.begin <= range.end && range.end <= data_bytes && range.end - range.begin == bytes;
}

int attest_range_aligned(attest_range range, uint64_t element_bytes) {
    return element_bytes != 0 && range.begin % element_bytes == 0;
}

int attest_ranges_tile(const attest_range *sorted, size_t count, uint64_t data_bytes) {
    uint64_t covered = 0;
    for (size_t i = 0; i < count; i++) {
        if (sorted[i].begin != covered || sorted[i].end < sorted[i].begin) {
            return 0;
        }
        covered = sorted[i].end;
    }
    return covered == data_bytes;
}
