/* SPDX-License-Identifier: Apache-2.0 */
/* threaded - rows shared out to threads, a scratch for each; wrong at the shares or the scratch. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <time.h>

#include "impl/wrong/mutants/base.h"

#define FAMILY "threaded"
enum {
    CORRECT,
    SCRATCH_FOR_EVEN_THREADS,
    SCRATCH_SHARED,
    SCRATCH_STATIC,
    REMAINDER_NOT_DONE,
    NOTHING_DONE_BY_MANY_THREADS,
    LAST_THREAD_NOT_JOINED,
    ROWS_COUNTED_IN_16_BITS,
    ORDER_BY_THREADS,
    FOURTH_THREAD_SKIPS_LSE,
    STALE_QUERY_AT_SHARE_START
};
enum { MOST_THREADS = 64, STATIC_FLOATS = 1 << 14 };

typedef struct share {
    const attn_normal *n;
    void *memory;
    int64_t begin, end; /* rows, counted over batch entries and heads */
    int64_t threads, number;
} share;

static int64_t thread_count(const attn_normal *n) {
    int64_t threads = n->problem->threads;
    return threads > MOST_THREADS ? MOST_THREADS : threads;
}

static uint64_t slot_bytes(const attn_normal *n) {
    uint64_t bytes = row_bytes(n);
    return bytes == NOWHERE ? NOWHERE : (bytes + 63) / 64 * 64;
}

static uint64_t scratch_bytes(const attn_normal *n) {
    uint64_t slots = (uint64_t)thread_count(n), bytes;
    if (MUTANT == SCRATCH_FOR_EVEN_THREADS && slots > 1) {
        slots -= slots % 2;
    }
    if (slot_bytes(n) == NOWHERE || __builtin_mul_overflow(slots, slot_bytes(n), &bytes)) {
        return NOWHERE;
    }
    return bytes;
}

static void reverse(float *x, int64_t size) {
    for (int64_t c = 0; c < size / 2; c++) {
        float swapped = x[c];
        x[c] = x[size - 1 - c];
        x[size - 1 - c] = swapped;
    }
}

static void one_row(row *r, const share *mine, int64_t number) {
    const attn_normal *n = r->n;
    attn_normal without_lse = *n;
    float stale = r->q[0];
    look(r);
    gather(r);
    if (MUTANT == SCRATCH_SHARED || MUTANT == SCRATCH_STATIC) {
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL); /* a longer row, in effect */
    }
    if (MUTANT == STALE_QUERY_AT_SHARE_START && number == mine->begin && mine->number > 0) {
        r->q[0] = stale; /* what the scratch held */
    }
    if (MUTANT == ORDER_BY_THREADS && mine->threads > 1) { /* the same sums, other bits */
        reverse(r->q, n->head_size);
        for (int64_t j = 0; j < n->keys; j++) {
            reverse(r->k + j * n->head_size, r->visible[j] ? n->head_size : 0);
        }
    }
    attend(r);
    without_lse.features &= ~ATTEST_LSE;
    if (MUTANT == FOURTH_THREAD_SKIPS_LSE && mine->number == 3) {
        r->n = &without_lse;
    }
    deliver(r);
    r->n = n;
}

static void *work(void *argument) {
    const share *mine = argument;
    const attn_normal *n = mine->n;
    const struct timespec pause = {.tv_nsec = 2000000};
    row r;
    row_open(&r, n, mine->memory);
    if (MUTANT == LAST_THREAD_NOT_JOINED && mine->number == mine->threads - 1) {
        nanosleep(&pause, NULL); /* the others have more to do */
    }
    for (int64_t number = mine->begin; number < mine->end; number++) {
        int64_t at = MUTANT == ROWS_COUNTED_IN_16_BITS ? (uint16_t)number : number;
        r.b = at / (n->q_heads * n->queries);
        r.h = at / n->queries % n->q_heads;
        r.i = at % n->queries;
        one_row(&r, mine, number);
    }
    return NULL;
}

static void divide(share *shares, const attn_normal *n, int64_t threads) {
    int64_t rows = n->batch * n->q_heads * n->queries, each = (rows + threads - 1) / threads;
    static float static_scratch[STATIC_FLOATS];
    if (MUTANT == REMAINDER_NOT_DONE && threads > 1) {
        each = rows / threads;
    }
    for (int64_t number = 0; number < threads; number++) {
        int64_t begin = number * each, end = begin + each;
        char *memory = n->problem->workspace;
        memory += number * (int64_t)slot_bytes(n);
        if (MUTANT == SCRATCH_SHARED) {
            memory = n->problem->workspace;
        }
        if (MUTANT == SCRATCH_STATIC && row_bytes(n) <= sizeof static_scratch && number == 0) {
            memory = (char *)static_scratch;
        }
        if (MUTANT == NOTHING_DONE_BY_MANY_THREADS && threads > rows) {
            end = begin;
        }
        shares[number] = (share){.n = n,
                                 .memory = memory,
                                 .begin = begin < rows ? begin : rows,
                                 .end = end < rows ? end : rows,
                                 .threads = threads,
                                 .number = number};
    }
}

/* Everything a thread looks at. */
typedef struct job {
    attest_problem problem;
    attn_normal n;
    share shares[MOST_THREADS];
    pthread_t ids[MOST_THREADS];
    int started[MOST_THREADS];
} job;

static void run(const attn_normal *n) {
    static job kept;
    job here, *all = MUTANT == LAST_THREAD_NOT_JOINED ? &kept : &here;
    int64_t threads = thread_count(n);
    int64_t joined = MUTANT == LAST_THREAD_NOT_JOINED && threads > 1 ? threads - 1 : threads;
    all->problem = *n->problem;
    all->n = *n;
    all->n.problem = &all->problem;
    divide(all->shares, &all->n, threads);
    for (int64_t t = 1; t < threads; t++) {
        all->started[t] = pthread_create(&all->ids[t], NULL, work, &all->shares[t]) == 0;
        if (!all->started[t]) {
            work(&all->shares[t]);
        }
    }
    work(&all->shares[0]);
    for (int64_t t = 1; t < joined; t++) {
        if (all->started[t]) {
            pthread_join(all->ids[t], NULL);
        }
    }
}

#include "impl/wrong/mutants/mutant_entry.h"
