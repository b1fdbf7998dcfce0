/* SPDX-License-Identifier: Apache-2.0 */
#include "vectors/write/emit.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/problem/convert.h"
#include "reference/problem/operand.h"
#include "vectors/read/bounds.h"
#include "vectors/read/file.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "vector files are little-endian, and so must be the machine that reads or writes them"
#endif

static uint64_t bytes_of(const attest_tensor *tensor) {
    uint64_t bytes = 0;
    attest_shape_bytes((uint64_t)attn_dtype_bytes(tensor->dtype), tensor->shape, tensor->rank,
                       &bytes);
    return bytes;
}

json_t *attest_words(const char *text) {
    json_t *list = json_array();
    while (*text) {
        size_t length = strcspn(text, " ");
        json_array_append_new(list, json_stringn(text, length));
        text += length + (text[length] == ' ');
    }
    return list;
}

int attest_group_open(attest_group *group, const char *name) {
    *group = (attest_group){.vectors = json_array()};
    snprintf(group->name, sizeof group->name, "%s", name);
    return group->vectors && sodium_init() >= 0 ? 0 : -1;
}

void attest_group_close(attest_group *group) {
    for (size_t k = 0; k < group->count; k++) {
        free(group->tensors[k].tensor.data);
    }
    free(group->tensors);
    json_decref(group->vectors);
    *group = (attest_group){0};
}

int attest_group_tensor(attest_group *group, const char *vector, const char *name,
                        const attest_tensor *tensor) {
    if (group->count == group->room) {
        size_t room = group->room ? 2 * group->room : 64;
        attest_named_tensor *grown = realloc(group->tensors, room * sizeof *grown);
        if (!grown) {
            return -1;
        }
        group->tensors = grown;
        group->room = room;
    }
    attest_named_tensor *added = &group->tensors[group->count];
    uint64_t bytes = bytes_of(tensor);
    added->tensor = *tensor;
    added->tensor.data = malloc(bytes ? (size_t)bytes : 1);
    if (!added->tensor.data || snprintf(added->name, sizeof added->name, "%s/%s", vector, name) >=
                                   (int)sizeof added->name) {
        free(added->tensor.data);
        return -1;
    }
    if (bytes) {
        memcpy(added->tensor.data, tensor->data, (size_t)bytes);
    }
    group->count++;
    return 0;
}

/* A dense tensor of numbers, stored as `dtype`, with the shape of `like`. */
static int add_numbers(attest_group *group, const char *vector, const char *name,
                       const attest_tensor *like, attest_dtype dtype, const double *numbers,
                       size_t count) {
    size_t size = (size_t)attn_dtype_bytes(dtype);
    attest_tensor tensor = *like;
    tensor.dtype = dtype;
    tensor.data = calloc(count + 1, size);
    if (!tensor.data) {
        return -1;
    }
    for (size_t k = 0; k < count; k++) {
        /* One NaN for all: which one an operation gives differs between machines. */
        double number = isnan(numbers[k]) ? (double)NAN : numbers[k];
        attn_store(dtype, (char *)tensor.data + k * size, number);
    }
    int status = attest_group_tensor(group, vector, name, &tensor);
    free(tensor.data);
    return status;
}

static int add_parts(attest_group *group, const char *vector, const char *name,
                     const attest_tensor *like, const attest_expected *expected, size_t count) {
    char text[64];
    int status = -1;
    double *part = calloc(count + 1, sizeof *part);
    if (part) {
        for (size_t k = 0; k < count; k++) {
            part[k] = expected[k].high;
        }
        snprintf(text, sizeof text, "%s.high", name);
        status = add_numbers(group, vector, text, like, ATTEST_F64, part, count);
        for (size_t k = 0; k < count; k++) {
            part[k] = expected[k].low;
        }
        snprintf(text, sizeof text, "%s.low", name);
        status |= add_numbers(group, vector, text, like, ATTEST_F64, part, count);
    }
    free(part);
    return status;
}

