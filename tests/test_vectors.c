/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The corpus as it lies in the tree: the reference is inside every radius, each labelled wrong
 * output is outside, both oracles agree with each exact value, invalid problems are refused, and
 * damaged files of it are refused too.
 */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>
#include <sodium.h>

#include "reference/kernel/forward.h"
#include "reference/oracle/oracle.h"
#include "reference/oracle/oracle_gsl.h"
#include "reference/problem/convert.h"
#include "reference/problem/normal.h"
#include "vectors/read/bounds.h"
#include "vectors/read/file.h"
#include "vectors/read/manifest.h"
#include "vectors/read/profile_read.h"

#define DAMAGED_FILES 10000

static attest_corpus corpus;

static int open_corpus(void **state) {
    char why[ATTEST_MESSAGE_BYTES] = "";
    (void)state;
    int status = attest_corpus_open(&corpus, "vectors", why);
    if (status != 0) {
        print_message("# %s\n", why);
    }
    return status;
}

static int close_corpus(void **state) {
    (void)state;
    attest_corpus_close(&corpus);
    return 0;
}

static attn_profile profile_of(const attest_vector *v) {
    attn_profile profile;
    char why[ATTEST_MESSAGE_BYTES] = "";
    if (attest_profile_read(&profile, "spec/profiles", v->profile, why) != 0) {
        fail_msg("%s", why);
    }
    return profile;
}

static size_t count_of(const attest_tensor *tensor) {
    size_t count = 1;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        count *= (size_t)tensor->shape[axis];
    }
    return count;
}

static double at(const attest_tensor *tensor, size_t index) {
    return attn_load(tensor->dtype,
                     (const char *)tensor->data + index * (size_t)attn_dtype_bytes(tensor->dtype));
}

static attest_problem with_outputs(const attest_vector *v) {
    attest_problem p = v->problem;
    p.o.data = calloc(count_of(&p.o) + 1, 8);
    p.lse.data = calloc(count_of(&p.lse) + 1, 8);
    assert_non_null(p.o.data);
    assert_non_null(p.lse.data);
    return p;
}

static void free_outputs(attest_problem *p) {
    free(p->o.data);
    free(p->lse.data);
}

/* Sequential sums and exp within 1 ulp: what every model here allows. */
static void test_reference_is_inside(void **state) {
    (void)state;
    int checked = 0, refused = 0;
    for (size_t k = 0; k < corpus.count; k++) {
        const attest_vector *v = &corpus.vectors[k];
        char why[ATTEST_MESSAGE_BYTES] = "";
        attn_profile profile = profile_of(v);
        if (!v->stored) {
            continue;
        }
        attest_problem p = with_outputs(v);
        attest_status status = attn_forward(&p, &profile, why);
        assert_int_equal(status, v->valid ? ATTEST_OK : ATTEST_INVALID);
        for (int m = 0; m < v->models; m++) {
            if (strcmp(v->model[m], "f32-f64acc") != 0 &&
                attest_vector_judge(v, v->model[m], &p.o, &p.lse, why) != 0) {
                fail_msg("%s/%s, %s: %s", v->group, v->name, v->model[m], why);
            }
            checked++;
        }
        refused += !v->valid;
        free_outputs(&p);
    }
    print_message("# %zu vectors, %d results judged, %d invalid problems refused\n", corpus.count,
                  checked, refused);
    assert_true(checked > 1000 && refused >= 6);
}

static void test_wrong_outputs_are_rejected(void **state) {
    (void)state;
    int rejected = 0;
    for (size_t k = 0; k < corpus.count; k++) {
        const attest_vector *v = &corpus.vectors[k];
        for (int w = 0; w < v->wrongs; w++) {
            char why[ATTEST_MESSAGE_BYTES] = "";
            if (attest_vector_judge(v, v->model[v->judge], v->wrong[w], NULL, why) != 1) {
                fail_msg("%s/%s accepts %s", v->group, v->name, v->wrong_name[w]);
            }
            rejected++;
        }
    }
    print_message("# %d wrong outputs\n", rejected);
    assert_true(rejected >= 100);
}

