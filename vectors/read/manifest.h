/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.h - reads a corpus: DIRECTORY/manifest.json, its hash, and the files it names
 * (spec/vectors.md). Nothing in them is trusted: a file whose hash is not the manifest's is
 * refused, and so is a vector whose tensors are not of the types and shapes that its entry gives.
 */
#ifndef ATTEST_MANIFEST_H
#define ATTEST_MANIFEST_H

#include <stddef.h>

#include "spec/attest.h"

#define ATTEST_MAX_MODELS 16
#define ATTEST_MAX_WRONG 16

typedef struct attest_vector {
    const char *group, *name, *id, *profile;
    int valid;              /* 0: the problem must be refused */
    int stored;             /* 0: only recipe and hashes; no tensor below is there */
    attest_problem problem; /* inputs with data; o and lse with shapes alone, LSE asked for */
    const attest_tensor *o_high, *o_low, *lse_high, *lse_low;
    int models;
    const char *model[ATTEST_MAX_MODELS];
    const attest_tensor *o_radius[ATTEST_MAX_MODELS], *lse_radius[ATTEST_MAX_MODELS];
    int judge; /* the model by which its wrong outputs are rejected */
    int wrongs;
    const char *wrong_name[ATTEST_MAX_WRONG];
    const attest_tensor *wrong[ATTEST_MAX_WRONG];
} attest_vector;

typedef struct attest_corpus {
    size_t count;
    attest_vector *vectors;
    void *owned; /* the files behind them */
} attest_corpus;

/* 0, or -1 with a message; the corpus is then empty. */
int attest_corpus_open(attest_corpus *corpus, const char *directory,
                       char message[ATTEST_MESSAGE_BYTES]);
void attest_corpus_close(attest_corpus *corpus);

/*
 * 0 if every element of a dense result is right; 1 with a message that names the first that is not;
 * -1 if the vector has no radius for the model. lse may be NULL.
 */
int attest_vector_judge(const attest_vector *vector, const char *model, const attest_tensor *o,
                        const attest_tensor *lse, char message[ATTEST_MESSAGE_BYTES]);

#endif
