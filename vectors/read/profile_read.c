/* SPDX-License-Identifier: Apache-2.0 */
#include "vectors/read/profile_read.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

typedef struct field {
    const char *key;
    const char *values[5]; /* in the order of the enumeration in profile.h */
} field;

static const field fields[ATTEST_PROFILE_FIELDS] = {
    {"corner", {"top-left", "bottom-right", "bottom-right-with-lengths"}},
    {"window_form", {"not-defined", "w-keys", "left-w", "both-w"}},
    {"default_scale", {"rsqrt-d", "one", "required"}},
    {"gqa_order", {"grouped", "tiled"}},
    {"lse_base", {"natural", "base-2"}},
    {"lse_empty", {"neg-inf", "pos-inf", "unspecified"}},
    {"empty_row", {"zero", "nan", "mean-of-all", "unspecified"}},
    {"mask_with_causal", {"and", "error", "mask-ignored", "causal-ignored"}},
};

void attest_profile_numbers(const attn_profile *profile, int numbers[ATTEST_PROFILE_FIELDS]) {
    const attn_profile p = *profile;
    const int in_order[ATTEST_PROFILE_FIELDS] = {
        (int)p.corner,   (int)p.window_form, (int)p.default_scale, (int)p.gqa_order,
        (int)p.lse_base, (int)p.lse_empty,   (int)p.empty_row,     (int)p.mask_with_causal};
    memcpy(numbers, in_order, sizeof in_order);
}

int attest_profile_of_numbers(attn_profile *profile, const int numbers[ATTEST_PROFILE_FIELDS]) {
    for (int k = 0; k < ATTEST_PROFILE_FIELDS; k++) {
        int count = 0;
        while (fields[k].values[count]) {
            count++;
        }
        if (numbers[k] < 0 || numbers[k] >= count) {
            return -1;
        }
    }
    *profile = (attn_profile){
        .corner = (attn_corner)numbers[0],
        .window_form = (attn_window_form)numbers[1],
        .default_scale = (attn_default_scale)numbers[2],
        .gqa_order = (attn_gqa_order)numbers[3],
        .lse_base = (attn_lse_base)numbers[4],
        .lse_empty = (attn_lse_empty)numbers[5],
        .empty_row = (attn_empty_row)numbers[6],
        .mask_with_causal = (attn_mask_with_causal)numbers[7],
    };
    return 0;
}

static int value_of(const json_t *root, const field *f) {
    const char *text = json_string_value(json_object_get(root, f->key));
    for (int k = 0; text && f->values[k]; k++) {
        if (strcmp(f->values[k], text) == 0) {
            return k;
        }
    }
    return -1;
}

int attest_profile_file(attn_profile *profile, const char *path,
                        char message[ATTEST_MESSAGE_BYTES]) {
    json_error_t error;
    int numbers[ATTEST_PROFILE_FIELDS];
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "profile %.120s: %.120s", path, error.text);
        return -1;
    }
    int bad = -1;
    for (int k = 0; k < ATTEST_PROFILE_FIELDS; k++) {
        numbers[k] = value_of(root, &fields[k]);
        bad = numbers[k] < 0 && bad < 0 ? k : bad;
    }
    json_decref(root);
    if (bad >= 0) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "profile %.120s: %s is missing or unknown", path,
                 fields[bad].key);
        return -1;
    }
    return attest_profile_of_numbers(profile, numbers);
}

int attest_profile_read(attn_profile *profile, const char *directory, const char *name,
                        char message[ATTEST_MESSAGE_BYTES]) {
    char path[4096];
    if (strchr(name, '/') ||
        snprintf(path, sizeof path, "%s/%s.json", directory, name) >= (int)sizeof path) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "profile \"%.60s\": not a name", name);
        return -1;
    }
    return attest_profile_file(profile, path, message);
}
