/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "reference/problem/normal.h"
#include "vectors/read/bounds.h"
#include "vectors/read/safetensors.h"

static int row_major_bytes(const attest_tensor *tensor, uint64_t *bytes) {
    int64_t step = 1;
    for (uint32_t axis = tensor->rank; axis-- > 0;) {
        if (tensor->stride[axis] != step) {
            return 0;
        }
        step *= tensor->shape[axis] ? tensor->shape[axis] : 1;
    }
    return attest_shape_bytes((uint64_t)attn_dtype_bytes(tensor->dtype), tensor->shape,
                              tensor->rank, bytes);
}

/* The header as text, padded with spaces so that the data start at a multiple of 8. */
static char *header_text(const attest_named_tensor *tensors, size_t count, size_t *length,
                         uint64_t *data_bytes) {
    json_t *header = json_object();
    *data_bytes = 0;
    for (size_t i = 0; header && i < count; i++) {
        const attest_tensor *tensor = &tensors[i].tensor;
        const char *type = attest_safetensors_type(tensor->dtype);
        uint64_t bytes = 0;
        json_t *entry =
            type && row_major_bytes(tensor, &bytes)
                ? json_pack("{s:s, s:[], s:[I,I]}", "dtype", type, "shape", "data_offsets",
                            (json_int_t)*data_bytes, (json_int_t)(*data_bytes + bytes))
                : NULL;
        for (uint32_t axis = 0; axis < tensor->rank; axis++) {
            json_array_append_new(json_object_get(entry, "shape"),
                                  json_integer(tensor->shape[axis]));
        }
        if (json_object_set_new(header, tensors[i].name, entry) != 0) {
            json_decref(header);
            return NULL;
        }
        *data_bytes += bytes;
    }
    char *text = header ? json_dumps(header, JSON_COMPACT) : NULL;
    json_decref(header);
    if (!text) {
        return NULL;
    }
    size_t used = strlen(text);
    *length = (used + 7) / 8 * 8;
    char *padded = realloc(text, *length + 1);
    if (!padded) {
        free(text);
        return NULL;
    }
    memset(padded + used, ' ', *length - used);
    return padded;
}

unsigned char *attest_safetensors_write(const attest_named_tensor *tensors, size_t count,
                                        size_t *bytes) {
    uint64_t data_bytes;
    size_t length;
    char *text = header_text(tensors, count, &length, &data_bytes);
    if (!text) {
        return NULL;
    }
    *bytes = ATTEST_LENGTH_BYTES + length + (size_t)data_bytes;
    unsigned char *file = malloc(*bytes);
    if (file) {
        unsigned char *at = file;
        for (unsigned i = 0; i < ATTEST_LENGTH_BYTES; i++) {
            *at++ = (unsigned char)((uint64_t)length >> (8 * i));
        }
        memcpy(at, text, length);
        at += length;
        for (size_t i = 0; i < count; i++) {
            uint64_t tensor_bytes = 0;
            row_major_bytes(&tensors[i].tensor, &tensor_bytes);
            if (tensor_bytes) {
                memcpy(at, tensors[i].tensor.data, (size_t)tensor_bytes);
                at += tensor_bytes;
            }
        }
    }
    free(text);
    return file;
}
