/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/plan/case.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/plan/names.h"

/* SIZE: an integer that is not negative. */
typedef enum kind { TEXT, INTEGER, SIZE, UNSIGNED, REAL, TYPE, FEATURES, NAME } kind;

typedef struct field {
    const char *key;
    size_t offset;
    kind kind;
    const char *const *names; /* of NAME */
    int count;
} field;

static const char *const layouts[] = {"dense",  "tokens", "padded", "broadcast",
                                      "spread", "mixed",  "huge"};
_Static_assert(sizeof layouts / sizeof *layouts == ATTEST_LAYOUTS, "a name for each layout");
static const char *const recipes[] = {"coarse", "fine",   "peaked", "zero",   "one",     "unit",
                                      "key",    "huge",   "tiny",   "large",  "small",   "bell",
                                      "wide",   "below",  "twins",  "alike",  "mixed",   "rise",
                                      "holes",  "needle", "steep",  "normal", "uniform", "faint"};
_Static_assert(sizeof recipes / sizeof *recipes == ATTEST_RECIPES, "a name for each recipe");
static const char *const masks[] = {"random", "sparse",       "single",     "triangle",
                                    "head",   "none-visible", "all-visible"};
static const char *const lists[] = {"full", "ragged", "zero", "one", "negative", "far"};
static const char *const unseens[] = {"plain", "nan", "largest"};
_Static_assert(sizeof unseens / sizeof *unseens == ATTEST_UNSEENS, "a name for each");
#define COUNT(list) ((int)(sizeof list / sizeof *list))

#define AT(member) offsetof(attest_case, member)
static const field fields[] = {
    {"check", AT(check), TEXT, NULL, 0},
    {"b", AT(batch), SIZE, NULL, 0},
    {"hq", AT(q_heads), SIZE, NULL, 0},
    {"hkv", AT(kv_heads), SIZE, NULL, 0},
    {"sq", AT(queries), SIZE, NULL, 0},
    {"sk", AT(keys), SIZE, NULL, 0},
    {"d", AT(head_size), SIZE, NULL, 0},
    {"dv", AT(value_size), SIZE, NULL, 0},
    {"q", AT(q_type), TYPE, NULL, 0},
    {"kv", AT(kv_type), TYPE, NULL, 0},
    {"o", AT(o_type), TYPE, NULL, 0},
    {"features", AT(features), FEATURES, NULL, 0},
    {"scale", AT(scale), REAL, NULL, 0},
    {"softcap", AT(softcap), REAL, NULL, 0},
    {"left", AT(window_left), INTEGER, NULL, 0},
    {"right", AT(window_right), INTEGER, NULL, 0},
    {"window", AT(window_size), INTEGER, NULL, 0},
    {"mask-type", AT(mask_type), TYPE, NULL, 0},
    {"mask-rank", AT(mask_rank), SIZE, NULL, 0},
    {"mask-full", AT(mask_full), SIZE, NULL, 0},
    {"mask", AT(mask), NAME, masks, COUNT(masks)},
    {"lengths", AT(lengths), NAME, lists, COUNT(lists)},
    {"offsets", AT(offsets), NAME, lists, COUNT(lists)},
    {"slopes-rank", AT(slopes_rank), SIZE, NULL, 0},
    {"layout", AT(layout), NAME, layouts, COUNT(layouts)},
    {"qk", AT(qk), NAME, recipes, COUNT(recipes)},
    {"v", AT(v), NAME, recipes, COUNT(recipes)},
    {"base", AT(base), SIZE, NULL, 0},
    {"unseen", AT(unseen), NAME, unseens, COUNT(unseens)},
    {"threads", AT(threads), SIZE, NULL, 0},
    {"p0", AT(parameter[0]), SIZE, NULL, 0},
    {"p1", AT(parameter[1]), SIZE, NULL, 0},
    {"p2", AT(parameter[2]), SIZE, NULL, 0},
    {"p3", AT(parameter[3]), SIZE, NULL, 0},
    {"seed", AT(seed), UNSIGNED, NULL, 0},
};

