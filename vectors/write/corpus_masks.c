/* SPDX-License-Identifier: Apache-2.0 */
/* corpus_masks.c - groups causal, cache, window, lengths, mask, empty, pairs, profiles. */
#include <stdio.h>

#include "vectors/write/corpus.h"

typedef attest_vector_recipe recipe;

static void causal(attest_recipe_list *list) {
    recipe r = attest_recipe_default();
    r.features = ATTEST_CAUSAL;
    r.requirements = "MASK-01 MASK-09";
    r.queries = r.keys = 6;
    r.wrong = "causal-strict causal-one-more causal-ignored";
    r.note = "square";
    attest_recipe_add(list, &r, "causal", "square");
    r.queries = 3;
    r.wrong = "corner-swapped";
    r.note = "fewer queries than keys: the corner is bottom-right, offset 3";
    attest_recipe_add(list, &r, "causal", "wide");
    r.queries = 8;
    r.requirements = "MASK-01 MASK-09 SEM-12";
    r.note = "more queries than keys: offset -2, the first two rows are empty";
    attest_recipe_add(list, &r, "causal", "tall");
    r.queries = 1;
    r.requirements = "MASK-01 MASK-09 SPV-08";
    r.wrong = "";
    r.note = "one query: the last position sees every key";
    attest_recipe_add(list, &r, "causal", "decode");
    r.features |= ATTEST_OFFSETS;
    r.queries = 3;
    r.batch = 4;
    r.requirements = "MASK-01 MASK-09 SEM-15";
    r.offsets[0] = 0;
    r.offsets[1] = 2;
    r.offsets[2] = 3;
    r.offsets[3] = -1;
    r.wrong = "offset-ignored cache-after-new";
    r.note = "an offset for each entry: nothing cached, some, all; and one row before the keys";
    attest_recipe_add(list, &r, "causal", "offsets");
    r.batch = 2;
    r.offsets[0] = INT64_C(1) << 62;
    r.offsets[1] = -(INT64_C(1) << 62);
    r.requirements = "MASK-01 SEM-03 SEM-12";
    r.wrong = "";
    r.note = "offsets at both ends of their range: all keys, and none";
    attest_recipe_add(list, &r, "causal", "far-offsets");
    r.features = ATTEST_OFFSETS;
    r.offsets[0] = 1;
    r.offsets[1] = -3;
    r.requirements = "MASK-01 MASK-09";
    r.note = "an offset without causal, window or ALiBi hides nothing";
    attest_recipe_add(list, &r, "causal", "offset-alone");
}

static void cache(attest_recipe_list *list) {
    for (int64_t past = 0; past <= 5; past++) {
        recipe r = attest_recipe_default();
        r.features = ATTEST_CAUSAL | ATTEST_OFFSETS;
        r.batch = 1;
        r.queries = 2;
        r.keys = past + 2;
        r.offsets[0] = past;
        r.requirements = "MASK-01 SEM-14 SEM-15";
        r.wrong = past == 3 ? "cache-after-new offset-ignored" : "";
        r.note = "two new queries behind a cache of this many keys";
        attest_recipe_add(list, &r, "cache", "past-%d", (int)past);
    }
}

