/* SPDX-License-Identifier: Apache-2.0 */
/* corpus_scores.c - groups heads, scale, softcap, sinks, alibi. */
#include "vectors/write/corpus.h"

typedef attest_vector_recipe recipe;

static void heads(attest_recipe_list *list) {
    static const struct {
        int64_t q_heads, kv_heads;
    } ratios[] = {{1, 1}, {2, 2},  {2, 1},  {4, 2},  {6, 3},
                  {6, 2}, {12, 3}, {13, 1}, {28, 4}, {7, 7}};
    for (size_t k = 0; k < sizeof ratios / sizeof *ratios; k++) {
        recipe r = attest_recipe_default();
        r.q_heads = ratios[k].q_heads;
        r.kv_heads = ratios[k].kv_heads;
        r.queries = 2;
        r.keys = 5;
        r.value_size = 4;
        r.requirements = "SEM-11 ISO-06";
        r.wrong = r.q_heads == 12 ? "heads-tiled kv-head-0 kv-entry-0 layout-swapped" : "";
        r.note = "query heads to KV heads";
        attest_recipe_add(list, &r, "heads", "%dto%d", (int)r.q_heads, (int)r.kv_heads);
    }
    recipe r = attest_recipe_default();
    r.batch = 3;
    r.requirements = "ISO-06 SEM-01";
    r.wrong = "kv-entry-0 layout-swapped values-one-late";
    r.note = "three batch entries, Dv less than D";
    attest_recipe_add(list, &r, "heads", "batch-3");
    r.value_size = 11;
    r.wrong = "scale-of-value-size";
    r.requirements = "SEM-01 SEM-13";
    r.note = "Dv greater than D: the default scale goes by D";
    attest_recipe_add(list, &r, "heads", "values-wider");
}

static void scales(attest_recipe_list *list) {
    static const struct {
        const char *name;
        double scale;
        const char *requirements, *wrong, *note;
    } scales[] = {
        {"half", 0.5, "SEM-04", "no-scale scale-value-ignored", "an explicit scale"},
        {"one", 1, "SEM-04", "scale-value-ignored", "a scale of 1"},
        {"zero", 0, "SPV-06", "scale-zero-is-default", "0 is a value: equal weights"},
        {"negative", -0.75, "SPV-06", "scale-sign-lost", "a negative scale is a value"},
        {"tenth", 0.1, "NUM-02 SEM-04", "", "not representable: may be rounded once"},
        {"small", 0x1p-20, "SPV-06", "", "almost equal weights"},
        {"denormal", 0x1p-140, "SPV-06", "", "denormal in binary32"},
        {"large", 64, "NUM-07 SEM-04", "no-maximum scores-clamped", "scores in the hundreds"},
    };
    recipe r = attest_recipe_default();
    r.requirements = "SEM-13";
    r.wrong = "no-scale scale-of-value-size";
    r.note = "no scale given: 1/sqrt(8)";
    attest_recipe_add(list, &r, "scale", "default");
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        r.features = ATTEST_SCALE;
        r.scale = scales[k].scale;
        r.requirements = scales[k].requirements;
        r.wrong = scales[k].wrong;
        r.note = scales[k].note;
        attest_recipe_add(list, &r, "scale", "%s", scales[k].name);
    }
}

static void softcaps(attest_recipe_list *list) {
    static const struct {
        const char *name;
        double softcap;
    } caps[] = {{"quarter", 0.25}, {"two", 2}, {"thirty", 30}, {"fifty", 50}, {"huge", 0x1p40}};
    for (size_t k = 0; k < sizeof caps / sizeof *caps; k++) {
        recipe r = attest_recipe_default();
        r.features = ATTEST_SOFTCAP | ATTEST_SCALE;
        r.scale = 2;
        r.softcap = caps[k].softcap;
        r.requirements = "SEM-05";
        r.wrong = k == 1 ? "softcap-ignored softcap-clamps" : "";
        r.note = "softcap alone";
        attest_recipe_add(list, &r, "softcap", "%s", caps[k].name);
        r.features |= ATTEST_MASK_ADD;
        r.mask_type = ATTEST_F32;
        r.requirements = "SEM-05 MASK-06";
        r.wrong = k == 1 ? "softcap-after-mask" : "";
        r.note = "the mask is added after the cap";
        attest_recipe_add(list, &r, "softcap", "%s-add", caps[k].name);
        r.features = ATTEST_SOFTCAP | ATTEST_CAUSAL;
        r.mask_type = ATTEST_BOOL;
        r.queries = r.keys = 5;
        r.requirements = "SEM-05 MASK-01";
        r.note = "a hidden key stays hidden";
        attest_recipe_add(list, &r, "softcap", "%s-causal", caps[k].name);
    }
}

static void sinks(attest_recipe_list *list) {
    recipe r = attest_recipe_default();
    r.features = ATTEST_SINKS;
    r.requirements = "SEM-09 SEM-10";
    r.wrong = "sink-ignored sink-is-scaled";
    r.note = "the sink takes weight and gives nothing";
    attest_recipe_add(list, &r, "sinks", "plain");
    r.pokes[0] = (attest_poke){'s', 0, 40};
    r.pokes[1] = (attest_poke){'s', 1, -40};
    r.pokes[2] = (attest_poke){'s', 2, 90};
    r.pokes[3] = (attest_poke){'s', 3, -200};
    r.requirements = "SEM-09 NUM-07";
    r.wrong = "sink-ignored";
    r.note = "sinks far above and below the scores: the maximum includes the sink";
    attest_recipe_add(list, &r, "sinks", "far");
    r = attest_recipe_default();
    r.features = ATTEST_SINKS | ATTEST_SOFTCAP | ATTEST_SCALE | ATTEST_CAUSAL;
    r.scale = 0.5;
    r.softcap = 1.25;
    r.requirements = "SEM-09 SEM-05";
    r.wrong = "sink-is-scaled";
    r.note = "no scale, cap or mask applies to the sink";
    attest_recipe_add(list, &r, "sinks", "with-softcap");
}

static void alibis(attest_recipe_list *list) {
    recipe r = attest_recipe_default();
    r.features = ATTEST_ALIBI | ATTEST_CAUSAL;
    r.queries = r.keys = 6;
    r.requirements = "SEM-08";
    r.wrong = "alibi-ignored";
    r.note = "causal";
    attest_recipe_add(list, &r, "alibi", "causal");
    r.features = ATTEST_ALIBI;
    r.wrong = "alibi-signed";
    r.note = "both directions: the distance is absolute";
    attest_recipe_add(list, &r, "alibi", "both-sides");
    r.queries = 3;
    r.requirements = "SEM-08 MASK-09";
    r.wrong = "alibi-not-shifted";
    r.note = "distance to i + offset, without causal too";
    attest_recipe_add(list, &r, "alibi", "shifted");
    r.slopes_rank = 2;
    r.wrong = "";
    r.requirements = "SEM-08 SEM-01";
    r.note = "slopes [B,Hq]";
    attest_recipe_add(list, &r, "alibi", "slopes-by-entry");
    r.features |= ATTEST_MASK_ADD;
    r.mask_type = ATTEST_F32;
    r.requirements = "SEM-08 MASK-06";
    r.note = "added to the mask's bias";
    attest_recipe_add(list, &r, "alibi", "with-mask");
}

void attest_corpus_scores(attest_recipe_list *list) {
    heads(list);
    scales(list);
    softcaps(list);
    sinks(list);
    alibis(list);
}
