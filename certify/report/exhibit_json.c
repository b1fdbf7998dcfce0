/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/report/exhibit_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a ratio, where JSON has no number: no verdict, a wrong kind of value. */
#define NO_VERDICT (-1)
#define WRONG_KIND (-2)

static json_t *map_json(const attest_map *m) {
    json_t *rows = json_array(), *ratios = json_array();
    for (int i = 0; i < m->rows; i++) {
        json_array_append_new(rows, json_stringn(m->mask + i * m->keys, (size_t)m->keys));
        json_t *row = json_array();
        for (int c = 0; c < m->columns; c++) {
            const float ratio = m->ratio[i * m->columns + c];
            json_array_append_new(row, isinf(ratio) ? json_integer(WRONG_KIND)
                                       : ratio < 0  ? json_integer(NO_VERDICT)
                                                    : json_real((double)ratio));
        }
        json_array_append_new(ratios, row);
    }
    return json_pack("{s:I,s:I,s:i,s:i,s:o,s:o}", "batch", (json_int_t)m->entry, "head",
                     (json_int_t)m->head, "keys", m->keys, "columns", m->columns, "mask", rows,
                     "ratio", ratios);
}

json_t *attest_exhibit_json(const attest_exhibit *e) {
    json_t *maps = json_array(), *o = json_object();
    for (int i = 0; i < e->map_count; i++) {
        json_array_append_new(maps, map_json(&e->maps[i]));
    }
    json_object_set_new(o, "mask_known", json_boolean(e->mask_known));
    json_object_set_new(o, "maps", maps);
    if (e->c_program != NULL) {
        json_object_set_new(o, "c", json_string(e->c_program));
    }
    if (e->numpy_program != NULL) {
        json_object_set_new(o, "numpy", json_string(e->numpy_program));
    }
    return o;
}

static int side(const json_t *number) {
    const json_int_t value = json_integer_value(number);
    return value < 0 ? 0 : value > ATTEST_MAP_SIDE ? ATTEST_MAP_SIDE : (int)value;
}

static int load_map(const json_t *o, attest_map *m) {
    const json_t *mask = json_object_get(o, "mask"), *ratio = json_object_get(o, "ratio");
    *m = (attest_map){.entry = (int64_t)json_integer_value(json_object_get(o, "batch")),
                      .head = (int64_t)json_integer_value(json_object_get(o, "head")),
                      .keys = side(json_object_get(o, "keys")),
                      .columns = side(json_object_get(o, "columns"))};
    const size_t rows = json_array_size(mask);
    m->rows = rows > ATTEST_MAP_SIDE ? ATTEST_MAP_SIDE : (int)rows;
    m->mask = malloc((size_t)(m->rows * m->keys) + 1);
    m->ratio = malloc(((size_t)(m->rows * m->columns) + 1) * sizeof *m->ratio);
    int fine = m->mask != NULL && m->ratio != NULL;
    for (int i = 0; fine && i < m->rows; i++) {
        const char *cells = json_string_value(json_array_get(mask, (size_t)i));
        const json_t *row = json_array_get(ratio, (size_t)i);
        fine = cells != NULL && strlen(cells) == (size_t)m->keys &&
               strspn(cells, "#.+-") == (size_t)m->keys &&
               json_array_size(row) == (size_t)m->columns;
        for (int c = 0; fine && c < m->columns; c++) {
            const double value = json_number_value(json_array_get(row, (size_t)c));
            m->ratio[i * m->columns + c] = value == WRONG_KIND ? (float)INFINITY : (float)value;
        }
        if (fine) {
            memcpy(m->mask + i * m->keys, cells, (size_t)m->keys);
        }
    }
    if (!fine) {
        free(m->mask);
        free(m->ratio);
    }
    return fine;
}

static char *copy_of(const json_t *text) {
    return json_is_string(text) ? strdup(json_string_value(text)) : NULL;
}

attest_exhibit *attest_exhibit_load(const json_t *o) {
    const json_t *maps = json_object_get(o, "maps"), *one;
    attest_exhibit *e = json_is_object(o) ? calloc(1, sizeof *e) : NULL;
    size_t index;
    if (e == NULL) {
        return NULL;
    }
    json_array_foreach(maps, index, one) {
        if (e->map_count < ATTEST_MOST_MAPS && load_map(one, &e->maps[e->map_count])) {
            e->map_count++;
        }
    }
    e->mask_known = json_is_true(json_object_get(o, "mask_known"));
    e->c_program = copy_of(json_object_get(o, "c"));
    e->numpy_program = copy_of(json_object_get(o, "numpy"));
    return e;
}