static void window(attest_recipe_list *list) {
    static const struct {
        const char *name;
        int64_t left, right;
        const char *wrong;
    } windows[] = {
        {"left-2-right-0", 2, 0, "window-left-long window-left-short"},
        {"left-0-right-0", 0, 0, "window-left-long"},
        {"left-1-right-1", 1, 1, "window-right-ignored"},
        {"left-open-right-1", ATTEST_UNBOUNDED, 1, "window-right-ignored"},
        {"left-2-right-open", 2, ATTEST_UNBOUNDED, "window-ignored"},
        {"open", ATTEST_UNBOUNDED, ATTEST_UNBOUNDED, ""},
        {"left-9-right-9", 9, 9, ""},
    };
    recipe r = attest_recipe_default();
    r.features = ATTEST_WINDOW;
    r.queries = r.keys = 7;
    r.requirements = "MASK-02";
    for (size_t k = 0; k < sizeof windows / sizeof *windows; k++) {
        r.left = windows[k].left;
        r.right = windows[k].right;
        r.wrong = windows[k].wrong;
        r.note = "both sides inclusive, without causal";
        attest_recipe_add(list, &r, "window", "%s", windows[k].name);
    }
    r.left = 2;
    r.right = 1;
    r.queries = 3;
    r.wrong = "window-not-shifted corner-swapped";
    r.requirements = "MASK-02 MASK-09";
    r.note = "the window stands at i + offset, here offset 4";
    attest_recipe_add(list, &r, "window", "shifted");
    r.queries = 9;
    r.requirements = "MASK-02 MASK-09 SEM-12";
    r.note = "offset -2: rows whose window ends before the first key";
    attest_recipe_add(list, &r, "window", "shifted-out");
    r.features = ATTEST_WINDOW_SIZE;
    r.queries = 7;
    r.window_size = 3;
    r.wrong = "window-left-long window-ignored";
    r.requirements = "MASK-10";
    r.note = "one number: W keys in this profile";
    attest_recipe_add(list, &r, "window", "size-3");
    r.features |= ATTEST_CAUSAL;
    r.window_size = 1;
    r.requirements = "MASK-10 MASK-04 SPV-08";
    r.note = "W = 1 with causal: each row sees itself, o = v";
    attest_recipe_add(list, &r, "window", "size-1-causal");
}

static void lengths(attest_recipe_list *list) {
    recipe r = attest_recipe_default();
    r.features = ATTEST_KEY_LENGTHS;
    r.batch = 4;
    r.q_heads = 2;
    r.lengths[0] = 6;
    r.lengths[1] = 1;
    r.lengths[2] = 0;
    r.lengths[3] = 4;
    r.requirements = "MASK-03 SEM-12";
    r.wrong = "lengths-ignored length-is-index length-of-entry-0";
    r.note = "all keys, one, none, four";
    attest_recipe_add(list, &r, "lengths", "ragged");
    r.features |= ATTEST_CAUSAL;
    r.requirements = "MASK-03 MASK-09 SEM-12";
    r.wrong = "corner-swapped";
    r.note = "the corner is at the length, not at the end of the axis";
    attest_recipe_add(list, &r, "lengths", "causal");
    r.features |= ATTEST_OFFSETS;
    r.offsets[0] = 2;
    r.offsets[1] = 0;
    r.offsets[2] = 2;
    r.offsets[3] = 1;
    r.wrong = "offset-ignored";
    r.requirements = "MASK-03 MASK-01";
    r.note = "explicit offsets are not moved by lengths";
    attest_recipe_add(list, &r, "lengths", "causal-offsets");
}

