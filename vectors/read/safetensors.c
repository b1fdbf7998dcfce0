/* SPDX-License-Identifier: Apache-2.0 */
#include "vectors/read/safetensors.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/problem/normal.h"
#include "vectors/read/bounds.h"
#include "vectors/read/file.h"

static const struct {
    const char *name;
    attest_dtype dtype;
} types[] = {{"F32", ATTEST_F32},   {"F64", ATTEST_F64},   {"F16", ATTEST_F16},
             {"BF16", ATTEST_BF16}, {"BOOL", ATTEST_BOOL}, {"I64", ATTEST_I64}};

__attribute__((format(printf, 2, 3))) static int fail(char *message, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, ATTEST_MESSAGE_BYTES, format, arguments);
    va_end(arguments);
    return -1;
}

const char *attest_safetensors_type(attest_dtype dtype) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].dtype == dtype) {
            return types[i].name;
        }
    }
    return NULL;
}

static attest_dtype type_named(const char *name) {
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, name) == 0) {
            return types[i].dtype;
        }
    }
    return 0;
}

static int printable(const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++) {
        if (name[i] < 0x20 || name[i] > 0x7e) {
            return 0;
        }
    }
    return length > 0 && length < ATTEST_TENSOR_NAME_BYTES;
}

/* A list of up to `limit` integers that are not negative; how many, or -1. */
static int read_integers(const json_t *list, int64_t *values, size_t limit) {
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > limit) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_integer(item) || json_integer_value(item) < 0) {
            return -1;
        }
        values[i] = json_integer_value(item);
    }
    return (int)count;
}

static int read_tensor(attest_named_tensor *result, attest_range *range, const char *name,
                       const json_t *entry, uint64_t data_bytes, char *message) {
    attest_tensor tensor = {0};
    int64_t offsets[2];
    uint64_t bytes = 0;
    if (!json_is_object(entry) || json_object_size(entry) != 3) {
        return fail(message, "%s: not an object of dtype, shape and data_offsets", name);
    }
    tensor.dtype = type_named(json_string_value(json_object_get(entry, "dtype")));
    if (tensor.dtype == 0) {
        return fail(message, "%s: dtype is none of F64 F32 F16 BF16 I64 BOOL", name);
    }
    uint64_t element_bytes = (uint64_t)attn_dtype_bytes(tensor.dtype);
    int rank = read_integers(json_object_get(entry, "shape"), tensor.shape, ATTEST_MAX_RANK);
    if (rank < 0) {
        return fail(message, "%s: shape is not a list of up to four integers", name);
    }
    tensor.rank = (uint32_t)rank;
    if (!attest_shape_bytes(element_bytes, tensor.shape, tensor.rank, &bytes)) {
        return fail(message, "%s: shape is too large", name);
    }
    if (read_integers(json_object_get(entry, "data_offsets"), offsets, 2) != 2) {
        return fail(message, "%s: data_offsets is not a pair of integers", name);
    }
    *range = (attest_range){(uint64_t)offsets[0], (uint64_t)offsets[1]};
    if (!attest_range_fits(*range, data_bytes, bytes)) {
        return fail(message, "%s: data_offsets are outside the file, or not as long as the shape",
                    name);
    }
    if (!attest_range_aligned(*range, element_bytes)) {
        return fail(message, "%s: data_offsets are not aligned to the element", name);
    }
    int64_t step = 1;
    for (uint32_t axis = tensor.rank; axis-- > 0;) {
        tensor.stride[axis] = step;
        step *= tensor.shape[axis] ? tensor.shape[axis] : 1;
    }
    result->tensor = tensor;
    snprintf(result->name, sizeof result->name, "%s", name);
    return 0;
}

static int by_begin(const void *a, const void *b) {
    const attest_range *left = a, *right = b;
    if (left->begin != right->begin) {
        return left->begin < right->begin ? -1 : 1;
    }
    return (left->end > right->end) - (left->end < right->end);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const attest_named_tensor *)a)->name, ((const attest_named_tensor *)b)->name);
}

static int metadata_is_text(json_t *metadata) {
    const char *key;
    json_t *value;
    json_object_foreach(metadata, key, value) {
        if (!json_is_string(value)) {
            return 0;
        }
    }
    return json_is_object(metadata);
}

