/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test folder of the ONNX operator. The input is its files one after the other, each behind two
 * bytes of length: model.onnx, seven inputs, four outputs. What loads becomes a problem, and if the
 * reference accepts that, it is computed.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz/core/fuzz_target.h"
#include "fuzz/core/profiles.h"
#include "reference/kernel/forward.h"
#include "reference/problem/normal.h"
#include "vectors/onnx/onnx.h"

enum { FILES = 1 + ATTEST_ONNX_INPUTS + ATTEST_ONNX_OUTPUTS };

static void write_files(const uint8_t *data, size_t size) {
    for (unsigned k = 0; k < FILES; k++) {
        char name[48] = "model.onnx";
        size_t length = size >= 2 ? data[0] | (size_t)data[1] << 8 : 0;
        int there = size >= 2;
        if (k > 0) {
            int input = k <= ATTEST_ONNX_INPUTS;
            snprintf(name, sizeof name, "test_data_set_0/%s_%u.pb", input ? "input" : "output",
                     input ? k - 1 : k - 1 - ATTEST_ONNX_INPUTS);
        }
        data += there ? 2 : 0;
        size -= there ? 2 : 0;
        length = length < size ? length : size;
        if (there || k == 0) {
            attest_fuzz_file(name, data, length);
        } else {
            attest_fuzz_remove(name);
        }
        data += length;
        size -= length;
    }
}

static int is_small(const attest_problem *p) {
    int64_t work = 1;
    const int64_t axes[] = {p->q.shape[0], p->q.shape[1], p->q.shape[2],
                            p->q.shape[3], p->k.shape[2], p->v.shape[3]};
    for (size_t n = 0; n < sizeof axes / sizeof *axes; n++) {
        if (axes[n] > 100000 || (work *= axes[n] > 0 ? axes[n] : 1) > 100000) {
            return 0;
        }
    }
    return 1;
}

void attest_fuzz_input(const uint8_t *data, size_t size) {
    char message[ATTEST_MESSAGE_BYTES] = "";
    attest_onnx_case loaded;
    attest_onnx_problem built;
    attn_normal normal;
    const attn_profile *profile = attest_fuzz_profile("onnx-24");
    write_files(data, size);
    if (attest_onnx_load(&loaded, attest_fuzz_directory(), message) != 0) {
        if (message[0] == '\0') {
            attest_fuzz_stop("onnx: refused without a reason");
        }
        return;
    }
    if (attest_onnx_to_problem(&built, &loaded, message) == 0) {
        if (attn_normalise(&normal, &built.problem, profile, 0, message) == ATTEST_OK &&
            is_small(&built.problem)) {
            attn_forward(&built.problem, profile, message);
        }
        attest_onnx_problem_free(&built);
    }
    attest_onnx_free(&loaded);
}
