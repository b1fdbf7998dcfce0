/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_import.c - ONNX test folders into the form of spec/vectors.md. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reference/problem/convert.h"
#include "vectors/onnx/onnx.h"
#include "vectors/write/emit.h"

#define PREFIX "test_attention_"
#define MOST_CASES 4096

/* A problem without strides, in memory of its own. */
typedef struct dense {
    attest_problem problem;
    void *owned[8];
    size_t count;
    int failed;
} dense;

static void row_major(attest_tensor *tensor) {
    int64_t step = 1;
    for (uint32_t axis = tensor->rank; axis-- > 0;) {
        tensor->stride[axis] = step;
        step *= tensor->shape[axis] ? tensor->shape[axis] : 1;
    }
}

static int64_t elements(const attest_tensor *tensor) {
    int64_t count = 1;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        count *= tensor->shape[axis];
    }
    return count;
}

static attest_tensor dense_copy(dense *d, const attest_tensor *source) {
    attest_tensor copy = *source;
    if (source->dtype == 0) {
        return copy;
    }
    int64_t size = attn_dtype_bytes(source->dtype), count = elements(source);
    row_major(&copy);
    copy.data = d->owned[d->count++] = calloc((size_t)count + 1, (size_t)size);
    d->failed |= !copy.data;
    for (int64_t at = 0; !d->failed && source->data && at < count; at++) {
        int64_t index[ATTEST_MAX_RANK] = {0}, rest = at;
        for (uint32_t axis = source->rank; axis-- > 0;) {
            index[axis] = rest % source->shape[axis];
            rest /= source->shape[axis];
        }
        memcpy((char *)copy.data + at * size, attn_element(source, index), (size_t)size);
    }
    return copy;
}

static void make_dense(dense *d, const attest_problem *p) {
    *d = (dense){.problem = *p};
    d->problem.features |= ATTEST_LSE;
    d->problem.q = dense_copy(d, &p->q);
    d->problem.k = dense_copy(d, &p->k);
    d->problem.v = dense_copy(d, &p->v);
    d->problem.o = dense_copy(d, &p->o);
    d->problem.mask = dense_copy(d, &p->mask);
    d->problem.key_lengths = dense_copy(d, &p->key_lengths);
    d->problem.offsets = dense_copy(d, &p->offsets);
    attest_tensor lse = {.dtype = p->q.dtype == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32, .rank = 3};
    memcpy(lse.shape, p->o.shape, 3 * sizeof lse.shape[0]);
    d->problem.lse = dense_copy(d, &lse);
}

static void free_dense(dense *d) {
    for (size_t k = 0; k < d->count; k++) {
        free(d->owned[k]);
    }
}

/* Upstream's wrong output, under the names of its defects. */
static int add_upstream(attest_group *group, const char *name, const attest_onnx_case *loaded,
                        const attest_problem *strided, const char *names, json_t *entry) {
    char label[128];
    dense upstream = {.count = 0};
    attest_tensor stored = strided->o;
    json_t *wrong = json_array();
    snprintf(label, sizeof label, "%s", names);
    for (char *at = label; *at; at++) {
        *at = *at == ' ' ? '.' : *at; /* one word for one output */
    }
    stored.data = loaded->output[ATTEST_ONNX_Y].data;
    attest_tensor copy = dense_copy(&upstream, &stored);
    char tensor[160];
    snprintf(tensor, sizeof tensor, "wrong.%s", label);
    int status = upstream.failed ? -1 : attest_group_tensor(group, name, tensor, &copy);
    free_dense(&upstream);
    json_array_append_new(wrong, json_string(label));
    json_object_set_new(entry, "wrong", wrong);
    return status;
}

