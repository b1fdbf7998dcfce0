/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/evidence/bundle.h"

#include <stdlib.h>
#include <string.h>

#include "certify/evidence/event.h"

static unsigned char *read_all(const char *path, size_t *count) {
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    size_t room = 0, used = 0;
    while (file != NULL) {
        if (used == room) {
            room = room ? 2 * room : 1 << 16;
            unsigned char *more = realloc(bytes, room);
            if (more == NULL) {
                break;
            }
            bytes = more;
        }
        used += fread(bytes + used, 1, room - used, file);
        if (used < room) {
            const int fine = feof(file) && !ferror(file);
            fclose(file);
            if (!fine) {
                free(bytes);
                return NULL;
            }
            *count = used;
            return bytes;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    free(bytes);
    return NULL;
}

static uint64_t number_at(const unsigned char *bytes) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) {
        value = value << 8 | bytes[i];
    }
    return value;
}

static attest_bundle_end end_of(const unsigned char *bytes) {
    attest_bundle_end end = {.blob_bytes = number_at(bytes), .header_bytes = number_at(bytes + 8)};
    memcpy(end.hash, bytes + 16, sizeof end.hash);
    memcpy(end.key, bytes + 48, sizeof end.key);
    memcpy(end.signature, bytes + 48 + sizeof end.key, sizeof end.signature);
    return end;
}

/* What is wrong with the bytes; NULL if nothing is. */
static const char *examine(attest_bundle *b, size_t count) {
    unsigned char hash[32];
    if (count < 8 + ATTEST_BUNDLE_END_BYTES || memcmp(b->bytes, ATTEST_BUNDLE_MAGIC, 8) != 0) {
        return "it is no bundle of attest";
    }
    const size_t body = count - ATTEST_BUNDLE_END_BYTES;
    const attest_bundle_end end = end_of(b->bytes + body);
    crypto_generichash(hash, sizeof hash, b->bytes, body + 16, NULL, 0);
    if (memcmp(hash, end.hash, sizeof hash) != 0) {
        return "its hash is wrong: it was altered or cut";
    }
    b->signed_ = !sodium_is_zero(end.key, sizeof end.key);
    if (!b->signed_ && !sodium_is_zero(end.signature, sizeof end.signature)) {
        return "it has a signature without a key";
    }
    if (b->signed_ && crypto_sign_verify_detached(end.signature, hash, sizeof hash, end.key) != 0) {
        return "its signature is wrong";
    }
    memcpy(b->key, end.key, sizeof b->key);
    sodium_bin2hex(b->hash, sizeof b->hash, hash, sizeof hash);
    if (end.blob_bytes > body - 8 || end.header_bytes != body - 8 - end.blob_bytes) {
        return "its lengths do not fit";
    }
    b->blob_bytes = end.blob_bytes;
    b->header = json_loadb((const char *)b->bytes + 8 + end.blob_bytes, end.header_bytes,
                           JSON_REJECT_DUPLICATES, NULL);
    b->events = json_object_get(b->header, "events");
    const char *schema = json_string_value(json_object_get(b->header, "schema"));
    return schema == NULL || strcmp(schema, "attest-bundle-1") != 0 || !json_is_array(b->events)
               ? "its header makes no sense"
               : NULL;
}

static void trouble(attest_event *event, const char *why) {
    event->outcome = (attest_outcome){.ending = ATTEST_ENDING_TROUBLE};
    attest_tell(&event->outcome, "the bundle %s", why);
}

static void play(attest_tape *tape, size_t number, attest_event *event, const attest_stage *stage) {
    attest_bundle *b = (attest_bundle *)tape;
    if (number != b->number) {
        b->number = number;
        b->next = 0;
    }
    const json_t *list = json_array_get(b->events, number);
    const json_t *one = json_array_get(list, b->next);
    attest_event recorded;
    uint64_t offset = 0, bytes = 0;
    const int there = one != NULL && attest_event_load(one, &recorded, &offset, &bytes);
    if (event->kind == ATTEST_EVENT_START && !(there && recorded.kind == ATTEST_EVENT_START)) {
        event->outcome.ending = ATTEST_ENDING_RETURNED; /* only failures to load are recorded */
        return;
    }
    if (!there || recorded.kind != event->kind || recorded.callers != event->callers) {
        trouble(event, "has no answer to this question");
        return;
    }
    b->next++;
    if (recorded.seen.inputs_hash != event->seen.inputs_hash) {
        trouble(event, "answers to other inputs");
        return;
    }
    if (recorded.outcome.ending == ATTEST_ENDING_RETURNED && stage != NULL &&
        event->kind != ATTEST_CALL_SUPPORTS) {
        if (bytes != attest_outputs_bytes(stage) || offset > b->blob_bytes ||
            bytes > b->blob_bytes - offset) {
            trouble(event, "has outputs of another size");
            return;
        }
        attest_outputs_put(stage, b->bytes + 8 + offset);
    }
    *event = recorded;
}

int attest_bundle_used_up(const attest_bundle *b, size_t number) {
    const size_t events = json_array_size(json_array_get(b->events, number));
    return b->number == number ? b->next == events : events == 0;
}

int attest_bundle_open(attest_bundle *b, const char *path, char why[ATTEST_MESSAGE_BYTES]) {
    size_t count = 0;
    *b = (attest_bundle){.tape = {.playing = 1, .play = play}, .number = SIZE_MAX};
    b->bytes = read_all(path, &count);
    const char *fault = b->bytes == NULL ? "it cannot be read" : examine(b, count);
    if (fault != NULL) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "%.140s: %s", path, fault);
        attest_bundle_close(b);
        return 0;
    }
    return 1;
}

void attest_bundle_close(attest_bundle *b) {
    json_decref(b->header);
    free(b->bytes);
    b->header = b->events = NULL;
    b->bytes = NULL;
}

int attest_secret_load(const char *path, unsigned char secret[crypto_sign_SECRETKEYBYTES],
                       char why[ATTEST_MESSAGE_BYTES]) {
    unsigned char seed[crypto_sign_SEEDBYTES], key[crypto_sign_PUBLICKEYBYTES];
    char digits[2 * sizeof seed + 2] = "";
    size_t length = 0;
    FILE *file = fopen(path, "r");
    const int read = file != NULL && fgets(digits, sizeof digits, file) != NULL;
    if (file != NULL) {
        fclose(file);
    }
    digits[strcspn(digits, "\n")] = '\0';
    const int fine =
        read && strlen(digits) == 2 * sizeof seed &&
        sodium_hex2bin(seed, sizeof seed, digits, strlen(digits), NULL, &length, NULL) == 0 &&
        length == sizeof seed && crypto_sign_seed_keypair(key, secret, seed) == 0;
    sodium_memzero(seed, sizeof seed);
    sodium_memzero(digits, sizeof digits);
    if (!fine) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "--sign: %.120s does not hold 64 hexadecimal digits",
                 path);
    }
    return fine;
}

void attest_file_digest(const char *path, char digest[65]) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    size_t count = 0;
    unsigned char *bytes = read_all(path, &count);
    digest[0] = '\0';
    if (bytes != NULL) {
        crypto_hash_sha256(hash, bytes, count);
        sodium_bin2hex(digest, 65, hash, sizeof hash);
    }
    free(bytes);
}