/* Every rank, and every axis that may be 1. */
static void masks(attest_recipe_list *list) {
    for (int rank = 0; rank <= 4; rank++) {
        for (unsigned axes = 0; axes < 1u << rank; axes++) {
            for (int additive = 0; additive <= 1; additive++) {
                char name[48];
                recipe r = attest_recipe_default();
                r.features = additive ? ATTEST_MASK_ADD : ATTEST_MASK_BOOL;
                r.mask_type = additive ? ATTEST_F32 : ATTEST_BOOL;
                r.q_heads = r.kv_heads = 2;
                r.queries = 3;
                r.value_size = 3;
                r.mask_rank = rank;
                r.mask_axes = axes << (4 - rank);
                r.mask = rank == 0 || axes == 0 ? ATTEST_SHOWS_ALL : ATTEST_SHOWS_MOST;
                r.requirements = additive ? "MASK-06 MASK-07 MASK-08" : "MASK-05 MASK-07";
                int most_axes = axes == (1u << rank) - 1;
                r.wrong = !most_axes  ? ""
                          : rank == 3 ? "mask-heads-are-batch"
                          : rank == 4 ? (additive ? "mask-is-scaled" : "mask-inverted")
                                      : "";
                r.note = "broadcast aligned at the right; axes of 1 repeat";
                snprintf(name, sizeof name, "%s-%d-", additive ? "add" : "bool", rank);
                for (int axis = 0; axis < rank; axis++) {
                    size_t used = (size_t)(additive ? 6 : 7) + (size_t)axis;
                    snprintf(name + used, sizeof name - used, "%c", axes >> axis & 1 ? 'n' : '1');
                }
                if (rank == 0) {
                    name[additive ? 5 : 6] = '\0';
                }
                attest_recipe_add(list, &r, "mask", "%s", name);
            }
        }
    }
    recipe r = attest_recipe_default();
    r.features = ATTEST_MASK_ADD;
    r.mask_type = ATTEST_F32;
    r.mask = ATTEST_SHOWS_DEEP;
    r.requirements = "MASK-08";
    r.wrong = "large-negative-hides";
    r.note = "a large negative value hides nothing: those rows are an ordinary softmax";
    attest_recipe_add(list, &r, "mask", "deep");
    r.mask = ATTEST_SHOWS_MOST;
    r.mask_rank = 2;
    r.queries = r.keys = 6;
    r.requirements = "MASK-06 MASK-07";
    r.wrong = "mask-of-row-0";
    r.note = "as many queries as keys: a mask must not be read transposed";
    attest_recipe_add(list, &r, "mask", "add-square");
    r.features = ATTEST_MASK_BOOL;
    r.mask_type = ATTEST_BOOL;
    attest_recipe_add(list, &r, "mask", "bool-square");
    r.mask_rank = 4;
    r.queries = 4;
    r.requirements = "MASK-05 SEM-02";
    r.wrong = "";
    for (int k = 0; k < 8; k++) {
        r.pokes[k] = (attest_poke){'m', 3 * k, (double)(1 << k)};
    }
    r.note = "true is any byte but 0: a kernel that looks at one bit sees too little";
    attest_recipe_add(list, &r, "mask", "true-bytes");
}

static void empty(attest_recipe_list *list) {
    recipe r = attest_recipe_default();
    r.features = ATTEST_MASK_BOOL;
    r.mask = ATTEST_SHOWS_EVEN_ROWS;
    r.requirements = "SEM-12 MASK-05";
    r.wrong = "empty-row-mean empty-row-nan finite-for-infinity";
    r.note = "odd rows see nothing: 0, and LSE -inf";
    attest_recipe_add(list, &r, "empty", "bool-rows");
    r.mask = ATTEST_SHOWS_NONE;
    r.note = "no row sees anything";
    r.wrong = "";
    attest_recipe_add(list, &r, "empty", "bool-all");
    r.features = ATTEST_MASK_ADD;
    r.mask_type = ATTEST_F32;
    r.mask = ATTEST_SHOWS_EVEN_ROWS;
    r.requirements = "SEM-12 MASK-08";
    r.wrong = "finite-for-infinity";
    attest_recipe_add(list, &r, "empty", "add-rows");
    r.features |= ATTEST_SINKS;
    r.requirements = "SEM-12 SEM-09";
    r.wrong = "sink-ignored";
    r.note = "with a sink an empty row is 0 and its LSE is the sink";
    attest_recipe_add(list, &r, "empty", "add-rows-sink");
    r = attest_recipe_default();
    r.keys = 0;
    r.requirements = "SPV-07 SEM-12";
    r.note = "no keys at all";
    attest_recipe_add(list, &r, "empty", "no-keys");
    r = attest_recipe_default();
    r.queries = 0;
    r.requirements = "SPV-07";
    r.flags = "documentation";
    r.note = "no queries: nothing to write";
    attest_recipe_add(list, &r, "empty", "no-queries");
    r.queries = 4;
    r.value_size = 0;
    r.flags = "";
    r.requirements = "SPV-07 SEM-10";
    r.note = "no value elements: only the LSE";
    attest_recipe_add(list, &r, "empty", "no-values");
}

