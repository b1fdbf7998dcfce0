/* SPDX-License-Identifier: Apache-2.0 */
/* corpus_values.c - groups types, magnitudes, special, isolation, invalid. */
#include <math.h>
#include "vectors/write/corpus.h"

typedef attest_vector_recipe recipe;

static void set_type(recipe *r, attest_dtype dtype) {
    r->q = r->kv = r->o = dtype;
    if (r->features & ATTEST_MASK_ADD) {
        r->mask_type = dtype;
    }
}

static const struct {
    const char *name;
    attest_dtype dtype;
} types[] = {{"f64", ATTEST_F64}, {"f16", ATTEST_F16}, {"bf16", ATTEST_BF16}, {"f32", ATTEST_F32}};

static void storage_types(attest_recipe_list *list) {
    static const struct {
        const char *name;
        uint64_t features;
        int64_t queries, keys, head_size;
    } shapes[] = {
        {"plain", 0, 3, 7, 8},
        {"causal", ATTEST_CAUSAL, 6, 6, 8},
        {"window", ATTEST_WINDOW, 6, 9, 4},
        {"lengths", ATTEST_KEY_LENGTHS, 3, 7, 8},
        {"bool", ATTEST_MASK_BOOL, 4, 8, 8},
        {"add", ATTEST_MASK_ADD, 4, 8, 8},
        {"softcap", ATTEST_SOFTCAP, 3, 7, 16},
        {"sinks", ATTEST_SINKS, 3, 7, 8},
        {"alibi", ATTEST_ALIBI | ATTEST_CAUSAL, 5, 5, 8},
        {"wide", 0, 2, 70, 66},
    };
    for (size_t t = 0; t < 3; t++) {
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            recipe r = attest_recipe_default();
            r.features = shapes[k].features;
            r.queries = shapes[k].queries;
            r.keys = shapes[k].keys;
            r.head_size = shapes[k].head_size;
            r.softcap = 2;
            r.left = 3;
            r.right = 1;
            r.lengths[0] = 4;
            r.lengths[1] = 7;
            if (k == 9) {
                r.batch = 1;
                r.q_heads = r.kv_heads = 1;
            }
            set_type(&r, types[t].dtype);
            r.requirements = "SEM-02 NUM-01";
            r.wrong = k == 0 ? "values-one-late" : k == 1 ? "causal-one-more" : "";
            r.note = "storage types";
            attest_recipe_add(list, &r, "types", "%s-%s", types[t].name, shapes[k].name);
        }
    }
    for (size_t t = 1; t < 3; t++) { /* a binary32 mask beside narrow q */
        recipe r = attest_recipe_default();
        r.features = ATTEST_MASK_ADD;
        set_type(&r, types[t].dtype);
        r.mask_type = ATTEST_F32;
        r.requirements = "SEM-02 MASK-06 MASK-08";
        r.note = "an additive mask wider than q";
        attest_recipe_add(list, &r, "types", "%s-wide-mask", types[t].name);
        r.mask = ATTEST_SHOWS_EVEN_ROWS;
        r.requirements = "MASK-08 SEM-12";
        r.note = "minus infinity in a wide mask stays minus infinity";
        attest_recipe_add(list, &r, "types", "%s-wide-mask-empty", types[t].name);
        r.mask = ATTEST_SHOWS_ALL;
        for (int64_t j = 0; j < 6; j++) {
            r.pokes[j] = (attest_poke){'m', j, j == 5 ? -66000 : -70000};
        }
        r.requirements = "MASK-08 SEM-02";
        r.note = "values beyond binary16 in a row of the mask hide nothing";
        attest_recipe_add(list, &r, "types", "%s-deep-mask", types[t].name);
    }
    static const attest_dtype mixed[][3] = {{ATTEST_F32, ATTEST_F16, ATTEST_F32},
                                            {ATTEST_F32, ATTEST_BF16, ATTEST_BF16},
                                            {ATTEST_F16, ATTEST_F16, ATTEST_F32},
                                            {ATTEST_F64, ATTEST_F32, ATTEST_F64}};
    static const char *const names[] = {"f32-f16-f32", "f32-bf16-bf16", "f16-f16-f32",
                                        "f64-f32-f64"};
    for (size_t k = 0; k < 4; k++) {
        recipe r = attest_recipe_default();
        r.q = mixed[k][0];
        r.kv = mixed[k][1];
        r.o = mixed[k][2];
        r.requirements = "SEM-02";
        r.note = "types of q, of k and v, and of o differ";
        attest_recipe_add(list, &r, "types", "%s", names[k]);
    }
}

