/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generated/onnx.pb-c.h"
#include "reference/problem/normal.h"
#include "vectors/onnx/onnx.h"
#include "vectors/read/file.h"

#define MAX_FILE_BYTES (UINT64_C(64) << 20)

static int fail(char *message, const char *file, const char *why) {
    snprintf(message, ATTEST_MESSAGE_BYTES, "%.150s: %.100s", file, why);
    return -1;
}

static attest_dtype dtype_of(int32_t onnx_type) {
    switch (onnx_type) {
    case 1:
        return ATTEST_F32;
    case 7:
        return ATTEST_I64;
    case 9:
        return ATTEST_BOOL;
    case 10:
        return ATTEST_F16;
    case 11:
        return ATTEST_F64;
    case 16:
        return ATTEST_BF16;
    default:
        return 0;
    }
}

static int fill_tensor(attest_tensor *tensor, const Onnx__Tensor *message_tensor, const char *path,
                       char *message) {
    attest_tensor result = {.dtype = dtype_of(message_tensor->data_type)};
    if (result.dtype == 0) {
        return fail(message, path, "data_type: not one that attention uses");
    }
    if (message_tensor->n_dims > ATTEST_MAX_RANK) {
        return fail(message, path, "dims: more than four axes");
    }
    result.rank = (uint32_t)message_tensor->n_dims;
    int64_t bytes = attn_dtype_bytes(result.dtype);
    for (uint32_t axis = 0; axis < result.rank; axis++) {
        result.shape[axis] = message_tensor->dims[axis];
        if (result.shape[axis] < 0 || __builtin_mul_overflow(bytes, result.shape[axis], &bytes)) {
            return fail(message, path, "dims: negative or overflowing");
        }
    }
    if (!message_tensor->has_raw_data || (int64_t)message_tensor->raw_data.len != bytes) {
        return fail(message, path, "raw_data: its length does not match dims and data_type");
    }
    int64_t step = 1;
    for (uint32_t axis = result.rank; axis-- > 0;) {
        result.stride[axis] = step;
        step *= result.shape[axis];
    }
    result.data = malloc(bytes ? (size_t)bytes : 1);
    if (!result.data) {
        return fail(message, path, "not enough memory");
    }
    if (bytes) {
        memcpy(result.data, message_tensor->raw_data.data, (size_t)bytes);
    }
    *tensor = result;
    return 0;
}

static int load_tensor(attest_tensor *tensor, const char *directory, const char *kind, unsigned k,
                       char *message) {
    char path[4096];
    size_t bytes;
    if (snprintf(path, sizeof path, "%s/test_data_set_0/%s_%u.pb", directory, kind, k) >=
        (int)sizeof path) {
        return fail(message, directory, "path too long");
    }
    unsigned char *content = attest_read_file(path, MAX_FILE_BYTES, &bytes, message);
    if (!content) {
        return -1;
    }
    Onnx__Tensor *unpacked = onnx__tensor__unpack(NULL, bytes, content);
    free(content);
    if (!unpacked) {
        return fail(message, path, "not a serialized tensor");
    }
    int status = fill_tensor(tensor, unpacked, path, message);
    onnx__tensor__free_unpacked(unpacked, NULL);
    return status;
}

/* File k of a kind holds the k-th slot that is not empty. */
static int load_slots(attest_tensor *slots, unsigned limit, char *const *names, size_t count,
                      const char *directory, const char *kind, char *message) {
    unsigned file = 0;
    if (count > limit) {
        return fail(message, directory, "the node has more operands than Attention");
    }
    for (size_t slot = 0; slot < count; slot++) {
        if (names[slot][0] != '\0' &&
            load_tensor(&slots[slot], directory, kind, file++, message) != 0) {
            return -1;
        }
    }
    return 0;
}

static void read_attributes(attest_onnx_case *loaded, const Onnx__Node *node) {
    for (size_t index = 0; index < node->n_attribute; index++) {
        const Onnx__Attribute *attribute = node->attribute[index];
        const char *name = attribute->name ? attribute->name : "";
        if (strcmp(name, "is_causal") == 0) {
            loaded->causal = attribute->i;
        } else if (strcmp(name, "q_num_heads") == 0) {
            loaded->q_heads = attribute->i;
        } else if (strcmp(name, "kv_num_heads") == 0) {
            loaded->kv_heads = attribute->i;
        } else if (strcmp(name, "qk_matmul_output_mode") == 0) {
            loaded->qk_mode = attribute->i;
        } else if (strcmp(name, "softcap") == 0) {
            loaded->softcap = (double)attribute->f;
        } else if (strcmp(name, "scale") == 0) {
            loaded->scale = (double)attribute->f;
            loaded->has_scale = 1;
        }
    }
}

static int read_model(attest_onnx_case *loaded, const Onnx__Model *model, const char *directory,
                      char *message) {
    if (!model->graph || model->graph->n_node != 1 || !model->graph->node[0]->op_type ||
        strcmp(model->graph->node[0]->op_type, "Attention") != 0) {
        return fail(message, directory, "model.onnx: not a single node Attention");
    }
    for (size_t index = 0; index < model->n_opset_import; index++) {
        const Onnx__OperatorSet *set = model->opset_import[index];
        if (!set->domain || set->domain[0] == '\0') {
            loaded->opset = set->version;
        }
    }
    const Onnx__Node *node = model->graph->node[0];
    read_attributes(loaded, node);
    if (load_slots(loaded->input, ATTEST_ONNX_INPUTS, node->input, node->n_input, directory,
                   "input", message) != 0) {
        return -1;
    }
    return load_slots(loaded->output, ATTEST_ONNX_OUTPUTS, node->output, node->n_output, directory,
                      "output", message);
}

int attest_onnx_load(attest_onnx_case *loaded, const char *directory,
                     char message[ATTEST_MESSAGE_BYTES]) {
    char path[4096];
    size_t bytes;
    *loaded = (attest_onnx_case){0};
    if (snprintf(path, sizeof path, "%s/model.onnx", directory) >= (int)sizeof path) {
        return fail(message, directory, "path too long");
    }
    unsigned char *content = attest_read_file(path, MAX_FILE_BYTES, &bytes, message);
    if (!content) {
        return -1;
    }
    Onnx__Model *model = onnx__model__unpack(NULL, bytes, content);
    free(content);
    if (!model) {
        return fail(message, path, "not a serialized model");
    }
    int status = read_model(loaded, model, directory, message);
    onnx__model__free_unpacked(model, NULL);
    if (status != 0) {
        attest_onnx_free(loaded);
    }
    return status;
}

void attest_onnx_free(attest_onnx_case *loaded) {
    for (unsigned slot = 0; slot < ATTEST_ONNX_INPUTS; slot++) {
        free(loaded->input[slot].data);
    }
    for (unsigned slot = 0; slot < ATTEST_ONNX_OUTPUTS; slot++) {
        free(loaded->output[slot].data);
    }
    *loaded = (attest_onnx_case){0};
}