/* A radius in the corpus is the oracle's or a little more; its centre is where the oracle's is. */
static void agree(const attest_vector *v, int m, const attn_enclosure *oracle,
                  const attest_tensor *high, const attest_tensor *low, const attest_tensor *radius,
                  const char *what) {
    for (size_t k = 0; k < count_of(high); k++) {
        double apart = fabs(at(high, k) - oracle[k].high + (at(low, k) - oracle[k].low));
        if (oracle[k].kind != ATTN_FINITE) {
            continue; /* kinds are compared where the corpus is written */
        }
        if (!(apart <= oracle[k].own_error + ATTN_OWN_ERROR_PART * oracle[k].radius) ||
            !(at(radius, k) >= oracle[k].radius) ||
            !(at(radius, k) <= 1.01 * oracle[k].radius + 0x1p-148)) {
            fail_msg("%s/%s, %s, %s[%zu]: %a%+a within %a, oracle %a%+a within %a", v->group,
                     v->name, v->model[m], what, k, at(high, k), at(low, k), at(radius, k),
                     oracle[k].high, oracle[k].low, oracle[k].radius);
        }
    }
}

static void test_first_oracle_agrees(void **state) {
    (void)state;
    for (size_t k = 0; k < corpus.count; k++) {
        const attest_vector *v = &corpus.vectors[k];
        if (!v->stored || !v->valid) {
            continue;
        }
        attn_normal normal;
        char why[ATTEST_MESSAGE_BYTES] = "";
        attn_profile profile = profile_of(v);
        attest_problem p = with_outputs(v);
        attn_enclosure *o = calloc(count_of(&p.o) + 1, sizeof *o);
        attn_enclosure *lse = calloc(count_of(&p.lse) + 1, sizeof *lse);
        assert_int_equal(attn_normalise(&normal, &p, &profile, 0, why), ATTEST_OK);
        for (int m = 0; m < v->models; m++) {
            assert_int_equal(attn_oracle(&normal, attn_model_find(v->model[m]), 1, o, lse, why),
                             ATTEST_OK);
            agree(v, m, o, v->o_high, v->o_low, v->o_radius[m], "o");
            agree(v, m, lse, v->lse_high, v->lse_low, v->lse_radius[m], "lse");
        }
        free(o);
        free(lse);
        free_outputs(&p);
    }
}

/* The default scale is 1/sqrt(D) in the corpus and its binary64 neighbour in the oracle. */
static void agree_gsl(const attest_vector *v, const attn_gsl_value *values,
                      const attest_tensor *high, const attest_tensor *low,
                      const attest_tensor *radius, const char *what, int *compared) {
    for (size_t k = 0; k < count_of(high); k++) {
        double want = at(high, k), slack = ATTN_OWN_ERROR_PART * at(radius, k);
        if (values[k].open || isnan(at(radius, k)) || (isnan(want) && at(low, k) != 0)) {
            continue;
        }
        int same = isfinite(want)
                       ? fabs(values[k].value - want - at(low, k)) <= values[k].own_error + slack
                       : values[k].value == want || (isnan(want) && isnan(values[k].value));
        if (!same) {
            fail_msg("%s/%s, %s[%zu]: %a%+a, second oracle %a own error %a", v->group, v->name,
                     what, k, want, at(low, k), values[k].value, values[k].own_error);
        }
        ++*compared;
    }
}

/*
 * Own-error intervals meet; each is narrower than a quarter of every radius. Two exceptions: models
 * that compute in binary64, where the second oracle is no better than a kernel and MPFR judges; and
 * a huge softcap, by which the second oracle bounds its tanh.
 */
static void agree_both(const attest_vector *v, const attn_enclosure *first,
                       const attn_gsl_value *second, size_t count,
                       const attest_tensor *const *radius, const char *what) {
    for (size_t k = 0; k < count; k++) {
        if (first[k].kind != ATTN_FINITE || second[k].open) {
            continue;
        }
        double apart = fabs(second[k].value - first[k].high - first[k].low);
        double widest = fmax(first[k].own_error, second[k].own_error);
        int narrow = 1, huge_cap = v->problem.softcap > 0x1p20;
        for (int m = 0; m < v->models; m++) {
            int in_binary64 = attn_model_find(v->model[m])->sum.u < 0x1p-24;
            narrow &= in_binary64 || huge_cap || isnan(at(radius[m], k)) ||
                      widest <= at(radius[m], k) / 4;
        }
        if (!(apart <= first[k].own_error + second[k].own_error) || !narrow) {
            fail_msg("%s/%s, %s[%zu]: first oracle %a%+a own error %a, second %a own error %a",
                     v->group, v->name, what, k, first[k].high, first[k].low, first[k].own_error,
                     second[k].value, second[k].own_error);
        }
    }
}

