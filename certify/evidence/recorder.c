/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "certify/evidence/bundle.h"
#include "certify/evidence/event.h"

/* Where outputs lie that were written before; kernels mostly answer the same to the same. */
typedef struct known_blob {
    unsigned char hash[16];
    uint64_t offset;
    int used;
} known_blob;

struct attest_recorder {
    attest_tape tape;
    FILE *file;
    crypto_generichash_state hash;
    uint64_t blob_bytes;
    json_t **events; /* a list a case, NULL: none yet */
    size_t room;
    known_blob *known;
    size_t known_room, known_count;
    int failed;
    pthread_mutex_t lock;
};

static void put(attest_recorder *r, const void *bytes, size_t count) {
    crypto_generichash_update(&r->hash, bytes, count);
    r->failed = r->failed || fwrite(bytes, 1, count, r->file) != count;
}

static known_blob *place_of(known_blob *table, size_t room, const unsigned char hash[16]) {
    size_t at;
    memcpy(&at, hash, sizeof at);
    for (at %= room; table[at].used && memcmp(table[at].hash, hash, 16) != 0;) {
        at = (at + 1) % room;
    }
    return &table[at];
}

static int grow_known(attest_recorder *r) {
    const size_t room = r->known_room ? 2 * r->known_room : 1024;
    known_blob *table = calloc(room, sizeof *table);
    for (size_t i = 0; table != NULL && i < r->known_room; i++) {
        if (r->known[i].used) {
            *place_of(table, room, r->known[i].hash) = r->known[i];
        }
    }
    if (table == NULL) {
        return 0;
    }
    free(r->known);
    r->known = table;
    r->known_room = room;
    return 1;
}

static uint64_t keep_blob(attest_recorder *r, const unsigned char *bytes, uint64_t count) {
    unsigned char hash[16];
    if (2 * (r->known_count + 1) > r->known_room && !grow_known(r)) {
        r->failed = 1;
        return 0;
    }
    crypto_generichash(hash, sizeof hash, bytes, count, NULL, 0);
    known_blob *known = place_of(r->known, r->known_room, hash);
    if (!known->used) {
        memcpy(known->hash, hash, sizeof hash);
        known->used = 1;
        known->offset = r->blob_bytes;
        r->known_count++;
        put(r, bytes, count);
        r->blob_bytes += count;
    }
    return known->offset;
}

static json_t *events_of(attest_recorder *r, size_t number) {
    if (number >= r->room) {
        const size_t room = 2 * number + 1024;
        json_t **events = realloc(r->events, room * sizeof *events);
        if (events == NULL) {
            return NULL;
        }
        memset(events + r->room, 0, (room - r->room) * sizeof *events);
        r->events = events;
        r->room = room;
    }
    if (r->events[number] == NULL) {
        r->events[number] = json_array();
    }
    return r->events[number];
}

static void record(attest_tape *tape, size_t number, const attest_event *event,
                   const attest_stage *stage) {
    attest_recorder *r = (attest_recorder *)tape;
    const int has_outputs = stage != NULL && event->outcome.ending == ATTEST_ENDING_RETURNED;
    const uint64_t count = has_outputs ? attest_outputs_bytes(stage) : 0;
    unsigned char *bytes = malloc(count + 1);
    pthread_mutex_lock(&r->lock);
    json_t *list = bytes != NULL ? events_of(r, number) : NULL;
    if (list == NULL) {
        r->failed = 1;
    } else {
        if (count > 0) {
            attest_outputs_take(stage, bytes);
        }
        const uint64_t offset = count > 0 ? keep_blob(r, bytes, count) : 0;
        json_array_append_new(list, attest_event_json(event, offset, count));
    }
    pthread_mutex_unlock(&r->lock);
    free(bytes);
}

attest_recorder *attest_recorder_open(const char *path) {
    attest_recorder *r = calloc(1, sizeof *r);
    if (r == NULL || (r->file = fopen(path, "wb")) == NULL) {
        free(r);
        return NULL;
    }
    r->tape.record = record;
    crypto_generichash_init(&r->hash, NULL, 0, 32);
    pthread_mutex_init(&r->lock, NULL);
    put(r, ATTEST_BUNDLE_MAGIC, 8);
    return r;
}

attest_tape *attest_recorder_tape(attest_recorder *recorder) { return &recorder->tape; }

static void put_number(attest_recorder *r, uint64_t value) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(value >> 8 * i);
    }
    put(r, bytes, sizeof bytes);
}

static void sign(attest_recorder *r, const unsigned char *secret) {
    unsigned char hash[32], key[crypto_sign_PUBLICKEYBYTES] = {0},
                            signature[crypto_sign_BYTES] = {0};
    crypto_generichash_final(&r->hash, hash, sizeof hash);
    if (secret != NULL) {
        crypto_sign_ed25519_sk_to_pk(key, secret);
        crypto_sign_detached(signature, NULL, hash, sizeof hash, secret);
    }
    r->failed = r->failed || fwrite(hash, 1, sizeof hash, r->file) != sizeof hash ||
                fwrite(key, 1, sizeof key, r->file) != sizeof key ||
                fwrite(signature, 1, sizeof signature, r->file) != sizeof signature;
}

int attest_recorder_close(attest_recorder *r, json_t *header, size_t cases,
                          const unsigned char *secret) {
    json_t *list = json_array();
    for (size_t i = 0; i < cases; i++) {
        json_t *of_case = i < r->room && r->events[i] != NULL ? r->events[i] : json_array();
        json_array_append_new(list, of_case);
    }
    for (size_t i = cases; i < r->room; i++) {
        json_decref(r->events[i]);
    }
    json_object_set_new(header, "events", list);
    char *text = json_dumps(header, JSON_COMPACT);
    if (text != NULL) {
        put(r, text, strlen(text));
        put_number(r, r->blob_bytes);
        put_number(r, strlen(text));
        sign(r, secret);
    }
    const int fine = text != NULL && !r->failed;
    const int closed = fclose(r->file) == 0;
    free(text);
    pthread_mutex_destroy(&r->lock);
    free(r->events);
    free(r->known);
    free(r);
    return fine && closed;
}
