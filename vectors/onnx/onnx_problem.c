/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/problem/convert.h"
#include "reference/problem/normal.h"
#include "vectors/onnx/onnx.h"

static int fail(char *message, const char *why) {
    snprintf(message, ATTEST_MESSAGE_BYTES, "%s", why);
    return -1;
}

static int64_t element_count(const attest_tensor *tensor) {
    int64_t count = 1;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        count *= tensor->shape[axis];
    }
    return count;
}

/* A row-major tensor in memory that `built` owns; count fits because it is of an input's order. */
static void *own(attest_onnx_problem *built, size_t slot, int64_t count, attest_dtype dtype) {
    size_t bytes;
    if (__builtin_mul_overflow(count, attn_dtype_bytes(dtype), &bytes)) {
        return NULL;
    }
    return built->owned[slot] = calloc(bytes ? bytes : 1, 1);
}

static void row_major(attest_tensor *tensor) {
    int64_t step = 1;
    for (uint32_t axis = tensor->rank; axis-- > 0;) {
        tensor->stride[axis] = step;
        step *= tensor->shape[axis];
    }
}

/* [B,S,H*D] split into heads and seen as [B,H,S,D]; rank 4 stays as it is. */
static int heads_first(attest_tensor *view, const attest_tensor *tensor, int64_t heads,
                       int unsplit) {
    *view = *tensor;
    if (tensor->rank == 4) {
        return 0;
    }
    if (tensor->rank != 3 || heads < 1 || tensor->shape[2] % heads != 0) {
        return -1;
    }
    int64_t size = tensor->shape[2] / heads;
    view->rank = 4;
    memcpy(view->shape, (int64_t[]){tensor->shape[0], heads, tensor->shape[1], size},
           sizeof view->shape);
    memcpy(view->stride, (int64_t[]){tensor->stride[0], size, tensor->stride[1], 1},
           sizeof view->stride);
    if (unsplit) {
        row_major(view);
    }
    return 0;
}

static void copy_rows(attest_tensor *target, int64_t first, const attest_tensor *source) {
    int64_t bytes = attn_dtype_bytes(source->dtype);
    for (int64_t b = 0; b < source->shape[0]; b++) {
        for (int64_t h = 0; h < source->shape[1]; h++) {
            for (int64_t s = 0; s < source->shape[2]; s++) {
                for (int64_t c = 0; c < source->shape[3]; c++) {
                    const int64_t from[ATTEST_MAX_RANK] = {b, h, s, c};
                    const int64_t to[ATTEST_MAX_RANK] = {b, h, first + s, c};
                    memcpy((void *)(uintptr_t)attn_element(target, to), attn_element(source, from),
                           (size_t)bytes);
                }
            }
        }
    }
}

/* past followed by `fresh` along the sequence, in memory of our own. */
static int join(attest_onnx_problem *built, size_t slot, attest_tensor *joined,
                const attest_tensor *past, const attest_tensor *fresh) {
    *joined = *fresh;
    if (past->dtype == 0) {
        return 0;
    }
    if (past->rank != 4 || past->dtype != fresh->dtype || past->shape[0] != fresh->shape[0] ||
        past->shape[1] != fresh->shape[1] || past->shape[3] != fresh->shape[3]) {
        return -1;
    }
    joined->shape[2] = past->shape[2] + fresh->shape[2];
    row_major(joined);
    joined->data = own(built, slot, element_count(joined), joined->dtype);
    if (!joined->data) {
        return -1;
    }
    copy_rows(joined, 0, past);
    copy_rows(joined, past->shape[2], fresh);
    return 0;
}

/* A last axis shorter than the keys is filled with what hides: false, or -inf. */
static int pad_mask(attest_onnx_problem *built, attest_tensor *mask, int64_t keys, int64_t opset) {
    uint32_t last = mask->rank - 1;
    if (mask->rank == 0 || mask->shape[last] >= keys || (opset < 24 && mask->shape[last] == 1)) {
        return 0;
    }
    attest_tensor padded = *mask;
    int64_t bytes = attn_dtype_bytes(mask->dtype), width = mask->shape[last];
    int64_t rows = width == 0 ? 0 : element_count(mask) / width;
    padded.shape[last] = keys;
    row_major(&padded);
    padded.data = own(built, 2, element_count(&padded), mask->dtype);
    if (!padded.data) {
        return -1;
    }
    for (int64_t row = 0; row < rows; row++) {
        char *target = (char *)padded.data + row * keys * bytes;
        memcpy(target, (const char *)mask->data + row * width * bytes, (size_t)(width * bytes));
        for (int64_t j = width; mask->dtype != ATTEST_BOOL && j < keys; j++) {
            attn_store(mask->dtype, target + j * bytes, (double)-INFINITY);
        }
    }
    *mask = padded;
    return 0;
}

