/* SPDX-License-Identifier: Apache-2.0 */
/* What is accepted lies inside the file, and written again and read again it is the same. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/core/fuzz_target.h"
#include "reference/problem/normal.h"
#include "vectors/read/safetensors.h"

static void read_every_byte(const attest_safetensors *set) {
    unsigned sum = 0;
    for (size_t k = 0; k < set->count; k++) {
        const attest_tensor *t = &set->tensors[k].tensor;
        const unsigned char *bytes = t->data;
        for (size_t n = 0; n < attest_fuzz_extent(t); n++) {
            sum += bytes[n];
        }
        if (attest_safetensors_find(set, set->tensors[k].name) != t) {
            attest_fuzz_stop("safetensors: %s is not found by its name", set->tensors[k].name);
        }
    }
    volatile unsigned keep = sum;
    (void)keep;
}

static void compare(const attest_safetensors *a, const attest_safetensors *b) {
    if (a->count != b->count) {
        attest_fuzz_stop("safetensors: %zu tensors became %zu", a->count, b->count);
    }
    for (size_t k = 0; k < a->count; k++) {
        const attest_tensor *left = &a->tensors[k].tensor, *right = &b->tensors[k].tensor;
        if (strcmp(a->tensors[k].name, b->tensors[k].name) != 0 || left->dtype != right->dtype ||
            left->rank != right->rank || memcmp(left->shape, right->shape, sizeof left->shape) ||
            (attest_fuzz_extent(left) &&
             memcmp(left->data, right->data, attest_fuzz_extent(left)))) {
            attest_fuzz_stop("safetensors: %s changed on the way", a->tensors[k].name);
        }
    }
}

static int wider_first(const void *a, const void *b) {
    const attest_named_tensor *left = a, *right = b;
    int64_t difference =
        attn_dtype_bytes(right->tensor.dtype) - attn_dtype_bytes(left->tensor.dtype);
    return difference ? (difference > 0) - (difference < 0) : strcmp(left->name, right->name);
}

static void write_again(const attest_safetensors *set, char *message) {
    attest_named_tensor *order = malloc((set->count + 1) * sizeof *order);
    attest_safetensors again;
    size_t bytes = 0;
    if (order == NULL) {
        return;
    }
    if (set->count) {
        memcpy(order, set->tensors, set->count * sizeof *order);
        qsort(order, set->count, sizeof *order, wider_first);
    }
    unsigned char *file = attest_safetensors_write(order, set->count, &bytes);
    free(order);
    if (file == NULL) {
        attest_fuzz_stop("safetensors: what was read cannot be written");
    }
    if (attest_safetensors_parse(&again, file, bytes, message) != 0) {
        attest_fuzz_stop("safetensors: what was written is refused: %s", message);
    }
    compare(set, &again);
    attest_safetensors_free(&again);
    free(file);
}

void attest_fuzz_input(const uint8_t *data, size_t size) {
    attest_safetensors set;
    char message[ATTEST_MESSAGE_BYTES] = "";
    if (attest_safetensors_parse(&set, data, size, message) != 0) {
        if (message[0] == '\0' || set.count != 0) {
            attest_fuzz_stop("safetensors: refused without a reason");
        }
        return;
    }
    read_every_byte(&set);
    write_again(&set, message);
    attest_safetensors_free(&set);
}
