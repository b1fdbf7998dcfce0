/* SPDX-License-Identifier: Apache-2.0 */
#include "vectors/read/manifest.h"

#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/problem/convert.h"
#include "reference/problem/normal.h"
#include "vectors/read/bounds.h"
#include "vectors/read/file.h"
#include "vectors/read/safetensors.h"

#define MANIFEST_LIMIT (UINT64_C(64) << 20)

typedef struct files {
    json_t *root;
    size_t count;
    attest_safetensors *sets; /* one a group */
} files;

typedef struct reader {
    attest_corpus *corpus;
    files *owned;
    const char *directory;
    char *message;
} reader;

__attribute__((format(printf, 2, 3))) static int fail(const reader *r, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->message, ATTEST_MESSAGE_BYTES, format, arguments);
    va_end(arguments);
    return -1;
}

/* Names that are joined with others or with a path: letters, digits, dot, dash. */
static const char *word(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    size_t length = text ? strlen(text) : 0;
    int plain =
        length > 0 && length < 64 && text[0] != '.' &&
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") == length;
    return plain ? text : NULL;
}

static int load_group(const reader *r, const json_t *group, attest_safetensors *set) {
    char path[4096], text[65] = "", why[ATTEST_MESSAGE_BYTES] = "";
    unsigned char hash[32];
    size_t bytes;
    const char *file = word(group, "file");
    const char *want = json_string_value(json_object_get(group, "blake2b"));
    if (!json_object_get(group, "file")) {
        return 0; /* a group of recipes */
    }
    if (!file || !want ||
        snprintf(path, sizeof path, "%s/data/%s", r->directory, file) >= (int)sizeof path) {
        return fail(r, "manifest: a group has no usable file and blake2b");
    }
    unsigned char *content = attest_read_file(path, ATTEST_FILE_LIMIT, &bytes, r->message);
    if (!content) {
        return -1;
    }
    crypto_generichash(hash, sizeof hash, content, bytes, NULL, 0);
    sodium_bin2hex(text, sizeof text, hash, sizeof hash);
    int status = strcmp(text, want) != 0
                     ? fail(r, "%.100s: not the file of the manifest: its hash differs", file)
                     : attest_safetensors_parse(set, content, bytes, why);
    free(content);
    return status != 0 && why[0] ? fail(r, "%.100s: %.150s", file, why) : status;
}

static const attest_tensor *find(const attest_safetensors *set, const char *vector,
                                 const char *name, const char *suffix) {
    char full[ATTEST_TENSOR_NAME_BYTES];
    int length = snprintf(full, sizeof full, "%s/%s%s", vector, name, suffix);
    return length < (int)sizeof full ? attest_safetensors_find(set, full) : NULL;
}

static int has_shape(const attest_tensor *t, const attest_tensor *like) {
    return t && t->rank == like->rank && memcmp(t->shape, like->shape, sizeof t->shape) == 0;
}

static attest_tensor shaped(attest_dtype dtype, uint32_t rank, const int64_t *shape) {
    attest_tensor tensor = {.dtype = dtype, .rank = rank};
    int64_t step = 1;
    for (uint32_t axis = rank; axis-- > 0;) {
        tensor.shape[axis] = shape[axis];
        tensor.stride[axis] = step;
        step *= shape[axis] ? shape[axis] : 1;
    }
    return tensor;
}

static int read_options(const reader *r, attest_vector *v, const json_t *options) {
    attest_problem *p = &v->problem;
    const json_t *window = json_object_get(options, "window"), *value;
    p->features = ATTEST_LSE;
    if (json_is_true(json_object_get(options, "causal"))) {
        p->features |= ATTEST_CAUSAL;
    }
    if (window) {
        const json_t *left = json_array_get(window, 0), *right = json_array_get(window, 1);
        if (json_array_size(window) != 2 || !json_is_integer(left) || !json_is_integer(right)) {
            return fail(r, "%s/%s: window is not a pair of integers", v->group, v->name);
        }
        p->features |= ATTEST_WINDOW;
        p->window_left = json_integer_value(left);
        p->window_right = json_integer_value(right);
    }
    if ((value = json_object_get(options, "window_size"))) {
        p->features |= ATTEST_WINDOW_SIZE;
        p->window_size = json_integer_value(value);
    }
    if ((value = json_object_get(options, "scale"))) {
        p->features |= ATTEST_SCALE;
        p->scale = json_number_value(value);
    }
    if ((value = json_object_get(options, "softcap"))) {
        p->features |= ATTEST_SOFTCAP;
        p->softcap = json_number_value(value);
    }
    return 0;
}

static void take(attest_tensor *slot, const attest_tensor *found, uint64_t *features,
                 uint64_t feature) {
    if (found) {
        *slot = *found;
        *features |= feature;
    }
}

