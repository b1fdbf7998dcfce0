/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each ONNX vector that upstream withdrew is recognised as wrong, and for the reason that upstream
 * gave; no current one is. Needs ATTEST_ONNX_DIR, and in it `superseded` for the withdrawn ones.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "vectors/onnx/onnx.h"
#include "vectors/read/manifest.h"
#include "vectors/read/profile_read.h"

typedef struct tally {
    int cases, right;
    int not_split, tiled, softcap, offset, exchanged;
} tally;

static void count_words(const char *names, tally *sum) {
    sum->cases++;
    sum->right += names[0] == '\0';
    sum->not_split += strstr(names, "heads-not-split") != NULL;
    sum->tiled += strstr(names, "heads-tiled") != NULL;
    sum->softcap += strstr(names, "softcap-after-mask") != NULL;
    sum->offset += strstr(names, "offset-ignored") != NULL;
    sum->exchanged += strstr(names, "qk-modes-exchanged") != NULL;
}

static int diagnose_folder(const char *folder, tally *sum) {
    DIR *open_folder = opendir(folder);
    if (!open_folder) {
        return 0;
    }
    for (struct dirent *entry; (entry = readdir(open_folder));) {
        char path[4096], names[128], why[ATTEST_MESSAGE_BYTES] = "";
        attest_onnx_case loaded;
        if (strncmp(entry->d_name, "test_attention_", 15) != 0 ||
            strstr(entry->d_name, "_expanded")) {
            continue;
        }
        assert_true(snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path);
        if (attest_onnx_load(&loaded, path, why) != 0 ||
            attest_onnx_diagnose(&loaded, names, why) != 0) {
            fail_msg("%s: %s", path, why);
        }
        count_words(names, sum);
        attest_onnx_free(&loaded);
    }
    closedir(open_folder);
    return 1;
}

static const char *root_or_skip(void) {
    const char *root = getenv("ATTEST_ONNX_DIR");
    if (!root) {
        print_message("# ATTEST_ONNX_DIR is not set\n");
        skip();
    }
    return root;
}

static void test_current_cases_are_right(void **state) {
    (void)state;
    tally sum = {0};
    assert_true(diagnose_folder(root_or_skip(), &sum));
    print_message("# %d cases, %d right\n", sum.cases, sum.right);
    assert_true(sum.cases >= 47);
    /* Packages up to 1.21 still carry vectors that were corrected later. */
    assert_true(sum.cases < 64 || sum.right == sum.cases);
}

static void test_withdrawn_cases_are_named(void **state) {
    (void)state;
    static const struct {
        const char *folder;
        tally want;
    } releases[] = {{"v1.18.0", {29, 0, 22, 12, 2, 0, 1}}, {"v1.19.0", {17, 0, 0, 13, 2, 2, 2}}};
    const char *root = root_or_skip();
    for (size_t k = 0; k < sizeof releases / sizeof *releases; k++) {
        char folder[4096];
        tally sum = {0};
        snprintf(folder, sizeof folder, "%s/superseded/%s", root, releases[k].folder);
        if (!diagnose_folder(folder, &sum)) {
            print_message("# no folder superseded\n");
            skip();
        }
        print_message("# %s: %d cases; heads not split %d, tiled %d, softcap %d, offset %d,"
                      " modes %d\n",
                      releases[k].folder, sum.cases, sum.not_split, sum.tiled, sum.softcap,
                      sum.offset, sum.exchanged);
        assert_memory_equal(&sum, &releases[k].want, sizeof sum);
    }
}

static void test_compiled_profile_is_the_file(void **state) {
    (void)state;
    attn_profile read;
    char why[ATTEST_MESSAGE_BYTES] = "";
    assert_int_equal(attest_profile_read(&read, "spec/profiles", "onnx-24", why), 0);
    assert_memory_equal(&read, &attest_onnx_profile, sizeof read);
    assert_int_equal(attest_profile_read(&read, "spec/profiles", "attest", why), 0);
    assert_memory_equal(&read, &attn_profile_attest, sizeof read);
}

static void test_import_gives_a_corpus(void **state) {
    (void)state;
    char out[] = "/tmp/attest-import-XXXXXX", path[64], why[ATTEST_MESSAGE_BYTES] = "";
    attest_corpus corpus;
    const char *root = root_or_skip();
    assert_non_null(mkdtemp(out));
    if (attest_onnx_import(root, out, why) != 0 || attest_corpus_open(&corpus, out, why) != 0) {
        fail_msg("%s", why);
    }
    for (size_t k = 0; k < corpus.count; k++) {
        assert_true(corpus.vectors[k].stored && corpus.vectors[k].valid);
    }
    assert_true(corpus.count >= 47);
    attest_corpus_close(&corpus);
    static const char *const files[] = {"data/onnx.safetensors", "data", "manifest.json",
                                        "manifest.b2", "."};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        snprintf(path, sizeof path, "%s/%s", out, files[k]);
        assert_int_equal(remove(k == 4 ? out : path), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_current_cases_are_right),
                                       cmocka_unit_test(test_withdrawn_cases_are_named),
                                       cmocka_unit_test(test_compiled_profile_is_the_file),
                                       cmocka_unit_test(test_import_gives_a_corpus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