static int add_expected(attest_group *group, const char *vector, const attest_problem *p,
                        const attest_expectation *e) {
    attest_dtype wide = p->lse.dtype;
    int status = add_parts(group, vector, "o", &p->o, e->o, e->o_count) |
                 add_parts(group, vector, "lse", &p->lse, e->lse, e->lse_count);
    for (int m = 0; m < e->models; m++) {
        char text[64];
        snprintf(text, sizeof text, "o.radius.%s", e->model[m]);
        status |= add_numbers(group, vector, text, &p->o, wide, e->o_radius[m], e->o_count);
        snprintf(text, sizeof text, "lse.radius.%s", e->model[m]);
        status |= add_numbers(group, vector, text, &p->lse, wide, e->lse_radius[m], e->lse_count);
    }
    return status;
}

static json_t *options_of(const attest_problem *p) {
    json_t *options = json_object();
    if (p->features & ATTEST_CAUSAL) {
        json_object_set_new(options, "causal", json_true());
    }
    if (p->features & ATTEST_WINDOW) {
        json_object_set_new(
            options, "window",
            json_pack("[I,I]", (json_int_t)p->window_left, (json_int_t)p->window_right));
    }
    if (p->features & ATTEST_WINDOW_SIZE) {
        json_object_set_new(options, "window_size", json_integer(p->window_size));
    }
    if (p->features & ATTEST_SCALE) {
        json_object_set_new(options, "scale", json_real(p->scale));
    }
    if (p->features & ATTEST_SOFTCAP) {
        json_object_set_new(options, "softcap", json_real(p->softcap));
    }
    return options;
}

static json_t *facts_of(const attest_problem *p, const char *profile) {
    return json_pack("{s:s, s:{s:s, s:s, s:s}, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I}, s:o}",
                     "profile", profile, "dtype", "q", attest_safetensors_type(p->q.dtype), "kv",
                     attest_safetensors_type(p->k.dtype), "o", attest_safetensors_type(p->o.dtype),
                     "shape", "B", (json_int_t)p->q.shape[0], "Hq", (json_int_t)p->q.shape[1],
                     "Hkv", (json_int_t)p->k.shape[1], "Sq", (json_int_t)p->q.shape[2], "Sk",
                     (json_int_t)p->k.shape[2], "D", (json_int_t)p->q.shape[3], "Dv",
                     (json_int_t)p->v.shape[3], "options", options_of(p));
}

static void hash_inputs(crypto_generichash_state *state, const attest_problem *p) {
    for (int k = 0; k < ATTN_INPUTS; k++) {
        const attest_tensor *tensor = attn_operand(p, k);
        if (tensor->dtype != 0) {
            crypto_generichash_update(state, tensor->data, bytes_of(tensor));
        }
    }
}

static void finish(crypto_generichash_state *state, size_t bytes, char *text) {
    unsigned char hash[32];
    crypto_generichash_final(state, hash, bytes);
    sodium_bin2hex(text, 2 * bytes + 1, hash, bytes);
}

/* Of everything that a kernel is given: facts as compact JSON with sorted keys, then the inputs. */
static int identify(const attest_problem *p, const json_t *facts, char id[ATTEST_ID_CHARACTERS]) {
    crypto_generichash_state state;
    char *text = json_dumps(facts, JSON_COMPACT | JSON_SORT_KEYS);
    if (!text) {
        return -1;
    }
    crypto_generichash_init(&state, NULL, 0, 16);
    crypto_generichash_update(&state, (unsigned char *)text, strlen(text));
    hash_inputs(&state, p);
    finish(&state, 16, id);
    free(text);
    return 0;
}

