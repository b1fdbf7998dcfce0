/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "vectors/read/file.h"
#include "vectors/write/emit.h"

static json_t *defect_table(void) {
    json_t *table = json_object();
    for (int d = 0; d < ATTEST_DEFECTS; d++) {
        const attest_defect_entry *entry = &attest_defect_table[d];
        json_object_set_new(table, entry->name,
                            json_pack("{s:s, s:s}", "requirement", entry->requirement,
                                      "description", entry->description));
    }
    return table;
}

static int print_value(FILE *file, const char *before, const json_t *value, const char *after) {
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    int status = !text || fprintf(file, "%s%s%s", before, text, after) < 0;
    free(text);
    return status;
}

static int print_members(FILE *file, json_t *object, const char *indent) {
    const char *key;
    json_t *value;
    int status = 0, first = 1;
    json_object_foreach(object, key, value) {
        status |= fprintf(file, "%s\n%s\"%s\": ", first ? "" : ",", indent, key) < 0;
        status |= print_value(file, "", value, "");
        first = 0;
    }
    return status;
}

/* One line a vector, so that a change to one is a change to one line. */
static int print_group(FILE *file, json_t *group, int last) {
    json_t *vectors = json_incref(json_object_get(group, "vectors")), *vector;
    size_t index, count = json_array_size(vectors);
    json_object_del(group, "vectors");
    int status = fprintf(file, "  {") < 0 || print_members(file, group, "   ");
    status |= fprintf(file, ",\n   \"vectors\": [\n") < 0;
    json_array_foreach(vectors, index, vector) {
        status |= print_value(file, "    ", vector, index + 1 < count ? ",\n" : "\n");
    }
    json_decref(vectors);
    return status | (fprintf(file, "   ]}%s\n", last ? "" : ",") < 0);
}

/* In the format of `b2sum --length 256`. */
static int write_hash(const char *directory, char *message) {
    char path[4096], text[128];
    unsigned char hash[32];
    size_t bytes;
    snprintf(path, sizeof path, "%s/manifest.json", directory);
    unsigned char *content = attest_read_file(path, UINT64_C(1) << 32, &bytes, message);
    if (!content) {
        return -1;
    }
    crypto_generichash(hash, sizeof hash, content, bytes, NULL, 0);
    free(content);
    sodium_bin2hex(text, sizeof text, hash, sizeof hash);
    strcat(text, "  manifest.json\n");
    snprintf(path, sizeof path, "%s/manifest.b2", directory);
    return attest_write_file(path, text, strlen(text), message);
}

int attest_manifest_write(const char *directory, const char *generator, json_t *groups,
                          char message[ATTEST_MESSAGE_BYTES]) {
    char path[4096];
    size_t index, inner, vectors = 0, wrong = 0;
    json_t *group, *entry;
    json_t *tables =
        json_pack("{s:o, s:o}", "flags", attest_flag_table(), "defects", defect_table());
    snprintf(path, sizeof path, "%s/manifest.json", directory);
    FILE *file = fopen(path, "w");
    if (!file) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "%.100s: %.100s", path, strerror(errno));
        json_decref(tables);
        return -1;
    }
    json_array_foreach(groups, index, group) {
        json_array_foreach(json_object_get(group, "vectors"), inner, entry) {
            vectors++;
            wrong += json_array_size(json_object_get(entry, "wrong"));
        }
    }
    int status = fprintf(file,
                         "{\n \"format\": \"attest-vectors\",\n \"version\": \"1.0\",\n"
                         " \"spec\": \"1.0\",\n \"generator\": \"%s\",\n"
                         " \"vector_count\": %zu,\n \"wrong_count\": %zu,",
                         generator, vectors, wrong) < 0;
    const char *key;
    json_t *table;
    json_object_foreach(tables, key, table) {
        status |= fprintf(file, "\n \"%s\": {", key) < 0;
        status |= print_members(file, table, "  ");
        status |= fprintf(file, "\n },") < 0;
    }
    status |= fprintf(file, "\n \"groups\": [\n") < 0;
    json_array_foreach(groups, index, group) {
        status |= print_group(file, group, index + 1 == json_array_size(groups));
    }
    status |= fprintf(file, " ]\n}\n") < 0;
    status |= fclose(file) != 0;
    json_decref(tables);
    if (status) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "%.100s: could not be written", path);
    }
    return status ? -1 : write_hash(directory, message);
}
