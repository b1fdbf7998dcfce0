/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A corpus of one data file. The input is the text of manifest.json, a byte of 0, and the data
 * file; HASH in the text becomes the hash of that file, and manifest.b2 is that of the text: no
 * mutation would find them.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/core/fuzz_target.h"
#include "reference/problem/normal.h"
#include "vectors/read/manifest.h"

static const char hash_word[] = "HASH";

/* The text with every HASH replaced; to be freed. */
static char *with_hash(const uint8_t *text, size_t size, const char *hash, size_t *result_size) {
    const size_t word = sizeof hash_word - 1, digits = strlen(hash);
    char *result = malloc(size / word * digits + size + 1);
    size_t used = 0;
    for (size_t n = 0; result && n < size;) {
        if (n + word <= size && memcmp(text + n, hash_word, word) == 0) {
            memcpy(result + used, hash, digits);
            used += digits;
            n += word;
        } else {
            result[used++] = (char)text[n++];
        }
    }
    *result_size = used;
    return result;
}

static void judge_all(const attest_vector *vector) {
    char message[ATTEST_MESSAGE_BYTES] = "";
    attn_normal normal;
    if (!vector->stored) {
        return;
    }
    attn_normalise(&normal, &vector->problem, &attn_profile_attest, 1, message);
    for (int k = 0; k < vector->wrongs; k++) {
        for (int m = 0; m < vector->models; m++) {
            attest_vector_judge(vector, vector->model[m], vector->wrong[k], vector->lse_high,
                                message);
        }
    }
}

void attest_fuzz_input(const uint8_t *data, size_t size) {
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    size_t text_size = end ? (size_t)(end - data) : size;
    size_t file_size = end ? size - text_size - 1 : 0, bytes;
    unsigned char hash[32];
    char digits[65], message[ATTEST_MESSAGE_BYTES] = "";
    attest_corpus corpus;
    crypto_generichash(hash, sizeof hash, end ? end + 1 : (const uint8_t *)"", file_size, NULL, 0);
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    char *text = with_hash(data, text_size, digits, &bytes);
    if (text == NULL) {
        return;
    }
    attest_fuzz_file("manifest.json", text, bytes);
    crypto_generichash(hash, sizeof hash, (const unsigned char *)text, bytes, NULL, 0);
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    attest_fuzz_file("manifest.b2", digits, strlen(digits));
    attest_fuzz_file("data/a.safetensors", end ? end + 1 : NULL, file_size);
    free(text);
    if (attest_corpus_open(&corpus, attest_fuzz_directory(), message) != 0) {
        if (message[0] == '\0' || corpus.count != 0) {
            attest_fuzz_stop("manifest: refused without a reason");
        }
        return;
    }
    for (size_t n = 0; n < corpus.count; n++) {
        judge_all(&corpus.vectors[n]);
    }
    attest_corpus_close(&corpus);
}