static void compare_oracles(const attest_vector *v, const attest_problem *p,
                            const attn_profile *profile, const attn_gsl_value *o,
                            const attn_gsl_value *lse) {
    attn_normal normal;
    char why[ATTEST_MESSAGE_BYTES] = "";
    attn_enclosure *first_o = calloc(count_of(&p->o) + 1, sizeof *first_o);
    attn_enclosure *first_lse = calloc(count_of(&p->lse) + 1, sizeof *first_lse);
    const attn_model *strictest = attn_model_find(v->model[0]);
    assert_true(first_o && first_lse);
    assert_int_equal(attn_normalise(&normal, p, profile, 0, why), ATTEST_OK);
    assert_int_equal(attn_oracle(&normal, strictest, 1, first_o, first_lse, why), ATTEST_OK);
    agree_both(v, first_o, o, count_of(&p->o), v->o_radius, "o");
    agree_both(v, first_lse, lse, count_of(&p->lse), v->lse_radius, "lse");
    free(first_o);
    free(first_lse);
}

static void test_second_oracle_agrees(void **state) {
    (void)state;
    int compared = 0;
    for (size_t k = 0; k < corpus.count; k++) {
        const attest_vector *v = &corpus.vectors[k];
        if (!v->stored || !v->valid) {
            continue;
        }
        attn_profile profile = profile_of(v);
        attest_problem p = with_outputs(v);
        attn_gsl_value *o = calloc(count_of(&p.o) + 1, sizeof *o);
        attn_gsl_value *lse = calloc(count_of(&p.lse) + 1, sizeof *lse);
        assert_int_equal(attn_oracle_gsl(&p, &profile, o, lse), ATTEST_OK);
        agree_gsl(v, o, v->o_high, v->o_low, v->o_radius[0], "o", &compared);
        agree_gsl(v, lse, v->lse_high, v->lse_low, v->lse_radius[0], "lse", &compared);
        compare_oracles(v, &p, &profile, o, lse);
        free(o);
        free(lse);
        free_outputs(&p);
    }
    print_message("# %d elements compared with the second oracle\n", compared);
    assert_true(compared > 20000);
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A corpus of one group, the smallest, cut out of the manifest. */
static unsigned char *one_group(const unsigned char *text, size_t bytes, size_t *left) {
    const char *start = strstr((const char *)text, "\"groups\": [");
    const char *group = strstr((const char *)text, "{\n   \"name\": \"cache\"");
    const char *end = group ? strstr(group, "\n   ]}") : NULL;
    assert_true(start && end && bytes > 0);
    char *cut = calloc(bytes + 1, 1);
    assert_non_null(cut);
    memcpy(cut, text, (size_t)(start - (const char *)text));
    strcat(cut, "\"groups\": [");
    strncat(cut, group, (size_t)(end + 6 - group));
    strcat(cut, "]}");
    *left = strlen(cut);
    return (unsigned char *)cut;
}

static void write_at(const char *folder, const char *name, const unsigned char *bytes,
                     size_t count) {
    char path[128], why[ATTEST_MESSAGE_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(attest_write_file(path, bytes, count, why), 0);
}

static void write_hash(const char *folder, const unsigned char *bytes, size_t count) {
    unsigned char hash[32];
    char text[65];
    crypto_generichash(hash, sizeof hash, bytes, count, NULL, 0);
    sodium_bin2hex(text, sizeof text, hash, sizeof hash);
    write_at(folder, "manifest.b2", (const unsigned char *)text, 64);
}

/* Half of the manifests carry the hash of the damaged one: their content alone must not harm. */
static void test_damaged_corpora(void **state) {
    (void)state;
    char folder[] = "/tmp/attest-damage-XXXXXX", path[128], why[ATTEST_MESSAGE_BYTES] = "";
    size_t whole, manifest_bytes, data_bytes;
    attest_corpus damaged;
    uint64_t seed = 0x2545f4914f6cdd1du;
    int refused_data = 0, refused_manifest = 0, manifests = 0, rehashed = 0, refused_rehashed = 0;
    unsigned char *text = attest_read_file("vectors/manifest.json", 1 << 26, &whole, why);
    unsigned char *data =
        attest_read_file("vectors/data/cache.safetensors", 1 << 26, &data_bytes, why);
    assert_non_null(text);
    assert_non_null(data);
    unsigned char *manifest = one_group(text, whole, &manifest_bytes);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/data", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    write_at(folder, "manifest.json", manifest, manifest_bytes);
    write_hash(folder, manifest, manifest_bytes);
    write_at(folder, "data/cache.safetensors", data, data_bytes);
    if (attest_corpus_open(&damaged, folder, why) != 0) {
        fail_msg("undamaged: %s", why);
    }
    attest_corpus_close(&damaged);
    for (int k = 0; k < DAMAGED_FILES; k++) {
        int hit_data = k % 2;
        unsigned char *bytes = hit_data ? data : manifest;
        size_t count = hit_data ? data_bytes : manifest_bytes, where = next_random(&seed) % count;
        const char *name = hit_data ? "data/cache.safetensors" : "manifest.json";
        int cut = next_random(&seed) % 4 == 0;
        unsigned char bit = (unsigned char)(1u << next_random(&seed) % 8);
        bytes[where] ^= cut ? 0 : bit;
        write_at(folder, name, bytes, cut ? where : count);
        int rehash = k % 4 == 0;
        if (rehash) {
            write_hash(folder, bytes, cut ? where : count);
        }
        why[0] = '\0';
        int status = attest_corpus_open(&damaged, folder, why);
        assert_true(status == 0 || why[0] != '\0');
        attest_corpus_close(&damaged);
        refused_data += hit_data && status != 0;
        refused_manifest += !hit_data && !rehash && status != 0;
        manifests += !hit_data && !rehash;
        refused_rehashed += rehash && status != 0;
        rehashed += rehash;
        bytes[where] ^= cut ? 0 : bit;
        write_at(folder, name, bytes, count);
        write_hash(folder, manifest, manifest_bytes);
    }
    print_message("# refused: %d of %d damaged data files, %d of %d damaged manifests, %d of %d"
                  " with a hash to match\n",
                  refused_data, DAMAGED_FILES / 2, refused_manifest, manifests, refused_rehashed,
                  rehashed);
    assert_int_equal(refused_data, DAMAGED_FILES / 2);
    assert_int_equal(refused_manifest, manifests);
    assert_true(refused_rehashed > rehashed / 4);
    static const char *const made[] = {"data/cache.safetensors", "data", "manifest.json",
                                       "manifest.b2", ""};
    for (size_t k = 0; k < 5; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, made[k]);
        remove(path);
    }
    free(text);
    free(data);
    free(manifest);
}

/* Every profile in use comes back from its numbers; a number beyond an enumeration is refused. */
static void test_profiles_as_numbers(void **state) {
    (void)state;
    for (size_t n = 0; n < corpus.count; n++) {
        const attn_profile profile = profile_of(&corpus.vectors[n]);
        attn_profile again = attn_profile_attest;
        int numbers[ATTEST_PROFILE_FIELDS], others[ATTEST_PROFILE_FIELDS];
        attest_profile_numbers(&profile, numbers);
        assert_int_equal(attest_profile_of_numbers(&again, numbers), 0);
        attest_profile_numbers(&again, others);
        assert_memory_equal(numbers, others, sizeof numbers);
        for (int k = 0; k < ATTEST_PROFILE_FIELDS; k++) {
            for (int wrong = -1; wrong <= 5; wrong += 6) {
                memcpy(others, numbers, sizeof numbers);
                others[k] = wrong;
                assert_int_equal(attest_profile_of_numbers(&again, others), -1);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_is_inside),
        cmocka_unit_test(test_wrong_outputs_are_rejected),
        cmocka_unit_test(test_first_oracle_agrees),
        cmocka_unit_test(test_second_oracle_agrees),
        cmocka_unit_test(test_damaged_corpora),
        cmocka_unit_test(test_profiles_as_numbers),
    };
    return cmocka_run_group_tests(tests, open_corpus, close_corpus);
}
