/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounds.h - the arithmetic between a safetensors header and the bytes it speaks of: nothing is
 * read here but the numbers, so that all of it can be proved free of overflow for every input.
 */
#ifndef ATTEST_BOUNDS_H
#define ATTEST_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

#define ATTEST_LENGTH_BYTES 8u                   /* the header's length comes first */
#define ATTEST_HEADER_LIMIT (UINT64_C(16) << 20) /* a longer header is refused */
#define ATTEST_FILE_LIMIT (UINT64_C(1) << 32)    /* so is a longer file */
#define ATTEST_TENSOR_LIMIT 65536u               /* and more tensors than this */

/* Bytes begin ... end - 1 of the data, which start right after the header. */
typedef struct attest_range {
    uint64_t begin, end;
} attest_range;

/* Little-endian length of the header from the first eight bytes. */
uint64_t attest_header_length(const unsigned char bytes[ATTEST_LENGTH_BYTES]);

/* 1 if a file of file_bytes has room for its header; *data_bytes is what is left for tensors. */
int attest_header_fits(uint64_t file_bytes, uint64_t header_bytes, uint64_t *data_bytes);

/*
 * 1 if no axis is negative and the product of element size and axes, leaving out those that are 0,
 * is at most ATTEST_FILE_LIMIT (strides are such products); *bytes is what the tensor takes.
 */
int attest_shape_bytes(uint64_t element_bytes, const int64_t *shape, size_t rank, uint64_t *bytes);

/* 1 if the range lies inside the data and holds exactly `bytes`. */
int attest_range_fits(attest_range range, uint64_t data_bytes, uint64_t bytes);

/* 1 if ranges in ascending order cover the data: no gap, no overlap, nothing left over. */
int attest_ranges_tile(const attest_range *sorted, size_t count, uint64_t data_bytes);

/* 1 if the range starts at a multiple of the element size. */
int attest_range_aligned(attest_range range, uint64_t element_bytes);

#endif
