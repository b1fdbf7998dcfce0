/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference reproduces Y of the ONNX Attention vectors, and past + new = present, bit for bit.
 * ATTEST_ONNX_DIR names the folder of test_attention_* cases (tests/run sets it where the Python
 * package onnx is installed); skipped where it is not set. The qk_matmul_output
 * of a case is not compared: it is no output of a kernel in our ABI.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#include "reference/kernel/forward.h"
#include "reference/problem/convert.h"
#include "reference/problem/normal.h"
#include "vectors/onnx/onnx.h"

/* Cases in the last frozen corpus, in the Python package onnx 1.22, 1.19 to 1.21, and 1.18. */
static const int corpus_sizes[] = {76, 64, 62, 47};

static const attn_profile onnx_profile = {
    .corner = ATTN_CORNER_BOTTOM_RIGHT_LENGTHS,
    .window_form = ATTN_WINDOW_NOT_DEFINED,
    .default_scale = ATTN_SCALE_RSQRT_D,
    .gqa_order = ATTN_GQA_GROUPED,
    .empty_row = ATTN_EMPTY_ZERO,
    .mask_with_causal = ATTN_MASK_AND_CAUSAL,
};

typedef struct tally {
    int cases, with_qk;
    double worst_single, worst_half;
} tally;

static int64_t count_of(const attest_tensor *tensor) {
    int64_t count = 1;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        count *= tensor->shape[axis];
    }
    return count;
}

static void compare_copies(const attest_tensor *want, const attest_tensor *got) {
    if (want->dtype == 0) {
        return;
    }
    int64_t bytes = count_of(want) * attn_dtype_bytes(want->dtype);
    assert_int_equal(count_of(got), count_of(want));
    assert_memory_equal(got->data, want->data, (size_t)bytes);
}

static void run_case(const char *path, tally *sum) {
    attest_onnx_case loaded;
    attest_onnx_problem built;
    char why[ATTEST_MESSAGE_BYTES] = "";
    if (attest_onnx_load(&loaded, path, why) != 0 ||
        attest_onnx_to_problem(&built, &loaded, why) != 0 ||
        attn_forward(&built.problem, &onnx_profile, why) != ATTEST_OK) {
        fail_msg("%s: %s", path, why);
    }
    const attest_tensor *want = &loaded.output[ATTEST_ONNX_Y], *got = &built.problem.o;
    int64_t size = attn_dtype_bytes(want->dtype);
    for (int64_t index = 0; index < count_of(want); index++) {
        double expected = attn_load(want->dtype, (char *)want->data + index * size);
        double actual = attn_load(got->dtype, (char *)got->data + index * size);
        double error = fabs(actual - expected);
        double *worst = want->dtype == ATTEST_F16 ? &sum->worst_half : &sum->worst_single;
        if (!(error <= 1e-7 + 1e-3 * fabs(expected))) { /* upstream's rule; false for NaN */
            fail_msg("%s: Y[%lld] is %a, expected %a", path, (long long)index, actual, expected);
        }
        *worst = fmax(*worst, error / fmax(fabs(expected), 1e-3));
    }
    compare_copies(&loaded.output[ATTEST_ONNX_PRESENT_K], &built.problem.k);
    compare_copies(&loaded.output[ATTEST_ONNX_PRESENT_V], &built.problem.v);
    sum->cases++;
    sum->with_qk += loaded.output[ATTEST_ONNX_QK].dtype != 0;
    attest_onnx_problem_free(&built);
    attest_onnx_free(&loaded);
}

static void test_reproduces_every_case(void **state) {
    (void)state;
    const char *root = getenv("ATTEST_ONNX_DIR");
    tally sum = {0};
    if (!root) {
        print_message("# ATTEST_ONNX_DIR is not set\n");
        skip();
    }
    DIR *folder = opendir(root);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        if (strncmp(entry->d_name, "test_attention_", 15) == 0) {
            assert_true(snprintf(path, sizeof path, "%s/%s", root, entry->d_name) <
                        (int)sizeof path);
            run_case(path, &sum);
        }
    }
    closedir(folder);
    print_message("# %d cases; largest error %.1e (f32), %.1e (f16), relative with a floor of 1e-3;"
                  " qk_matmul_output of %d cases not compared\n",
                  sum.cases, sum.worst_single, sum.worst_half, sum.with_qk);
    int known_size = 0;
    for (size_t index = 0; index < sizeof corpus_sizes / sizeof *corpus_sizes; index++) {
        known_size |= sum.cases == corpus_sizes[index];
    }
    assert_true(known_size);
    assert_true(sum.worst_single < 1e-6);
    assert_true(sum.worst_half < 1e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reproduces_every_case)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