/* Six ways to hide keys, and every pair of them. */
static void pairs(attest_recipe_list *list) {
    static const struct {
        const char *name;
        uint64_t features;
    } kinds[] = {
        {"causal", ATTEST_CAUSAL},  {"window", ATTEST_WINDOW}, {"lengths", ATTEST_KEY_LENGTHS},
        {"bool", ATTEST_MASK_BOOL}, {"add", ATTEST_MASK_ADD},  {"offsets", ATTEST_OFFSETS},
        {"alibi", ATTEST_ALIBI},    {"sinks", ATTEST_SINKS},   {"softcap", ATTEST_SOFTCAP}};
    const size_t count = sizeof kinds / sizeof *kinds;
    for (size_t a = 0; a < count; a++) {
        for (size_t b = a + 1; b < count; b++) {
            recipe r = attest_recipe_default();
            r.features = kinds[a].features | kinds[b].features;
            if ((r.features & ATTEST_MASK_BOOL) && (r.features & ATTEST_MASK_ADD)) {
                continue; /* one mask tensor only */
            }
            r.mask_type = r.features & ATTEST_MASK_ADD ? ATTEST_F32 : ATTEST_BOOL;
            r.queries = 4;
            r.keys = 7;
            r.value_size = 4;
            r.left = 2;
            r.right = 1;
            r.softcap = 1.5;
            r.lengths[0] = 5;
            r.lengths[1] = 7;
            r.offsets[0] = 2;
            r.offsets[1] = -1;
            r.requirements = "MASK-04 MASK-11";
            r.wrong = a == 0 && b == 3   ? "mask-replaces-causal causal-replaces-mask"
                      : a == 4 && b == 8 ? "softcap-after-mask"
                                         : "";
            r.note = "two options at once";
            attest_recipe_add(list, &r, "pairs", "%s-%s", kinds[a].name, kinds[b].name);
        }
    }
    recipe r = attest_recipe_default();
    r.features = ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_KEY_LENGTHS | ATTEST_MASK_ADD |
                 ATTEST_OFFSETS | ATTEST_ALIBI | ATTEST_SINKS | ATTEST_SOFTCAP | ATTEST_SCALE;
    r.mask_type = ATTEST_F32;
    r.keys = 9;
    r.left = 4;
    r.right = 1;
    r.softcap = 3;
    r.scale = 0.75;
    r.lengths[0] = 7;
    r.lengths[1] = 9;
    r.offsets[0] = 4;
    r.offsets[1] = 5;
    r.requirements = "MASK-04 SEM-05 SEM-08 SEM-09";
    r.wrong = "softcap-after-mask";
    r.note = "every option at once";
    attest_recipe_add(list, &r, "pairs", "everything");
}

/* The same problem under profiles that differ in one default. */
static void profiles(attest_recipe_list *list) {
    static const char *const names[] = {"attest",  "pytorch-sdpa",          "flash-attention-2.1",
                                        "onnx-24", "onnx-23-before-errata", "jax"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        recipe r = attest_recipe_default();
        r.features = ATTEST_CAUSAL;
        r.profile = names[k];
        r.q_heads = 6;
        r.requirements = "MASK-09 SEM-11";
        r.wrong = "corner-swapped heads-tiled";
        r.note = "the profile's corner and order of heads";
        attest_recipe_add(list, &r, "profiles", "causal-%s", names[k]);
        r.features = ATTEST_MASK_BOOL;
        r.mask = ATTEST_SHOWS_EVEN_ROWS;
        r.requirements = "SEM-12 SEM-10";
        r.wrong = "";
        r.note = "the profile's empty row and LSE";
        attest_recipe_add(list, &r, "profiles", "empty-%s", names[k]);
    }
}

void attest_corpus_masks(attest_recipe_list *list) {
    causal(list);
    cache(list);
    window(list);
    lengths(list);
    masks(list);
    empty(list);
    pairs(list);
    profiles(list);
}