static int add_case(attest_group *group, const char *name, const attest_onnx_case *loaded,
                    char *message) {
    attest_onnx_problem built;
    attest_expectation expectation;
    attn_normal normal;
    dense flat = {.count = 0};
    char names[128];
    if (attest_onnx_diagnose(loaded, names, message) != 0 ||
        attest_onnx_to_problem(&built, loaded, message) != 0) {
        return -1;
    }
    make_dense(&flat, &built.problem);
    int status = -1;
    if (!flat.failed &&
        attn_normalise(&normal, &flat.problem, &attest_onnx_profile, 0, message) == ATTEST_OK &&
        attest_expect(&expectation, &normal, message) == ATTEST_OK) {
        const attest_label label = {
            "onnx", name, "onnx-24", "SEM-07", "", names[0] ? names : "agrees with upstream", ""};
        json_t *entry =
            attest_group_vector(group, &label, &normal, &flat.problem, &expectation, message);
        status = entry ? 0 : -1;
        if (entry && names[0]) {
            status = add_upstream(group, name, loaded, &built.problem, names, entry);
        }
        attest_expectation_free(&expectation);
    }
    free_dense(&flat);
    attest_onnx_problem_free(&built);
    if (status == 0) {
        printf("%-60s %s\n", name, names[0] ? names : "right");
    }
    return status;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of the cases in a directory, ascending; how many, or -1. */
static int list_cases(const char *directory, char **names) {
    DIR *folder = opendir(directory);
    int count = 0;
    if (!folder) {
        return -1;
    }
    for (struct dirent *entry; count < MOST_CASES && (entry = readdir(folder));) {
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 &&
            !strstr(entry->d_name, "_expanded") && strlen(entry->d_name) < 100) {
            names[count] = strdup(entry->d_name);
            count += names[count] != NULL;
        }
    }
    closedir(folder);
    qsort(names, (size_t)count, sizeof *names, by_text);
    return count;
}

/* Names in the manifest have 63 characters and no underscore. */
static void short_name(const char *folder, char name[64]) {
    snprintf(name, 64, "%s", folder + strlen(PREFIX));
    for (char *at = name; *at; at++) {
        *at = *at == '_' ? '-' : *at;
    }
}

static int import_cases(attest_group *group, const char *directory, char *const *names, int count,
                        char *message) {
    int status = 0;
    for (int k = 0; status == 0 && k < count; k++) {
        char path[4096], name[64], why[ATTEST_MESSAGE_BYTES] = "";
        attest_onnx_case loaded;
        short_name(names[k], name);
        snprintf(path, sizeof path, "%s/%s", directory, names[k]);
        status = attest_onnx_load(&loaded, path, why);
        if (status == 0) {
            status = add_case(group, name, &loaded, why);
            attest_onnx_free(&loaded);
        }
        if (status != 0) {
            snprintf(message, ATTEST_MESSAGE_BYTES, "%.100s: %.150s", names[k], why);
        }
    }
    return status;
}

int attest_onnx_import(const char *directory, const char *out, char message[ATTEST_MESSAGE_BYTES]) {
    char data[4096];
    attest_group group;
    char **names = calloc(MOST_CASES, sizeof *names);
    int count = names ? list_cases(directory, names) : -1;
    int status = -1;
    snprintf(data, sizeof data, "%s/data", out);
    if (count <= 0) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "%.150s: no folder " PREFIX "* in it", directory);
    } else if ((mkdir(out, 0777) != 0 && errno != EEXIST) ||
               (mkdir(data, 0777) != 0 && errno != EEXIST)) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "%.150s: %.90s", data, strerror(errno));
    } else if (attest_group_open(&group, "onnx") == 0) {
        json_t *groups = json_array(), *entry = json_object();
        json_array_append_new(groups, entry);
        if (import_cases(&group, directory, names, count, message) == 0 &&
            attest_group_write(&group, data, entry, message) == 0) {
            status = attest_manifest_write(out, "ONNX node tests", groups, message);
        }
        json_decref(groups);
        attest_group_close(&group);
    }
    for (int k = 0; k < count; k++) {
        free(names[k]);
    }
    free(names);
    return status;
}