attest_case attest_case_default(const char *check) {
    attest_case c = {
        .batch = 1,
        .q_heads = 1,
        .kv_heads = 1,
        .queries = 1,
        .keys = 1,
        .head_size = 1,
        .value_size = 1,
        .q_type = ATTEST_F32,
        .kv_type = ATTEST_F32,
        .o_type = ATTEST_F32,
        .window_left = ATTEST_UNBOUNDED,
        .window_right = ATTEST_UNBOUNDED,
        .mask_rank = 4,
        .slopes_rank = 1,
        .threads = 1,
    };
    snprintf(c.check, sizeof c.check, "%s", check);
    return c;
}

const char *attest_dtype_name(attest_dtype dtype) {
    return dtype <= ATTEST_I64 ? attest_type_table[dtype] : "?";
}

void attest_feature_names(uint64_t set, char *text, size_t size) {
    size_t used = 0;
    if (size > 0) {
        snprintf(text, size, "%s", set ? "" : "none");
    }
    for (int bit = 0; attest_feature_table[bit] != NULL && used < size; bit++) {
        if (set >> bit & 1) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "",
                                     attest_feature_table[bit]);
        }
    }
}

static size_t field_bytes(kind k) {
    return k == TYPE ? sizeof(attest_dtype) : k == TEXT ? sizeof((attest_case *)0)->check : 8;
}

static void print_value(const field *f, const unsigned char *at, char *text, size_t size) {
    int64_t integer = 0;
    uint64_t natural = 0;
    double real = 0;
    attest_dtype dtype = 0;
    switch (f->kind) {
    case TEXT:
        snprintf(text, size, "%s", (const char *)at);
        return;
    case REAL:
        memcpy(&real, at, sizeof real);
        snprintf(text, size, "%a", real);
        return;
    case TYPE:
        memcpy(&dtype, at, sizeof dtype);
        snprintf(text, size, "%s", attest_dtype_name(dtype));
        return;
    case UNSIGNED:
        memcpy(&natural, at, sizeof natural);
        snprintf(text, size, "%" PRIu64, natural);
        return;
    case FEATURES:
        memcpy(&natural, at, sizeof natural);
        attest_feature_names(natural, text, size);
        return;
    case NAME:
        memcpy(&integer, at, sizeof integer);
        snprintf(text, size, "%s", integer >= 0 && integer < f->count ? f->names[integer] : "?");
        return;
    case INTEGER:
    case SIZE:
        memcpy(&integer, at, sizeof integer);
        snprintf(text, size, "%" PRId64, integer);
        return;
    }
}

size_t attest_case_print(const attest_case *c, char line[ATTEST_LINE_BYTES]) {
    const attest_case plain = attest_case_default("");
    size_t used = 0;
    line[0] = '\0';
    for (int i = 0; i < COUNT(fields) && used < ATTEST_LINE_BYTES; i++) {
        const field *f = &fields[i];
        const unsigned char *at = (const unsigned char *)c + f->offset;
        const int told = f->offset == AT(scale) && (c->features & ATTEST_SCALE);
        if (told ||
            memcmp(at, (const unsigned char *)&plain + f->offset, field_bytes(f->kind)) != 0) {
            char value[256];
            print_value(f, at, value, sizeof value);
            used += (size_t)snprintf(line + used, ATTEST_LINE_BYTES - used, "%s%s=%s",
                                     used ? " " : "", f->key, value);
        }
    }
    return used;
}

static int find_name(const char *const *names, int count, const char *value) {
    for (int i = 0; i < count && names[i] != NULL; i++) {
        if (strcmp(names[i], value) == 0) {
            return i;
        }
    }
    return -1;
}

static int parse_features(const char *value, uint64_t *set) {
    char copy[256];
    if ((size_t)snprintf(copy, sizeof copy, "%s", value) >= sizeof copy) {
        return 0;
    }
    *set = 0;
    if (strcmp(copy, "none") == 0) {
        return 1;
    }
    char *rest = NULL;
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        int bit = find_name(attest_feature_table, 64, word);
        if (bit < 0) {
            return 0;
        }
        *set |= UINT64_C(1) << bit;
    }
    return 1;
}

