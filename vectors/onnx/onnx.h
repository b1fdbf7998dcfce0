/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnx.h - reads the test folders of the ONNX operator Attention (model.onnx, test_data_set_0) and
 * turns them into problems. Files are not trusted: every length is checked before it is used.
 */
#ifndef ATTEST_ONNX_H
#define ATTEST_ONNX_H

#include "reference/problem/profile.h"
#include "spec/attest.h"

enum { /* slots of the operator */
       ATTEST_ONNX_Q,
       ATTEST_ONNX_K,
       ATTEST_ONNX_V,
       ATTEST_ONNX_MASK,
       ATTEST_ONNX_PAST_K,
       ATTEST_ONNX_PAST_V,
       ATTEST_ONNX_LENGTHS,
       ATTEST_ONNX_INPUTS
};
enum {
    ATTEST_ONNX_Y,
    ATTEST_ONNX_PRESENT_K,
    ATTEST_ONNX_PRESENT_V,
    ATTEST_ONNX_QK,
    ATTEST_ONNX_OUTPUTS
};

typedef struct attest_onnx_case {
    int64_t opset;
    int64_t causal, q_heads, kv_heads, qk_mode;
    double scale, softcap;
    int has_scale;
    attest_tensor input[ATTEST_ONNX_INPUTS]; /* row-major; dtype 0 where the slot is empty */
    attest_tensor output[ATTEST_ONNX_OUTPUTS];
} attest_onnx_case;

/* 0, or -1 with a message; the case is then empty. attest_onnx_free takes either. */
int attest_onnx_load(attest_onnx_case *loaded, const char *directory,
                     char message[ATTEST_MESSAGE_BYTES]);
void attest_onnx_free(attest_onnx_case *loaded);

/*
 * The case as a problem for the profile onnx-24: past and new keys joined, a short mask padded with
 * what hides, the cache length as offset. The problem points into `loaded` and into memory that
 * attest_onnx_problem_free releases; o is allocated and undefined.
 */
typedef struct attest_onnx_problem {
    attest_problem problem;
    void *owned[5];
} attest_onnx_problem;

int attest_onnx_to_problem(attest_onnx_problem *built, const attest_onnx_case *loaded,
                           char message[ATTEST_MESSAGE_BYTES]);

/* The same as upstream read it until 2025-07: rank 3 taken for [B,H,S,D] as it lies in memory. */
int attest_onnx_to_problem_unsplit(attest_onnx_problem *built, const attest_onnx_case *loaded,
                                   char message[ATTEST_MESSAGE_BYTES]);

void attest_onnx_problem_free(attest_onnx_problem *built);

/* spec/profiles/onnx-24.json, compiled in. */
extern const attn_profile attest_onnx_profile;

/*
 * Why a case's outputs are not what they should be: names of defects (reference/defects/defects.h,
 * and "heads-not-split" and "qk-modes-exchanged", which are ONNX's alone), one space apart. Empty
 * if the outputs are right. 0, or -1 with a message if no defect explains them.
 */
int attest_onnx_diagnose(const attest_onnx_case *loaded, char names[128],
                         char message[ATTEST_MESSAGE_BYTES]);

/*
 * Reads every test_attention_* folder of a directory and writes OUT/manifest.json and OUT/data in
 * the form of spec/vectors.md; an output of upstream's that is wrong becomes a labelled one.
 * A line a case goes to standard output. 0, or -1 with a message.
 */
int attest_onnx_import(const char *directory, const char *out, char message[ATTEST_MESSAGE_BYTES]);

#endif
