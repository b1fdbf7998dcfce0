/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "fuzz/core/examine.h"

/* libFuzzer's own; absent in other engines. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room) __attribute__((weak));

static unsigned next(unsigned *state) { /* a linear congruence; its high bits are good enough */
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* A field that was missing becomes present with the zeros before it. */
static size_t grow(unsigned char *bytes, size_t size, size_t wanted, size_t room) {
    wanted = wanted < room ? wanted : room;
    if (size < wanted) {
        memset(bytes + size, 0, wanted - size);
        return wanted;
    }
    return size;
}

static size_t change_field(unsigned char *bytes, size_t size, size_t room, unsigned *state) {
    size_t field = next(state) % FUZZ_FIELDS;
    size = grow(bytes, size, field + 1, room);
    if (field >= size) {
        return size;
    }
    switch (next(state) % 6) {
    case 0:
        bytes[field] = 0;
        break;
    case 1:
        bytes[field]++;
        break;
    case 2:
        bytes[field]--;
        break;
    case 3:
        bytes[field] ^= (unsigned char)(1u << next(state) % 8);
        break;
    case 4:
        bytes[field] = (unsigned char)(next(state) % 8);
        break;
    default:
        bytes[field] = (unsigned char)next(state);
    }
    return size;
}

/* Turns one option on or off, with one of its values. */
static size_t change_option(unsigned char *bytes, size_t size, size_t room, unsigned *state) {
    unsigned bit = next(state) % 12;
    size = grow(bytes, size, FUZZ_FIELDS, room);
    if (size > FUZZ_FEATURES_HIGH) {
        bytes[FUZZ_FEATURES + bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    return size;
}

static size_t add_patch(unsigned char *bytes, size_t size, size_t room, unsigned *state) {
    size = grow(bytes, size, FUZZ_FIELDS, room);
    if (size < FUZZ_FIELDS || size + FUZZ_PATCH_BYTES > room || size >= FUZZ_MOST_BYTES) {
        return size;
    }
    unsigned char *patch = bytes + size;
    patch[0] = (unsigned char)(next(state) % ATTN_INPUTS);
    patch[1] = (unsigned char)next(state);
    patch[2] = next(state) % 4 ? 0 : (unsigned char)next(state);
    patch[3] = (unsigned char)(next(state) % 2 ? 0xf0 | next(state) % 16 : next(state));
    return size + FUZZ_PATCH_BYTES;
}

static size_t drop_patch(unsigned char *bytes, size_t size, unsigned *state) {
    size_t count = size > FUZZ_FIELDS ? (size - FUZZ_FIELDS) / FUZZ_PATCH_BYTES : 0;
    if (count == 0) {
        return size;
    }
    size_t at = FUZZ_FIELDS + next(state) % count * FUZZ_PATCH_BYTES;
    memmove(bytes + at, bytes + at + FUZZ_PATCH_BYTES, size - at - FUZZ_PATCH_BYTES);
    return size - FUZZ_PATCH_BYTES;
}

size_t attest_fuzz_mutate(unsigned char *bytes, size_t size, size_t room, unsigned seed) {
    unsigned state = seed;
    room = room < FUZZ_MOST_BYTES ? room : FUZZ_MOST_BYTES;
    size = size < room ? size : room;
    for (unsigned rounds = 1 + next(&state) % 4; rounds > 0; rounds--) {
        switch (next(&state) % 10) {
        case 0:
            size = add_patch(bytes, size, room, &state);
            break;
        case 1:
            size = drop_patch(bytes, size, &state);
            break;
        case 2:
        case 3:
            size = change_option(bytes, size, room, &state);
            break;
        case 4:
            if (LLVMFuzzerMutate && room > 0) {
                size = LLVMFuzzerMutate(bytes, size, room);
            }
            break;
        default:
            size = change_field(bytes, size, room, &state);
        }
    }
    return size;
}

/* Each field from one parent or the other, then patches of both. */
size_t attest_fuzz_cross(const unsigned char *a, size_t a_size, const unsigned char *b,
                         size_t b_size, unsigned char *out, size_t room, unsigned seed) {
    unsigned state = seed;
    size_t size = 0, fields = a_size > b_size ? a_size : b_size;
    fields = fields < FUZZ_FIELDS ? fields : FUZZ_FIELDS;
    for (; size < fields && size < room; size++) {
        unsigned char left = size < a_size ? a[size] : 0, right = size < b_size ? b[size] : 0;
        out[size] = next(&state) % 2 ? left : right;
    }
    for (int k = 0; k < 2; k++) {
        const unsigned char *from = k ? b : a;
        size_t from_size = k ? b_size : a_size;
        for (size_t at = FUZZ_FIELDS; at + FUZZ_PATCH_BYTES <= from_size; at += FUZZ_PATCH_BYTES) {
            if (size >= FUZZ_FIELDS && size + FUZZ_PATCH_BYTES <= room && next(&state) % 2) {
                memcpy(out + size, from + at, FUZZ_PATCH_BYTES);
                size += FUZZ_PATCH_BYTES;
            }
        }
    }
    return size;
}