static json_t *rejects_of(const unsigned char *on) {
    json_t *defects = json_array(), *cheats = json_array(), *by_lse = json_array();
    for (int d = 0; d < ATTEST_DEFECTS; d++) {
        json_t *list = d >= (int)ATTEST_FIRST_CHEAT ? cheats : on[d] == 2 ? by_lse : defects;
        if (on[d]) {
            json_array_append_new(list, json_string(attest_defect_table[d].name));
        }
    }
    return json_pack("{s:o, s:o, s:o, s:[]}", "cheats", cheats, "defects", defects,
                     "defects_by_lse", by_lse, "mutants");
}

static int add_wrong(attest_group *group, const attest_label *label, const attn_normal *n,
                     const attest_expectation *e, const unsigned char *on, json_t *entry,
                     char *message) {
    json_t *names = attest_words(label->wrong);
    double *o = calloc(e->o_count + 1, sizeof *o), *lse = calloc(e->lse_count + 1, sizeof *lse);
    int status = o && lse ? 0 : -1;
    for (size_t k = 0; status == 0 && k < json_array_size(names); k++) {
        char tensor[64];
        const char *name = json_string_value(json_array_get(names, k));
        attest_defect defect = attest_defect_find(name);
        if (defect == ATTEST_DEFECTS || on[defect] != 1) {
            snprintf(message, ATTEST_MESSAGE_BYTES, "%s/%s: the wrong output \"%s\" %s",
                     label->group, label->name, name,
                     defect == ATTEST_DEFECTS ? "has no such defect" : "would be accepted");
            status = -1;
        } else {
            snprintf(tensor, sizeof tensor, "wrong.%s", name);
            status = attest_defective(n, &defect, 1, o, lse) |
                     add_numbers(group, label->name, tensor, &n->problem->o, n->problem->o.dtype, o,
                                 e->o_count);
        }
    }
    free(o);
    free(lse);
    json_object_set_new(entry, "wrong", names);
    return status;
}

static json_t *start_entry(attest_group *group, const attest_label *label, const attest_problem *p,
                           char *message) {
    char id[ATTEST_ID_CHARACTERS];
    json_t *facts = facts_of(p, label->profile), *entry = json_object();
    snprintf(message, ATTEST_MESSAGE_BYTES, "%s/%s: not enough memory", label->group, label->name);
    if (!facts || identify(p, facts, id) != 0) {
        json_decref(facts);
        json_decref(entry);
        return NULL;
    }
    json_object_set_new(entry, "id", json_string(id));
    json_object_set_new(entry, "name", json_string(label->name));
    json_object_set_new(entry, "requirements", attest_words(label->requirements));
    json_object_set_new(entry, "flags", attest_words(label->flags));
    json_object_update(entry, facts);
    json_decref(facts);
    json_array_append_new(group->vectors, entry);
    return entry;
}

static json_t *add_rejections(attest_group *group, const attest_label *label, const attn_normal *n,
                              const attest_expectation *e, json_t *entry, int store,
                              char *message) {
    unsigned char on[ATTEST_DEFECTS] = {0};
    json_t *models = json_array();
    for (int m = 0; m < e->models; m++) {
        json_array_append_new(models, json_string(e->model[m]));
    }
    json_object_set_new(entry, "models", models);
    attest_derive_flags(n, e, json_object_get(entry, "flags"));
    json_object_set_new(entry, "judged_by", json_string(e->model[e->judge]));
    if (attest_rejections(n, e, on) != 0) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "%s/%s: a right result is not accepted",
                 label->group, label->name);
        return NULL;
    }
    json_object_set_new(entry, "rejects", rejects_of(on));
    if (store && add_wrong(group, label, n, e, on, entry, message) != 0) {
        return NULL;
    }
    json_object_set_new(entry, "note", json_string(label->note));
    return entry;
}