static int take_inputs(const reader *r, attest_vector *v, const attest_safetensors *set) {
    attest_problem *p = &v->problem;
    const attest_tensor *q = find(set, v->name, "q", ""), *k = find(set, v->name, "k", ""),
                        *value = find(set, v->name, "v", "");
    const attest_tensor *mask = find(set, v->name, "mask", "");
    if (!q || !k || !value || q->rank != 4 || k->rank != 4 || value->rank != 4) {
        return fail(r, "%s/%s: q, k, v are not there, or not of rank 4", v->group, v->name);
    }
    p->q = *q;
    p->k = *k;
    p->v = *value;
    take(&p->mask, mask, &p->features,
         mask && mask->dtype == ATTEST_BOOL ? ATTEST_MASK_BOOL : ATTEST_MASK_ADD);
    take(&p->sinks, find(set, v->name, "sinks", ""), &p->features, ATTEST_SINKS);
    take(&p->slopes, find(set, v->name, "slopes", ""), &p->features, ATTEST_ALIBI);
    take(&p->key_lengths, find(set, v->name, "key_lengths", ""), &p->features, ATTEST_KEY_LENGTHS);
    take(&p->offsets, find(set, v->name, "offsets", ""), &p->features, ATTEST_OFFSETS);
    return 0;
}

static int model_index(const attest_vector *v, const char *name) {
    for (int m = 0; name && m < v->models; m++) {
        if (strcmp(v->model[m], name) == 0) {
            return m;
        }
    }
    return -1;
}

static int take_expected(const reader *r, attest_vector *v, const attest_safetensors *set,
                         const json_t *entry) {
    const attest_problem *p = &v->problem;
    const json_t *models = json_object_get(entry, "models");
    const json_t *wrong = json_object_get(entry, "wrong");
    v->o_high = find(set, v->name, "o.high", "");
    v->o_low = find(set, v->name, "o.low", "");
    v->lse_high = find(set, v->name, "lse.high", "");
    v->lse_low = find(set, v->name, "lse.low", "");
    const attest_tensor *parts[] = {v->o_high, v->o_low, v->lse_high, v->lse_low};
    for (int k = 0; k < 4; k++) {
        if (!has_shape(parts[k], k < 2 ? &p->o : &p->lse) || parts[k]->dtype != ATTEST_F64) {
            return fail(r, "%s/%s: o and lse are not there in two parts", v->group, v->name);
        }
    }
    v->models = (int)json_array_size(models);
    v->wrongs = (int)json_array_size(wrong);
    if (v->models > ATTEST_MAX_MODELS || v->wrongs > ATTEST_MAX_WRONG) {
        return fail(r, "%s/%s: too many models or wrong outputs", v->group, v->name);
    }
    for (int m = 0; m < v->models; m++) {
        const char *name = json_string_value(json_array_get(models, (size_t)m));
        v->model[m] = name;
        v->o_radius[m] = name ? find(set, v->name, "o.radius.", name) : NULL;
        v->lse_radius[m] = name ? find(set, v->name, "lse.radius.", name) : NULL;
        if (!has_shape(v->o_radius[m], &p->o) || !has_shape(v->lse_radius[m], &p->lse) ||
            v->o_radius[m]->dtype != p->lse.dtype || v->lse_radius[m]->dtype != p->lse.dtype) {
            return fail(r, "%s/%s: no radius for a model it names", v->group, v->name);
        }
    }
    v->judge = model_index(v, json_string_value(json_object_get(entry, "judged_by")));
    if (v->judge < 0) {
        return fail(r, "%s/%s: judged_by is none of its models", v->group, v->name);
    }
    for (int k = 0; k < v->wrongs; k++) {
        const char *name = json_string_value(json_array_get(wrong, (size_t)k));
        v->wrong_name[k] = name;
        v->wrong[k] = name ? find(set, v->name, "wrong.", name) : NULL;
        if (!has_shape(v->wrong[k], &p->o) || v->wrong[k]->dtype != p->o.dtype) {
            return fail(r, "%s/%s: a wrong output is not there", v->group, v->name);
        }
    }
    return 0;
}

static attest_dtype output_type(const json_t *entry) {
    const char *name = json_string_value(json_object_get(json_object_get(entry, "dtype"), "o"));
    for (attest_dtype dtype = ATTEST_F32; name && dtype <= ATTEST_BF16; dtype++) {
        if (strcmp(attest_safetensors_type(dtype), name) == 0) {
            return dtype;
        }
    }
    return 0;
}

