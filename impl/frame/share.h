/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units of work, shared out to threads: each begins with neighbouring ones, so that what it
 * prefetches past the end of a unit is what it needs next, and helps the others when it is done.
 */
#ifndef ATTN_SHARE_H
#define ATTN_SHARE_H

#include <stdatomic.h>
#include <stdint.h>

/* Units next, next + 1, ... before end; a cache line each, as every thread writes its own. */
typedef struct attn_share {
    _Alignas(64) atomic_int_fast64_t next;
    int64_t end;
} attn_share;

static inline void attn_share_out(attn_share *share, int64_t threads, int64_t units) {
    int64_t start = 0;
    for (int64_t t = 0; t < threads; t++) {
        atomic_init(&share[t].next, start);
        start += units / threads + (t < units % threads);
        share[t].end = start;
    }
}

/* The next unit for thread `own`, or -1 when all are taken. */
static inline int64_t attn_take_unit(attn_share *share, int64_t threads, int64_t own) {
    for (int64_t n = 0; n < threads; n++) {
        attn_share *from = &share[(own + n) % threads];
        int64_t unit = from->end;
        if (atomic_load(&from->next) < from->end) { /* looking leaves the line where it is */
            unit = atomic_fetch_add(&from->next, 1);
        }
        if (unit < from->end) {
            return unit;
        }
    }
    return -1;
}

#endif
