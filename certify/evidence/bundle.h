/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bundle.h - a run as one file that can be judged again without the kernel (spec/bundle.md): every
 * answer the kernel gave, with the report that was made of them. Whatever is altered in the file is
 * noticed; a signature says who vouches for it.
 */
#ifndef ATTEST_BUNDLE_H
#define ATTEST_BUNDLE_H

#include <jansson.h>
#include <sodium.h>
#include <stdio.h>

#include "certify/host/tape.h"
#include "certify/plan/case.h"

#define ATTEST_BUNDLE_MAGIC "ATTESTB1"

typedef struct attest_bundle_end {
    uint64_t blob_bytes, header_bytes;             /* little endian in the file */
    unsigned char hash[32];                        /* BLAKE2b of all that precedes it */
    unsigned char key[crypto_sign_PUBLICKEYBYTES]; /* zeros: not signed */
    unsigned char signature[crypto_sign_BYTES];    /* of the hash */
} attest_bundle_end;
enum { ATTEST_BUNDLE_END_BYTES = 8 + 8 + 32 + crypto_sign_PUBLICKEYBYTES + crypto_sign_BYTES };

/* Writing: the tape's outputs go to the file at once, the rest at the end. */
typedef struct attest_recorder attest_recorder;

/* NULL if the file cannot be written. */
attest_recorder *attest_recorder_open(const char *path);
attest_tape *attest_recorder_tape(attest_recorder *recorder);

/* Adds the events to `header` and ends the file. `secret`: of crypto_sign_SECRETKEYBYTES, or NULL.
 * 1, or 0 if something could not be written. The recorder is gone in any case. */
int attest_recorder_close(attest_recorder *recorder, json_t *header, size_t cases,
                          const unsigned char *secret);

/* Reading: all of it is in memory and checked before anything of it is used. */
typedef struct attest_bundle {
    attest_tape tape; /* first: a tape is part of its bundle */
    unsigned char *bytes;
    size_t blob_bytes;
    json_t *header, *events; /* events: of each case */
    size_t number, next;     /* of the case that plays, and its next event */
    int signed_;
    unsigned char key[crypto_sign_PUBLICKEYBYTES];
    char hash[65];
} attest_bundle;

/* 1, or 0 with a reason. */
int attest_bundle_open(attest_bundle *bundle, const char *path, char why[ATTEST_MESSAGE_BYTES]);
void attest_bundle_close(attest_bundle *bundle);

/* Whether the case that played last used all its events. */
int attest_bundle_used_up(const attest_bundle *bundle, size_t number);

/* The Ed25519 key of which a file has the seed, as 64 hexadecimal digits. 1, or 0 with a reason. */
int attest_secret_load(const char *path, unsigned char secret[crypto_sign_SECRETKEYBYTES],
                       char why[ATTEST_MESSAGE_BYTES]);

/* SHA-256 of a file as 64 digits; empty if it cannot be read. */
void attest_file_digest(const char *path, char digest[65]);

#endif