json_t *attest_group_vector(attest_group *group, const attest_label *label, const attn_normal *n,
                            const attest_problem *p, const attest_expectation *e,
                            char message[ATTEST_MESSAGE_BYTES]) {
    json_t *entry = start_entry(group, label, p, message);
    int status = entry ? 0 : -1;
    for (int k = 0; status == 0 && k < ATTN_INPUTS; k++) {
        if (attn_operand(p, k)->dtype != 0) {
            status =
                attest_group_tensor(group, label->name, attn_operand_name(k), attn_operand(p, k));
        }
    }
    if (status != 0) {
        return NULL;
    }
    if (!e) {
        json_object_set_new(entry, "result", json_string("invalid"));
        json_object_set_new(entry, "note", json_string(label->note));
        return entry;
    }
    json_object_set_new(entry, "result", json_string("valid"));
    if (add_expected(group, label->name, p, e) != 0) {
        return NULL;
    }
    return add_rejections(group, label, n, e, entry, 1, message);
}

json_t *attest_group_hashed(attest_group *group, const attest_label *label, const attn_normal *n,
                            const attest_problem *p, const attest_expectation *e,
                            char message[ATTEST_MESSAGE_BYTES]) {
    char text[ATTEST_HASH_CHARACTERS];
    crypto_generichash_state state;
    json_t *entry = start_entry(group, label, p, message);
    if (!entry) {
        return NULL;
    }
    json_object_set_new(entry, "result", json_string("valid"));
    crypto_generichash_init(&state, NULL, 0, 32);
    hash_inputs(&state, p);
    finish(&state, 32, text);
    json_object_set_new(entry, "inputs_blake2b", json_string(text));
    crypto_generichash_init(&state, NULL, 0, 32);
    for (size_t k = 0; k < e->o_count + e->lse_count; k++) {
        const attest_expected *x = k < e->o_count ? &e->o[k] : &e->lse[k - e->o_count];
        crypto_generichash_update(&state, (const unsigned char *)&x->high, sizeof x->high);
        crypto_generichash_update(&state, (const unsigned char *)&x->low, sizeof x->low);
    }
    finish(&state, 32, text);
    json_object_set_new(entry, "expected_blake2b", json_string(text));
    return add_rejections(group, label, n, e, entry, 0, message);
}

/* Wider elements first, so that all are aligned; otherwise in the order they came. */
static void sort_by_width(attest_named_tensor *tensors, size_t count, attest_named_tensor *sorted) {
    size_t used = 0;
    for (int64_t width = 8; width > 0; width /= 2) {
        for (size_t k = 0; k < count; k++) {
            if (attn_dtype_bytes(tensors[k].tensor.dtype) == width) {
                sorted[used++] = tensors[k];
            }
        }
    }
}

int attest_group_write(attest_group *group, const char *directory, json_t *entry,
                       char message[ATTEST_MESSAGE_BYTES]) {
    char path[4096], name[64];
    unsigned char hash[32];
    char text[ATTEST_HASH_CHARACTERS];
    size_t bytes = 0;
    json_object_set_new(entry, "name", json_string(group->name));
    if (group->count > 0) {
        attest_named_tensor *sorted = calloc(group->count, sizeof *sorted);
        unsigned char *file = NULL;
        if (sorted) {
            sort_by_width(group->tensors, group->count, sorted);
            file = attest_safetensors_write(sorted, group->count, &bytes);
        }
        free(sorted);
        snprintf(name, sizeof name, "%s.safetensors", group->name);
        snprintf(message, ATTEST_MESSAGE_BYTES, "%s: not enough memory", group->name);
        if (!file || snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path ||
            attest_write_file(path, file, bytes, message) != 0) {
            free(file);
            return -1;
        }
        crypto_generichash(hash, sizeof hash, file, bytes, NULL, 0);
        sodium_bin2hex(text, sizeof text, hash, sizeof hash);
        free(file);
        json_object_set_new(entry, "file", json_string(name));
        json_object_set_new(entry, "bytes", json_integer((json_int_t)bytes));
        json_object_set_new(entry, "blake2b", json_string(text));
    }
    return json_object_set(entry, "vectors", group->vectors);
}
