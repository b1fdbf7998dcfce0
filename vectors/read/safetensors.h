/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors.h - reads a file of named tensors. Nothing in a file is trusted: a file that is not
 * exactly what the format says is refused with a reason, and no byte outside it is looked at.
 * Stricter than the format where looseness buys nothing: names are printable ASCII, ranks at most
 * 4, types those of the ABI, elements aligned to their size.
 */
#ifndef ATTEST_SAFETENSORS_H
#define ATTEST_SAFETENSORS_H

#include <stddef.h>

#include "spec/attest.h"

#define ATTEST_TENSOR_NAME_BYTES 128

typedef struct attest_named_tensor {
    char name[ATTEST_TENSOR_NAME_BYTES];
    attest_tensor tensor; /* row-major, inside `data` */
} attest_named_tensor;

typedef struct attest_safetensors {
    void *data;
    size_t count;
    attest_named_tensor *tensors; /* ascending by name */
} attest_safetensors;

/* 0, or -1 with a message; *set is then empty. The bytes are not needed afterwards. */
int attest_safetensors_parse(attest_safetensors *set, const unsigned char *bytes, size_t count,
                             char message[ATTEST_MESSAGE_BYTES]);
int attest_safetensors_load(attest_safetensors *set, const char *path,
                            char message[ATTEST_MESSAGE_BYTES]);
void attest_safetensors_free(attest_safetensors *set);

/* NULL where there is no such tensor. */
const attest_tensor *attest_safetensors_find(const attest_safetensors *set, const char *name);

/* "F32" and its like; NULL for a type that has no name in the format. */
const char *attest_safetensors_type(attest_dtype dtype);

/*
 * The file that holds these tensors, in this order, to be freed; NULL where memory is short or a
 * tensor is not row-major. Elements must stay aligned: wider types first.
 */
unsigned char *attest_safetensors_write(const attest_named_tensor *tensors, size_t count,
                                        size_t *bytes);

#endif
