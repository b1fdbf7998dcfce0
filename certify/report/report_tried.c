/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/report/report_tried.h"

#include "certify/plan/names.h"
#include "certify/plan/preset.h"
#include "certify/result/tried.h"

static int is_type(int type) { return type >= (int)ATTEST_F32 && type <= (int)ATTEST_BF16; }

/* A model's presets have consecutive numbers. Gives the model of number *n, which moves past it;
 * *all is 1 if each of them was tried. NULL past the last. */
static const char *next_model(const attest_tried *tried, int64_t *n, int *all) {
    const char *name = attest_preset_name(*n);
    *all = 1;
    while (name != NULL && *n < 64 && attest_preset_name(*n) == name) {
        *all &= (int)(tried->presets >> *n & 1);
        ++*n;
    }
    return name;
}

static void sizes_text(FILE *out, const attest_tried *tried) {
    for (int s = 0; s < ATTEST_SIZES; s++) {
        fprintf(out, "%s%s to %lld", s > 0 ? ", " : "tried ", attest_size_names[s],
                (long long)tried->largest[s]);
    }
    fprintf(out, "; 2^%d multiplications a call\n  threads",
            tried->work > 0 ? 63 - __builtin_clzll((unsigned long long)tried->work) : 0);
    for (int n = 0; n < 63; n++) {
        if (tried->threads >> n & 1) {
            fprintf(out, " %d", n);
        }
    }
    fprintf(out, "%s; types", tried->threads >> 63 ? " 63 or more" : "");
    for (int type = 0; type < 64; type++) {
        if (tried->types >> type & 1 && is_type(type)) {
            fprintf(out, " %s", attest_dtype_name((attest_dtype)type));
        }
    }
    fprintf(out, "%s; layouts", tried->mixed ? ", also mixed" : "");
    const char *separator = " ";
    for (int layout = 0; layout < ATTEST_LAYOUTS; layout++) {
        if (tried->layouts >> layout & 1) {
            fprintf(out, "%s%s", separator, attest_layout_names[layout]);
            separator = ", ";
        }
    }
    fputc('\n', out);
}

/* Options and presets that passed cases had (`had` 1) or had not. 1 if there is any. */
static int list_text(FILE *out, const char *before, const attest_tried *tried, int had) {
    const char *separator = before;
    int found = 0;
    for (int bit = 0; attest_feature_table[bit] != NULL; bit++) {
        if ((tried->options[bit] > 0) == had) {
            fprintf(out, "%s%s", separator, attest_feature_table[bit]);
            if (had) {
                fprintf(out, " %lld", (long long)tried->options[bit]);
            }
            separator = ", ";
            found = 1;
        }
    }
    separator = found ? "; shapes of " : had ? "  shapes of " : "not tried: shapes of ";
    int64_t n = 1;
    int all = 0;
    for (const char *name; (name = next_model(tried, &n, &all)) != NULL;) {
        if (all == had) {
            fprintf(out, "%s%s", separator, name);
            separator = ", ";
            found = 1;
        }
    }
    return found;
}

void attest_tried_text(FILE *out, const attest_report *report) {
    const attest_tried tried = attest_tried_of(report);
    attest_mistrust reasons[ATTEST_MOST_REASONS];
    const int count = attest_mistrusted(report, reasons);
    for (int i = 0; i < count; i++) {
        fprintf(
            out, "%s%lld: %s\n",
            i == 0
                ? "MISTRUSTED cases pass and count for nothing; a wrong kernel would pass them:\n"
                  "  "
                : "  ",
            (long long)reasons[i].cases, reasons[i].why);
    }
    if (tried.types == 0) { /* nothing passed */
        return;
    }
    fputc('\n', out);
    sizes_text(out, &tried);
    fputs(list_text(out, "  options (passed cases) ", &tried, 1) ? "\n" : "", out);
    const int missing = list_text(out, "not tried: ", &tried, 0);
    for (int type = (int)ATTEST_F32, first = 1; is_type(type); type++) {
        if (!(tried.types >> type & 1)) {
            fprintf(out, "%s%s",
                    !first    ? " "
                    : missing ? "; types "
                              : "not tried: types ",
                    attest_dtype_name((attest_dtype)type));
            first = 0;
        }
    }
    fputs(missing ? "; anything larger\n" : "\nnot tried: anything larger\n", out);
}

json_t *attest_tried_json(const attest_report *report) {
    const attest_tried tried = attest_tried_of(report);
    json_t *o = json_object(), *sizes = json_object(), *threads = json_array();
    json_t *types = json_array(), *layouts = json_array(), *options = json_object();
    json_t *presets = json_array(), *untried = json_array();
    for (int s = 0; s < ATTEST_SIZES; s++) {
        json_object_set_new(sizes, attest_size_names[s],
                            json_integer((json_int_t)tried.largest[s]));
    }
    for (int bit = 0; bit < 64; bit++) {
        if (tried.threads >> bit & 1) {
            json_array_append_new(threads, json_integer(bit));
        }
        if (tried.types >> bit & 1 && is_type(bit)) {
            json_array_append_new(types, json_string(attest_dtype_name((attest_dtype)bit)));
        }
    }
    for (int layout = 0; layout < ATTEST_LAYOUTS; layout++) {
        if (tried.layouts >> layout & 1) {
            json_array_append_new(layouts, json_string(attest_layout_names[layout]));
        }
    }
    for (int bit = 0; attest_feature_table[bit] != NULL; bit++) {
        json_object_set_new(options, attest_feature_table[bit],
                            json_integer((json_int_t)tried.options[bit]));
    }
    int64_t n = 1;
    int all = 0;
    for (const char *name; (name = next_model(&tried, &n, &all)) != NULL;) {
        json_array_append_new(all ? presets : untried, json_string(name));
    }
    json_object_set_new(o, "largest", sizes);
    json_object_set_new(o, "multiplications", json_integer((json_int_t)tried.work));
    json_object_set_new(o, "threads", threads);
    json_object_set_new(o, "types", types);
    json_object_set_new(o, "mixed_types", json_boolean(tried.mixed));
    json_object_set_new(o, "layouts", layouts);
    json_object_set_new(o, "options", options);
    json_object_set_new(o, "presets", presets);
    json_object_set_new(o, "presets_not_tried", untried);
    return o;
}
