/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/evidence/statement.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/result/output.h"

static const char payload_type[] = "application/vnd.in-toto+json";

static json_t *predicate(const attest_report *r, const attest_certificate *c) {
    json_t *passed = json_array(), *warned = json_array(), *failed = json_array();
    for (int i = 0; i < attest_requirement_count(); i++) {
        const char *word = attest_requirement_word(&c->state[i]);
        json_t *list = word == NULL                       ? NULL
                       : strcmp(word, "passed") == 0      ? passed
                       : strcmp(word, "failed") == 0      ? failed
                       : strcmp(word, "in question") == 0 ? failed
                                                          : warned;
        if (list != NULL) {
            json_array_append_new(list, json_string(attest_requirement_at(i)->id));
        }
    }
    char seed[24], configuration[160];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->seed);
    snprintf(configuration, sizeof configuration,
             "attest %s, specification %s, level %.15s, seed %s", ATTEST_SUITE_VERSION,
             ATTEST_SPEC_VERSION, r->level, seed);
    return json_pack("{s:s,s:[{s:s,s:{s:s,s:s,s:s,s:s}}],s:o,s:o,s:o}", "result",
                     !c->certified      ? "FAILED"
                     : c->restricted[0] ? "WARNED"
                                        : "PASSED",
                     "configuration", "name", configuration, "annotations", "profile", r->profile,
                     "model", r->model, "restricted", c->restricted, "reason", c->reason,
                     "passedTests", passed, "warnedTests", warned, "failedTests", failed);
}

/* What is signed: type and payload with their lengths, so that neither can pass for the other. */
static json_t *envelope(const char *payload, const unsigned char *secret) {
    const size_t length = strlen(payload), room = length + 128;
    unsigned char signature[crypto_sign_BYTES], key[crypto_sign_PUBLICKEYBYTES];
    char *text = malloc(room), key_digits[2 * sizeof key + 1];
    char *encoded = malloc(sodium_base64_ENCODED_LEN(length, sodium_base64_VARIANT_ORIGINAL));
    char signed_text[sodium_base64_ENCODED_LEN(crypto_sign_BYTES, sodium_base64_VARIANT_ORIGINAL)];
    json_t *o = NULL;
    if (text != NULL && encoded != NULL) {
        const int used = snprintf(text, room, "DSSEv1 %zu %s %zu %s", strlen(payload_type),
                                  payload_type, length, payload);
        crypto_sign_detached(signature, NULL, (const unsigned char *)text, (unsigned long long)used,
                             secret);
        crypto_sign_ed25519_sk_to_pk(key, secret);
        sodium_bin2hex(key_digits, sizeof key_digits, key, sizeof key);
        sodium_bin2base64(encoded,
                          sodium_base64_ENCODED_LEN(length, sodium_base64_VARIANT_ORIGINAL),
                          (const unsigned char *)payload, length, sodium_base64_VARIANT_ORIGINAL);
        sodium_bin2base64(signed_text, sizeof signed_text, signature, sizeof signature,
                          sodium_base64_VARIANT_ORIGINAL);
        o = json_pack("{s:s,s:s,s:[{s:s,s:s}]}", "payload", encoded, "payloadType", payload_type,
                      "signatures", "keyid", key_digits, "sig", signed_text);
    }
    free(text);
    free(encoded);
    return o;
}

int attest_statement_write(const char *path, const attest_report *r, const attest_certificate *c,
                           const char digest[65], const unsigned char *secret) {
    json_t *root =
        json_pack("{s:s,s:[{s:s,s:{s:s}}],s:s,s:o}", "_type", "https://in-toto.io/Statement/v1",
                  "subject", "name", r->target, "digest", "sha256", digest, "predicateType",
                  "https://in-toto.io/attestation/test-result/v0.1", "predicate", predicate(r, c));
    if (root != NULL && secret != NULL) {
        char *payload = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
        json_decref(root);
        root = payload != NULL ? envelope(payload, secret) : NULL;
        free(payload);
    }
    attest_output output;
    FILE *out = root != NULL ? attest_output_open(&output, path) : NULL;
    const int dumped = out != NULL && json_dumpf(root, out, JSON_INDENT(1)) == 0;
    const int written = root != NULL && attest_output_close(&output) && dumped;
    json_decref(root);
    return written;
}
