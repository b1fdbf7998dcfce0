/* SPDX-License-Identifier: Apache-2.0 */
/* The changes of mutate.c as a library for AFL++: AFL_CUSTOM_MUTATOR_LIBRARY=.../afl_mutator.so. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/core/examine.h"

typedef struct mutator {
    unsigned seed;
    unsigned char bytes[FUZZ_MOST_BYTES];
} mutator;

void *afl_custom_init(void *afl, unsigned seed);
size_t afl_custom_fuzz(void *data, uint8_t *input, size_t size, uint8_t **out, uint8_t *other,
                       size_t other_size, size_t most);
void afl_custom_deinit(void *data);

void *afl_custom_init(void *afl, unsigned seed) {
    mutator *m = malloc(sizeof *m);
    (void)afl;
    if (m != NULL) {
        m->seed = seed;
    }
    return m;
}

size_t afl_custom_fuzz(void *data, uint8_t *input, size_t size, uint8_t **out, uint8_t *other,
                       size_t other_size, size_t most) {
    mutator *m = data;
    const size_t room = most < sizeof m->bytes ? most : sizeof m->bytes;
    *out = m->bytes;
    m->seed = m->seed * 1664525u + 1013904223u;
    if (other != NULL && other_size > 0 && (m->seed >> 29) == 0) {
        return attest_fuzz_cross(input, size, other, other_size, m->bytes, room, m->seed);
    }
    size = size < room ? size : room;
    memcpy(m->bytes, input, size);
    return attest_fuzz_mutate(m->bytes, size, room, m->seed);
}

void afl_custom_deinit(void *data) { free(data); }