static int parse_value(const field *f, unsigned char *at, const char *value) {
    char *end = NULL;
    errno = 0;
    if (f->kind == TEXT) {
        return (size_t)snprintf((char *)at, field_bytes(TEXT), "%s", value) < field_bytes(TEXT);
    }
    if (f->kind == TYPE) {
        int found = find_name(attest_type_table, 64, value);
        attest_dtype dtype = (attest_dtype)found;
        memcpy(at, &dtype, sizeof dtype);
        return found >= 0;
    }
    if (f->kind == FEATURES || f->kind == UNSIGNED) {
        uint64_t natural = 0;
        int fine = f->kind == FEATURES ? parse_features(value, &natural)
                                       : (natural = strtoull(value, &end, 10), end && !*end);
        memcpy(at, &natural, sizeof natural);
        return fine && errno == 0;
    }
    if (f->kind == REAL) {
        double real = strtod(value, &end);
        memcpy(at, &real, sizeof real);
        return end != value && !*end;
    }
    int64_t integer =
        f->kind == NAME ? find_name(f->names, f->count, value) : strtoll(value, &end, 10);
    memcpy(at, &integer, sizeof integer);
    int fine = f->kind == NAME || (end != value && !*end && errno == 0);
    return fine && (f->kind == INTEGER || integer >= 0);
}

int attest_case_parse(attest_case *c, const char *line, char why[ATTEST_MESSAGE_BYTES]) {
    char copy[ATTEST_LINE_BYTES];
    attest_case result = attest_case_default("");
    if ((size_t)snprintf(copy, sizeof copy, "%s", line) >= sizeof copy) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "a case has at most %d characters",
                 ATTEST_LINE_BYTES - 1);
        return 0;
    }
    char *rest = NULL;
    for (char *word = strtok_r(copy, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        char *value = strchr(word, '=');
        const field *found = NULL;
        if (value != NULL) {
            *value++ = '\0';
            for (int i = 0; i < COUNT(fields) && found == NULL; i++) {
                found = strcmp(fields[i].key, word) == 0 ? &fields[i] : NULL;
            }
        }
        if (found == NULL || !parse_value(found, (unsigned char *)&result + found->offset, value)) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "field \"%.60s\" is unknown or has a wrong value",
                     word);
            return 0;
        }
    }
    if (result.check[0] == '\0') {
        snprintf(why, ATTEST_MESSAGE_BYTES, "the case names no check");
        return 0;
    }
    *c = result;
    return 1;
}

void attest_case_id(const attest_case *c, char id[ATTEST_ID_BYTES]) {
    char line[ATTEST_LINE_BYTES];
    size_t length = attest_case_print(c, line);
    unsigned char hash[crypto_generichash_BYTES];
    crypto_generichash(hash, sizeof hash, (const unsigned char *)line, length, NULL, 0);
    sodium_bin2hex(id, ATTEST_ID_BYTES, hash, (ATTEST_ID_BYTES - 1) / 2);
}

void attest_case_without(attest_case *c, uint64_t features) {
    const attest_case plain = attest_case_default(c->check);
    c->features &= ~features;
    c->scale = c->features & ATTEST_SCALE ? c->scale : plain.scale;
    c->softcap = c->features & ATTEST_SOFTCAP ? c->softcap : plain.softcap;
    c->window_size = c->features & ATTEST_WINDOW_SIZE ? c->window_size : plain.window_size;
    c->lengths = c->features & ATTEST_KEY_LENGTHS ? c->lengths : plain.lengths;
    c->offsets = c->features & ATTEST_OFFSETS ? c->offsets : plain.offsets;
    if (!(c->features & ATTEST_WINDOW)) {
        c->window_left = plain.window_left;
        c->window_right = plain.window_right;
    }
    if (!(c->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD))) {
        c->mask_type = plain.mask_type;
        c->mask_rank = plain.mask_rank;
        c->mask_full = plain.mask_full;
        c->mask = plain.mask;
    }
}