static int read_vector(const reader *r, const json_t *group, const json_t *entry,
                       const attest_safetensors *set, attest_vector *v) {
    const char *result = json_string_value(json_object_get(entry, "result"));
    attest_problem *p = &v->problem;
    *v = (attest_vector){.group = word(group, "name"),
                         .name = word(entry, "name"),
                         .id = word(entry, "id"),
                         .profile = word(entry, "profile"),
                         .stored = set->count > 0,
                         .problem = {.struct_bytes = sizeof *p, .threads = 1}};
    if (!v->group || !v->name || !v->id || !v->profile || !result) {
        return fail(r, "manifest: a vector has no usable name, id, profile or result");
    }
    v->valid = strcmp(result, "valid") == 0;
    if (read_options(r, v, json_object_get(entry, "options")) != 0) {
        return -1;
    }
    if (!v->stored) {
        return 0;
    }
    attest_dtype o_type = output_type(entry);
    if (o_type == 0) {
        return fail(r, "%s/%s: dtype of o is not floating", v->group, v->name);
    }
    if (take_inputs(r, v, set) != 0) {
        return -1;
    }
    const int64_t shape[] = {p->q.shape[0], p->q.shape[1], p->q.shape[2], p->v.shape[3]};
    p->o = shaped(o_type, 4, shape);
    p->lse = shaped(p->q.dtype == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32, 3, shape);
    return v->valid ? take_expected(r, v, set, entry) : 0;
}

static int read_groups(const reader *r) {
    json_t *groups = json_object_get(r->owned->root, "groups"), *group, *entry;
    size_t index, inner, room = 0;
    json_array_foreach(groups, index, group) {
        room += json_array_size(json_object_get(group, "vectors"));
    }
    r->owned->sets = calloc(json_array_size(groups) + 1, sizeof *r->owned->sets);
    r->corpus->vectors = calloc(room + 1, sizeof *r->corpus->vectors);
    if (!r->owned->sets || !r->corpus->vectors) {
        return fail(r, "not enough memory");
    }
    json_array_foreach(groups, index, group) {
        attest_safetensors *set = &r->owned->sets[r->owned->count++];
        if (load_group(r, group, set) != 0) {
            return -1;
        }
        json_array_foreach(json_object_get(group, "vectors"), inner, entry) {
            if (read_vector(r, group, entry, set, &r->corpus->vectors[r->corpus->count]) != 0) {
                return -1;
            }
            r->corpus->count++;
        }
    }
    return r->corpus->count ? 0 : fail(r, "manifest: no vectors");
}

/* Against accidents, not against attackers: a bit flipped in a note is noticed, too. */
static int hash_matches(const reader *r, const unsigned char *text, size_t bytes) {
    char path[4096], hex[65], why[ATTEST_MESSAGE_BYTES];
    unsigned char hash[32];
    size_t length;
    snprintf(path, sizeof path, "%s/manifest.b2", r->directory);
    unsigned char *line = attest_read_file(path, 256, &length, why);
    crypto_generichash(hash, sizeof hash, text, bytes, NULL, 0);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    int same = line && length >= 64 && memcmp(line, hex, 64) == 0;
    free(line);
    return same;
}

static int read_manifest(const reader *r) {
    char path[4096];
    size_t bytes;
    json_error_t error;
    if (snprintf(path, sizeof path, "%s/manifest.json", r->directory) >= (int)sizeof path) {
        return fail(r, "path too long");
    }
    unsigned char *text = attest_read_file(path, MANIFEST_LIMIT, &bytes, r->message);
    if (!text) {
        return -1;
    }
    if (!hash_matches(r, text, bytes)) {
        free(text);
        return fail(r, "manifest.json: its hash is not the one in manifest.b2");
    }
    r->owned->root = json_loadb((const char *)text, bytes, JSON_REJECT_DUPLICATES, &error);
    free(text);
    if (!r->owned->root) {
        return fail(r, "manifest.json, line %d: %.120s", error.line, error.text);
    }
    const char *format = json_string_value(json_object_get(r->owned->root, "format"));
    const char *version = json_string_value(json_object_get(r->owned->root, "version"));
    if (!format || strcmp(format, "attest-vectors") != 0 || !version ||
        strncmp(version, "1.", 2) != 0) {
        return fail(r, "manifest.json: not of format attest-vectors, version 1");
    }
    return read_groups(r);
}

int attest_corpus_open(attest_corpus *corpus, const char *directory,
                       char message[ATTEST_MESSAGE_BYTES]) {
    *corpus = (attest_corpus){.owned = calloc(1, sizeof(files))};
    reader r = {corpus, corpus->owned, directory, message};
    int status =
        corpus->owned && sodium_init() >= 0 ? read_manifest(&r) : fail(&r, "not enough memory");
    if (status != 0) {
        attest_corpus_close(corpus);
    }
    return status;
}

void attest_corpus_close(attest_corpus *corpus) {
    files *owned = corpus->owned;
    for (size_t k = 0; owned && k < owned->count; k++) {
        attest_safetensors_free(&owned->sets[k]);
    }
    if (owned) {
        free(owned->sets);
        json_decref(owned->root);
    }
    free(owned);
    free(corpus->vectors);
    *corpus = (attest_corpus){0};
}
