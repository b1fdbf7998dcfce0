/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - writes vectors in the form of spec/vectors.md: tensors of a group in one safetensors
 * file, an entry for each vector in the manifest.
 */
#ifndef ATTEST_EMIT_H
#define ATTEST_EMIT_H

#include <jansson.h>

#include "reference/defects/defects.h"
#include "vectors/read/safetensors.h"
#include "vectors/write/expected.h"

#define ATTEST_ID_CHARACTERS 33 /* 32 hexadecimal digits and the end */
#define ATTEST_HASH_CHARACTERS 65

/* What a vector is, beside its problem. */
typedef struct attest_label {
    const char *group, *name, *profile, *requirements, *flags, *note;
    const char *wrong; /* defects whose output is stored */
} attest_label;

typedef struct attest_group {
    char name[24];
    attest_named_tensor *tensors;
    size_t count, room;
    json_t *vectors; /* array of entries */
} attest_group;

int attest_group_open(attest_group *group, const char *name);
void attest_group_close(attest_group *group);

/* Adds a copy of a dense tensor as VECTOR/NAME. 0, or -1 if memory is short. */
int attest_group_tensor(attest_group *group, const char *vector, const char *name,
                        const attest_tensor *tensor);

/*
 * Adds a problem, what is expected of it (NULL: it is invalid), which defects that notices, and the
 * wrong outputs its label asks for. Returns the entry, owned by the group, or NULL with a message;
 * a wrong output that would be accepted is an error.
 */
json_t *attest_group_vector(attest_group *group, const attest_label *label,
                            const attn_normal *normal, const attest_problem *problem,
                            const attest_expectation *expectation,
                            char message[ATTEST_MESSAGE_BYTES]);

/* The same without tensors: hashes of the inputs and of the exact result instead. */
json_t *attest_group_hashed(attest_group *group, const attest_label *label,
                            const attn_normal *normal, const attest_problem *problem,
                            const attest_expectation *expectation,
                            char message[ATTEST_MESSAGE_BYTES]);

/* Writes DIRECTORY/NAME.safetensors unless there is no tensor; its size and hash go to `entry`. */
int attest_group_write(attest_group *group, const char *directory, json_t *entry,
                       char message[ATTEST_MESSAGE_BYTES]);

/* Writes DIRECTORY/manifest.json (tables of flags and defects, then the groups) and its hash. */
int attest_manifest_write(const char *directory, const char *generator, json_t *groups,
                          char message[ATTEST_MESSAGE_BYTES]);

/* Which defects an expectation notices: on[d] is 1 by the output, 2 by the LSE alone, 0 not. */
int attest_rejections(const attn_normal *normal, const attest_expectation *expectation,
                      unsigned char on[ATTEST_DEFECTS]);

/* Every flag with its reason, and those that follow from a problem and what is expected. */
json_t *attest_flag_table(void);
void attest_derive_flags(const attn_normal *normal, const attest_expectation *expectation,
                         json_t *list);

/* Words of a list that are one space apart, as an array of strings. */
json_t *attest_words(const char *text);

#endif