static int add_options(attest_onnx_problem *built, const attest_onnx_case *loaded) {
    attest_problem *p = &built->problem;
    const attest_tensor *past = &loaded->input[ATTEST_ONNX_PAST_K];
    if (loaded->causal) {
        p->features |= ATTEST_CAUSAL;
    }
    if (loaded->has_scale) {
        p->features |= ATTEST_SCALE;
        p->scale = loaded->scale;
    }
    if (loaded->softcap > 0) {
        p->features |= ATTEST_SOFTCAP;
        p->softcap = loaded->softcap;
    }
    if (loaded->input[ATTEST_ONNX_LENGTHS].dtype != 0) {
        p->features |= ATTEST_KEY_LENGTHS;
        p->key_lengths = loaded->input[ATTEST_ONNX_LENGTHS];
    }
    if (loaded->input[ATTEST_ONNX_MASK].dtype != 0) {
        p->mask = loaded->input[ATTEST_ONNX_MASK];
        p->features |= p->mask.dtype == ATTEST_BOOL ? ATTEST_MASK_BOOL : ATTEST_MASK_ADD;
        if (pad_mask(built, &p->mask, p->k.shape[2], loaded->opset) != 0) {
            return -1;
        }
    }
    if (past->dtype != 0) {
        int64_t *offsets = own(built, 3, p->q.shape[0], ATTEST_I64);
        if (!offsets) {
            return -1;
        }
        for (int64_t b = 0; b < p->q.shape[0]; b++) {
            offsets[b] = past->shape[2];
        }
        p->features |= ATTEST_OFFSETS;
        p->offsets = (attest_tensor){offsets, {p->q.shape[0]}, {1}, ATTEST_I64, 1};
    }
    return 0;
}

static int to_problem(attest_onnx_problem *built, const attest_onnx_case *loaded, int unsplit,
                      char *message) {
    attest_tensor k, v;
    attest_problem *p = &built->problem;
    *built = (attest_onnx_problem){.problem = {.struct_bytes = sizeof *p, .threads = 1}};
    if (heads_first(&p->q, &loaded->input[ATTEST_ONNX_Q], loaded->q_heads, unsplit) != 0 ||
        heads_first(&k, &loaded->input[ATTEST_ONNX_K], loaded->kv_heads, unsplit) != 0 ||
        heads_first(&v, &loaded->input[ATTEST_ONNX_V], loaded->kv_heads, unsplit) != 0 ||
        heads_first(&p->o, &loaded->output[ATTEST_ONNX_Y], loaded->q_heads, 0) != 0) {
        return fail(message, "Q, K, V, Y: not of rank 4, or of rank 3 with a head count that fits");
    }
    p->o.data = own(built, 4, element_count(&loaded->output[ATTEST_ONNX_Y]), p->o.dtype);
    if (!p->o.data || join(built, 0, &p->k, &loaded->input[ATTEST_ONNX_PAST_K], &k) != 0 ||
        join(built, 1, &p->v, &loaded->input[ATTEST_ONNX_PAST_V], &v) != 0 ||
        add_options(built, loaded) != 0) {
        attest_onnx_problem_free(built);
        return fail(message, "past_key, past_value: do not match K and V, or not enough memory");
    }
    return 0;
}

int attest_onnx_to_problem(attest_onnx_problem *built, const attest_onnx_case *loaded,
                           char message[ATTEST_MESSAGE_BYTES]) {
    return to_problem(built, loaded, 0, message);
}

int attest_onnx_to_problem_unsplit(attest_onnx_problem *built, const attest_onnx_case *loaded,
                                   char message[ATTEST_MESSAGE_BYTES]) {
    return to_problem(built, loaded, 1, message);
}

void attest_onnx_problem_free(attest_onnx_problem *built) {
    for (size_t slot = 0; slot < sizeof built->owned / sizeof built->owned[0]; slot++) {
        free(built->owned[slot]);
        built->owned[slot] = NULL;
    }
}