static void magnitudes(attest_recipe_list *list) {
    static const struct {
        const char *name;
        attest_fill qk, v;
        double scale;
        const char *requirements, *wrong, *note;
    } rows[] = {
        {"coarse", ATTEST_COARSE, ATTEST_COARSE, 0.5, "NUM-01 NUM-03 NUM-05",
         "exp-coarse weights-f16", "few bits: products are exact, only exp and division round"},
        {"peaked", ATTEST_PEAKED, ATTEST_FINE, 1, "NUM-07 NUM-01", "no-maximum scores-clamped",
         "scores in the hundreds: exp of them overflows without the shift"},
        {"near-equal",
         {16, -10},
         ATTEST_FINE,
         1,
         "NUM-01 NUM-03",
         "weights-bf16",
         "weights almost equal"},
        {"huge-scores",
         {16, 4},
         ATTEST_FINE,
         1,
         "NUM-07 NUM-04",
         "no-maximum",
         "scores of a hundred thousand: all weights but one underflow"},
        {"huge-values",
         ATTEST_COARSE,
         {16, 100},
         0.5,
         "NUM-06 NUM-07",
         "",
         "values of 2^104: sums stay in range"},
        {"tiny-values",
         ATTEST_COARSE,
         {16, -130},
         0.5,
         "SPV-04",
         "",
         "values partly denormal in binary32"},
        {"denormal-values",
         ATTEST_COARSE,
         {16, -140},
         0.5,
         "SPV-04",
         "denormals-flushed",
         "values all denormal in binary32"},
        {"tiny-scores",
         {16, -70},
         ATTEST_FINE,
         1,
         "SPV-04 NUM-01",
         "",
         "scores vanish: equal weights"},
        {"scale-brings-back",
         {16, -60},
         ATTEST_FINE,
         0x1p117,
         "NUM-02 NUM-06",
         "",
         "tiny products, large scale: ordinary scores"},
        {"ones", {0, 0}, ATTEST_FINE, 1, "NUM-03 SEM-06", "", "q and k are 0: every weight is 1/n"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        recipe r = attest_recipe_default();
        r.features = ATTEST_SCALE;
        r.scale = rows[k].scale;
        r.fill_q = r.fill_k = rows[k].qk;
        r.fill_v = rows[k].v;
        r.requirements = rows[k].requirements;
        r.wrong = rows[k].wrong;
        r.note = rows[k].note;
        attest_recipe_add(list, &r, "magnitudes", "%s", rows[k].name);
    }
    recipe r = attest_recipe_default();
    r.requirements = "NUM-03 NUM-04 SEM-06";
    r.keys = r.value_size = 7;
    r.fill_v = (attest_fill){0, 0};
    r.batch = 1;
    r.kv_heads = 1;
    for (int64_t j = 0; j < 7; j++) {
        r.pokes[j] = (attest_poke){'v', 8 * j, 1};
    }
    r.wrong = "exp-coarse cheat-uniform";
    r.note = "values are unit vectors: the output is the weights";
    attest_recipe_add(list, &r, "magnitudes", "weights");
    r.features = ATTEST_CAUSAL;
    r.requirements = "NUM-04 MASK-01";
    r.note = "the output is the weights: hidden ones are 0";
    attest_recipe_add(list, &r, "magnitudes", "weights-causal");
    static const attest_fill f64_huge = {16, 500}, f64_tiny = {16, -1074};
    r = attest_recipe_default();
    set_type(&r, ATTEST_F64);
    r.fill_v = f64_huge;
    r.requirements = "NUM-06 SEM-02";
    r.note = "values beyond binary32";
    attest_recipe_add(list, &r, "magnitudes", "f64-huge-values");
    recipe half = r;
    set_type(&half, ATTEST_F16);
    half.fill_v = (attest_fill){16, -24};
    half.requirements = "SPV-04 SEM-02";
    half.wrong = "denormals-flushed";
    half.note = "values denormal in binary16";
    attest_recipe_add(list, &half, "magnitudes", "f16-denormal-values");
    r.fill_v = f64_tiny;
    r.requirements = "SPV-04 SEM-02";
    r.note = "values denormal in binary64";
    attest_recipe_add(list, &r, "magnitudes", "f64-denormal-values");
}

/* Batch 1, one head, 3 queries, 4 keys, D = 2, Dv = 2: small enough to read. */
static recipe tiny(void) {
    recipe r = attest_recipe_default();
    r.batch = 1;
    r.q_heads = r.kv_heads = 1;
    r.queries = 3;
    r.keys = 4;
    r.head_size = r.value_size = 2;
    r.fill_q = r.fill_k = r.fill_v = (attest_fill)ATTEST_COARSE;
    return r;
}

static void special(attest_recipe_list *list) {
    const double inf = (double)INFINITY, nan = (double)NAN;
    const struct {
        const char *name;
        uint64_t features;
        attest_poke pokes[3];
        const char *requirements, *wrong, *note;
    } rows[] = {
        {"nan-in-q", 0, {{'q', 2, nan}}, "SPV-01 ISO-07", "nan-swallowed", "row 1 alone is NaN"},
        {"nan-in-k",
         ATTEST_CAUSAL,
         {{'k', 5, nan}},
         "SPV-01",
         "nan-swallowed",
         "rows that see key 2 are NaN"},
        {"nan-in-v",
         ATTEST_CAUSAL,
         {{'v', 5, nan}},
         "SPV-01",
         "nan-swallowed",
         "one element of the rows that see key 2"},
        {"nan-in-v-weight-0",
         ATTEST_MASK_ADD,
         {{'v', 4, nan}, {'m', 2, -0x1p100}},
         "SPV-01",
         "",
         "NaN appears even where the weight underflows to 0"},
        {"nan-in-mask", ATTEST_MASK_ADD, {{'m', 1, nan}}, "SPV-05", "", "row 0 is NaN"},
        {"inf-in-mask", ATTEST_MASK_ADD, {{'m', 1, inf}}, "SPV-05", "", "row 0 is NaN"},
        {"nan-in-mask-hidden",
         ATTEST_MASK_ADD | ATTEST_CAUSAL,
         {{'m', 3, nan}},
         "SPV-05 ISO-01",
         "",
         "the mask value of a key that causal hides has no effect"},
        {"nan-in-sink",
         ATTEST_SINKS,
         {{'s', 0, nan}},
         "SPV-01",
         "nan-swallowed",
         "the head is NaN"},
        {"inf-in-sink", ATTEST_SINKS, {{'s', 0, inf}}, "SPV-02", "", "the head is NaN"},
        {"minus-inf-in-sink",
         ATTEST_SINKS,
         {{'s', 0, -inf}},
         "SPV-02",
         "",
         "as if there were none"},
        {"nan-in-slope",
         ATTEST_ALIBI,
         {{'a', 0, nan}},
         "SPV-01",
         "nan-swallowed",
         "the head is NaN"},
        {"plus-inf-score",
         0,
         {{'q', 0, 1}, {'q', 1, 0.5}, {'k', 2, inf}},
         "SPV-02",
         "",
         "a score of +inf makes the row NaN; the sign of q decides in other rows"},
        {"minus-inf-score",
         0,
         {{'q', 0, -1}, {'q', 1, 0.5}, {'k', 2, inf}},
         "SPV-02",
         "",
         "a score of -inf has weight 0"},
        {"all-minus-inf",
         ATTEST_MASK_BOOL,
         {{'q', 0, -inf}, {'k', -1, 1}, {'k', -2, 1}},
         "SPV-02 SEM-12",
         "safe-softmax",
         "all visible scores -inf: NaN, the row is not empty"},
        {"inf-capped",
         ATTEST_SOFTCAP,
         {{'k', 2, inf}},
         "SPV-02 SEM-05",
         "",
         "softcap turns an infinite score into a finite one"},
        {"inf-in-v", 0, {{'v', 3, inf}}, "SPV-02", "", "that element is inf"},
        {"minus-inf-in-v", ATTEST_CAUSAL, {{'v', 2, -inf}}, "SPV-02", "", "that element is -inf"},
        {"both-inf-in-v", 0, {{'v', 3, inf}, {'v', 5, -inf}}, "SPV-02", "", "that element is NaN"},
        {"inf-in-v-weight-0",
         ATTEST_MASK_ADD,
         {{'v', 4, inf}, {'m', 2, -0x1p100}},
         "SPV-02",
         "",
         "row 0: infinity or NaN"},
        {"negative-zeros",
         0,
         {{'q', -1, -0.0}, {'v', -1, -0.0}},
         "SPV-03",
         "",
         "-0 is 0: equal weights in row 0"},
        {"denormal-q",
         0,
         {{'q', -1, 0x1p-149}, {'q', -2, 0x1p-130}},
         "SPV-04",
         "",
         "denormal inputs are numbers"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        recipe r = tiny();
        r.features = rows[k].features;
        r.softcap = 2;
        r.mask_type = r.features & ATTEST_MASK_ADD ? ATTEST_F32 : ATTEST_BOOL;
        r.mask = ATTEST_SHOWS_ALL;
        for (int p = 0; p < 3; p++) {
            r.pokes[p] = rows[k].pokes[p];
        }
        if (r.features == ATTEST_MASK_BOOL) { /* only keys 0 and 1 are visible */
            for (int64_t row = 0; row < 3; row++) {
                r.pokes[3 + row] = (attest_poke){'m', 4 * row + 2, 0};
            }
            r.pokes[6] = (attest_poke){'m', 3, 0};
        }
        r.requirements = rows[k].requirements;
        r.wrong = rows[k].wrong;
        r.note = rows[k].note;
        attest_recipe_add(list, &r, "special", "%s", rows[k].name);
    }
}

/* Bad values where nobody looks, hidden by each option in turn. */
static void isolation(attest_recipe_list *list) {
    const double inf = (double)INFINITY, nan = (double)NAN;
    static const struct {
        const char *name;
        uint64_t features;
    } kinds[] = {{"causal", ATTEST_CAUSAL},
                 {"window", ATTEST_WINDOW},
                 {"lengths", ATTEST_KEY_LENGTHS},
                 {"bool", ATTEST_MASK_BOOL},
                 {"add", ATTEST_MASK_ADD}};
    const struct {
        const char *name, *requirements, *wrong;
        attest_poke pokes[2];
    } poisons[] = {
        {"nan-in-v", "ISO-01 ISO-05", "hidden-times-zero", {{'v', -6, nan}, {'v', -7, nan}}},
        {"inf-in-v", "ISO-01 ISO-05", "hidden-times-zero", {{'v', -6, inf}, {'v', -7, -inf}}},
        {"nan-in-k", "ISO-01 ISO-04", "", {{'k', -6, nan}, {'k', -7, inf}}},
        {"finite", "ISO-01 ISO-02", "", {{'k', -7, 100}, {'v', -6, -1000}}},
        {"huge", "ISO-01 ISO-03", "", {{'k', -7, 0x1p120}, {'v', -6, 0x1p120}}},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (size_t p = 0; p < sizeof poisons / sizeof *poisons; p++) {
            recipe r = tiny();
            r.features = kinds[k].features;
            r.queries = r.keys = 7;
            r.left = r.right = 1;
            r.lengths[0] = 5;
            r.mask_type = r.features & ATTEST_MASK_ADD ? ATTEST_F32 : ATTEST_BOOL;
            r.mask = ATTEST_SHOWS_FRONT;
            r.pokes[0] = poisons[p].pokes[0];
            r.pokes[1] = poisons[p].pokes[1];
            r.requirements = poisons[p].requirements;
            r.wrong = k == 0 ? poisons[p].wrong : "";
            r.note = "keys 5 and 6 are poisoned; rows that do not see them must not notice";
            attest_recipe_add(list, &r, "isolation", "%s-%s", kinds[k].name, poisons[p].name);
        }
    }
}

static void invalid(attest_recipe_list *list) {
    static const struct {
        const char *name;
        uint64_t features;
        double scale, softcap;
        int64_t left, length;
        const char *note;
    } rows[] = {
        {"softcap-zero", ATTEST_SOFTCAP, 1, 0, 0, 6, "off is the absent option, not 0"},
        {"softcap-negative", ATTEST_SOFTCAP, 1, -2, 0, 6, "softcap is positive"},
        {"window-side", ATTEST_WINDOW, 1, 1, -2, 6, "a window side is at least -1"},
        {"length-negative", ATTEST_KEY_LENGTHS, 1, 1, 0, -1, "a length is at least 0"},
        {"length-beyond", ATTEST_KEY_LENGTHS, 1, 1, 0, 7, "a length is at most Sk: no clamp"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        recipe r = tiny();
        r.keys = 6;
        r.features = rows[k].features;
        r.scale = rows[k].scale;
        r.softcap = rows[k].softcap;
        r.left = rows[k].left;
        r.lengths[0] = rows[k].length;
        r.requirements = "ERR-01 ERR-06";
        r.flags = "invalid";
        r.note = rows[k].note;
        attest_recipe_add(list, &r, "invalid", "%s", rows[k].name);
    }
    recipe r = tiny();
    r.q_heads = 5;
    r.kv_heads = 2;
    r.requirements = "ERR-01 ERR-03 SEM-11";
    r.flags = "invalid";
    r.note = "KV heads do not divide the query heads";
    attest_recipe_add(list, &r, "invalid", "heads-5-to-2");
}

void attest_corpus_values(attest_recipe_list *list) {
    storage_types(list);
    magnitudes(list);
    special(list);
    isolation(list);
    invalid(list);
}