static int read_header(attest_safetensors *set, attest_range *ranges, json_t *header,
                       const unsigned char *data, uint64_t data_bytes, char *message) {
    const char *name;
    json_t *entry;
    json_object_foreach(header, name, entry) {
        if (strcmp(name, "__metadata__") == 0) {
            if (!metadata_is_text(entry)) {
                return fail(message, "__metadata__: not an object of strings");
            }
            continue;
        }
        if (!printable(name)) {
            return fail(message, "tensor %zu: its name is not 1 to %d printable ASCII characters",
                        set->count, ATTEST_TENSOR_NAME_BYTES - 1);
        }
        if (read_tensor(&set->tensors[set->count], &ranges[set->count], name, entry, data_bytes,
                        message) != 0) {
            return -1;
        }
        set->count++;
    }
    set->data = malloc(data_bytes ? (size_t)data_bytes : 1);
    if (!set->data) {
        return fail(message, "not enough memory");
    }
    if (data_bytes) {
        memcpy(set->data, data, (size_t)data_bytes);
    }
    for (size_t i = 0; i < set->count; i++) {
        set->tensors[i].tensor.data = (unsigned char *)set->data + ranges[i].begin;
    }
    qsort(ranges, set->count, sizeof *ranges, by_begin);
    if (!attest_ranges_tile(ranges, set->count, data_bytes)) {
        return fail(message, "data_offsets: tensors overlap, or leave bytes that belong to none");
    }
    qsort(set->tensors, set->count, sizeof *set->tensors, by_name);
    return 0;
}

int attest_safetensors_parse(attest_safetensors *set, const unsigned char *bytes, size_t count,
                             char message[ATTEST_MESSAGE_BYTES]) {
    uint64_t data_bytes, header_bytes;
    json_error_t error;
    *set = (attest_safetensors){0};
    if (count < ATTEST_LENGTH_BYTES) {
        return fail(message, "shorter than the eight bytes of its header's length");
    }
    header_bytes = attest_header_length(bytes);
    if (!attest_header_fits(count, header_bytes, &data_bytes)) {
        return fail(message, "header length %llu: beyond the end of the file, or beyond the limit",
                    (unsigned long long)header_bytes);
    }
    if (header_bytes == 0 || bytes[ATTEST_LENGTH_BYTES] != '{') {
        return fail(message, "header: does not start with {");
    }
    json_t *header = json_loadb((const char *)bytes + ATTEST_LENGTH_BYTES, (size_t)header_bytes,
                                JSON_REJECT_DUPLICATES, &error);
    if (!header) {
        return fail(message, "header, byte %d: %.120s", error.position, error.text);
    }
    int status = -1;
    size_t entries = json_object_size(header);
    if (entries > ATTEST_TENSOR_LIMIT) {
        fail(message, "header: more than %u tensors", ATTEST_TENSOR_LIMIT);
    } else {
        attest_range *ranges = calloc(entries + 1, sizeof *ranges);
        set->tensors = calloc(entries + 1, sizeof *set->tensors);
        status = !ranges || !set->tensors
                     ? fail(message, "not enough memory")
                     : read_header(set, ranges, header, bytes + (count - data_bytes), data_bytes,
                                   message);
        free(ranges);
    }
    json_decref(header);
    if (status != 0) {
        attest_safetensors_free(set);
    }
    return status;
}

int attest_safetensors_load(attest_safetensors *set, const char *path,
                            char message[ATTEST_MESSAGE_BYTES]) {
    size_t count;
    char why[ATTEST_MESSAGE_BYTES] = "";
    *set = (attest_safetensors){0};
    unsigned char *bytes = attest_read_file(path, ATTEST_FILE_LIMIT, &count, message);
    if (!bytes) {
        return -1;
    }
    int status = attest_safetensors_parse(set, bytes, count, why);
    free(bytes);
    return status == 0 ? 0 : fail(message, "%.100s: %.150s", path, why);
}

void attest_safetensors_free(attest_safetensors *set) {
    free(set->data);
    free(set->tensors);
    *set = (attest_safetensors){0};
}

const attest_tensor *attest_safetensors_find(const attest_safetensors *set, const char *name) {
    attest_named_tensor key = {.tensor = {0}};
    if (!set->tensors || strlen(name) >= sizeof key.name) {
        return NULL;
    }
    snprintf(key.name, sizeof key.name, "%s", name);
    const attest_named_tensor *found =
        bsearch(&key, set->tensors, set->count, sizeof *set->tensors, by_name);
    return found ? &found->tensor : NULL;
}
