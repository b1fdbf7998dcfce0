/* SPDX-License-Identifier: Apache-2.0 */
/* splitmix.h - random numbers that are the same on every machine. */
#ifndef SPLITMIX_H
#define SPLITMIX_H

#include <stdint.h>

static inline uint64_t draw(uint64_t *state) { /* splitmix64 */
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline int64_t between(uint64_t *state, int64_t low, int64_t high) {
    uint64_t span = (uint64_t)high - (uint64_t)low + 1; /* in uint64_t: it may pass INT64_MAX */
    return (int64_t)((uint64_t)low + draw(state) % span);
}

#endif
