/* SPDX-License-Identifier: Apache-2.0 */
/* decode - keys in splits, a partial softmax each, then a merge; wrong at splits and merging. */
#include "impl/wrong/mutants/base.h"

#define FAMILY "decode"
enum {
    CORRECT,
    /* splits */
    LAST_SPLIT_LOST,
    SPLIT_BY_BATCH_SIZE,
    SPLIT_WITHOUT_KEYS_NAN,
    STALE_SPLIT_MERGED,
    SPLIT_COUNT_OF_FIRST_ENTRY,
    PARTIALS_IN_HALF,
    HANGS_WITHOUT_KEYS,
    DIVIDES_BY_SPLITS,
    /* merge */
    MERGE_IN_BASE_2,
    MERGE_OF_EMPTY_NAN,
    MERGE_WITHOUT_WEIGHTS,
    MERGE_MAX_OF_LAST,
    LSE_OF_LAST_SPLIT,
    LSE_SUMMED,
    LSE_OF_NO_KEYS_FOR_ONE_HEAD,
    /* sinks */
    SINK_IN_EVERY_SPLIT,
    SINK_LOST_IF_FIRST_SPLIT_EMPTY,
    SINK_NOT_IN_LSE,
    /* one query */
    ONE_QUERY_HEAD_SWAP,
    ONE_QUERY_WINDOW_SHORT,
    ONE_QUERY_SEES_ALL,
    CHUNK_LOCAL_ROWS,
    CAUSAL_LIMIT_BY_GROUP,
    ZERO_LENGTH_ENTRY_NAN,
    ZERO_LENGTH_ENTRY_SKIPPED
};
enum { SPLIT = 32 };
#define HIDING                                                                                     \
    (ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_WINDOW_SIZE | ATTEST_KEY_LENGTHS | ATTEST_MASK_BOOL |  \
     ATTEST_MASK_ADD)

/* A partial softmax: its output is divided by its own sum. */
typedef struct part {
    float *out;
    float max, sum;
    int64_t seen;
} part;

static int64_t split_size(const attn_normal *n) {
    return MUTANT == SPLIT_BY_BATCH_SIZE && n->batch > 1 ? 2 * SPLIT : SPLIT;
}

static int64_t split_count(const attn_normal *n, int64_t b) {
    int64_t size = split_size(n), keys = n->keys;
    if (MUTANT == SPLIT_COUNT_OF_FIRST_ENTRY && b > 0 && has(n, ATTEST_KEY_LENGTHS)) {
        keys = attn_key_length(n, 0);
    }
    if (MUTANT == LAST_SPLIT_LOST && keys > size) {
        return keys / size;
    }
    return (keys + size - 1) / size;
}

static float score(const row *r, int64_t j) {
    const attn_normal *n = r->n;
    float product = dot(r->q, r->k + j * n->head_size, n->head_size);
    return bend(n, (float)n->scale * product) + r->bias[j];
}

static void attend_part(const row *r, part *p, int64_t start, int64_t end) {
    int64_t dv = r->n->value_size;
    p->max = -INFINITY;
    p->sum = 0;
    p->seen = 0;
    for (int64_t j = start; j < end; j++) {
        if (r->visible[j]) {
            r->s[j] = score(r, j);
            p->max = r->s[j] > p->max ? r->s[j] : p->max;
            p->seen++;
        }
    }
    float shift = p->max == -INFINITY && MUTANT != SPLIT_WITHOUT_KEYS_NAN ? 0 : p->max;
    memset(p->out, 0, (size_t)dv * sizeof(float));
    for (int64_t j = start; j < end; j++) {
        if (r->visible[j] || (MUTANT == SPLIT_WITHOUT_KEYS_NAN && p->seen == 0)) {
            float w = attn_expf((r->visible[j] ? r->s[j] : -INFINITY) - shift);
            p->sum += w;
            for (int64_t c = 0; c < dv && r->visible[j]; c++) {
                p->out[c] += w * r->v[j * dv + c];
            }
        }
    }
    for (int64_t c = 0; MUTANT == PARTIALS_IN_HALF && c < dv; c++) {
        p->out[c] = round_half(p->out[c]);
    }
    if (MUTANT == SINK_IN_EVERY_SPLIT && has(r->n, ATTEST_SINKS) && p->seen > 0) {
        p->sum += attn_expf(sink_of(r->n, r->h) - p->max);
    }
}

/* Takes `next` into `all`. */
static void merge(part *all, const part *next, int64_t dv) {
    float max = next->max > all->max ? next->max : all->max;
    if (MUTANT == MERGE_MAX_OF_LAST && next->seen > 0) {
        max = next->max;
    }
    float a = all->max == -INFINITY ? 0 : attn_expf(all->max - max);
    float b = next->max == -INFINITY ? 0 : attn_expf(next->max - max);
    if (MUTANT == MERGE_OF_EMPTY_NAN) {
        a = attn_expf(all->max - max);
        b = attn_expf(next->max - max);
    }
    if (MUTANT == MERGE_IN_BASE_2) {
        a = all->max == -INFINITY ? 0 : exp2f(all->max - max);
        b = next->max == -INFINITY ? 0 : exp2f(next->max - max);
    }
    if (MUTANT == MERGE_WITHOUT_WEIGHTS) {
        a = b = 1;
    }
    for (int64_t c = 0; c < dv; c++) {
        all->out[c] = a * all->out[c] + b * next->out[c];
    }
    all->sum = a * all->sum + b * next->sum;
    all->max = max;
    all->seen += next->seen;
}

static void finish(row *r, part *all, const part *last, int64_t first_seen) {
    const attn_normal *n = r->n;
    float sink = sink_of(n, r->h), sum = all->sum;
    if (has(n, ATTEST_SINKS) && all->seen > 0 && MUTANT != SINK_IN_EVERY_SPLIT &&
        !(MUTANT == SINK_LOST_IF_FIRST_SPLIT_EMPTY && first_seen == 0)) {
        part of_sink = {.out = r->out, .max = sink, .sum = 1};
        memset(r->out, 0, (size_t)n->value_size * sizeof(float));
        merge(all, &of_sink, n->value_size);
    }
    int empty = all->seen == 0;
    if (MUTANT == ZERO_LENGTH_ENTRY_NAN && attn_key_length(n, r->b) == 0) {
        empty = 0;
    }
    for (int64_t c = 0; c < n->value_size; c++) {
        r->out[c] = empty ? 0 : all->out[c] / all->sum;
    }
    float log_sum = all->sum == 0 ? NAN : attn_logf(all->sum);
    r->lse = empty ? sink : all->max + log_sum;
    if (MUTANT == LSE_OF_LAST_SPLIT && last->seen > 0) {
        r->lse = last->max + attn_logf(last->sum);
    }
    if (MUTANT == LSE_SUMMED && !empty) {
        r->lse = all->max + all->sum;
    }
    if (MUTANT == SINK_NOT_IN_LSE && !empty) {
        r->lse = all->max + attn_logf(sum);
    }
}

static int sees(const row *r, int64_t j) {
    const attn_normal *n = r->n;
    attn_band band = band_of(n, r->b);
    int64_t group = n->q_heads / n->kv_heads, i = r->i;
    if (MUTANT == ONE_QUERY_WINDOW_SHORT && n->queries == 1 && band.left > 0) {
        band.left--;
    }
    if (MUTANT == ONE_QUERY_SEES_ALL && n->queries == 1) {
        band.causal = 0;
    }
    if (MUTANT == CHUNK_LOCAL_ROWS && n->queries > 1 && n->queries < band.length) {
        band.offset = 0;
    }
    if (MUTANT == CAUSAL_LIMIT_BY_GROUP) {
        i /= group;
    }
    return attn_sees_band(&band, i, j) && mask_shows(n, r->b, r->h, r->i, j);
}

static void one_row(row *r) {
    const attn_normal *n = r->n;
    const attest_tensor *q = &n->problem->q;
    int64_t size = split_size(n), count = split_count(n, r->b), first_seen = 0;
    float *next = r->s + 2 * n->keys; /* after the row's own arrays */
    part all = {.out = next, .max = -INFINITY}, one = {.out = next + n->value_size};
    if (MUTANT == ZERO_LENGTH_ENTRY_SKIPPED && attn_key_length(n, r->b) == 0 && n->batch > 1) {
        return;
    }
    for (int64_t j = 0; j < n->keys; j++) {
        r->visible[j] = (unsigned char)sees(r, j);
        r->bias[j] = r->visible[j] ? bias_of(n, r->b, r->h, r->i, j) : 0;
    }
    gather(r);
    if (MUTANT == ONE_QUERY_HEAD_SWAP && n->queries == 1 && n->q_heads > n->kv_heads) {
        for (int64_t c = 0; c < n->head_size; c++) { /* heads taken for queries, strides not */
            r->q[c] =
                get(q, r->b * q->stride[0] + r->h % (n->q_heads / n->kv_heads) * q->stride[1] +
                           c * q->stride[3]);
        }
    }
    volatile int64_t rest = 0;
    if (MUTANT == DIVIDES_BY_SPLITS) {
        rest = n->keys % count;
    }
    (void)rest;
    if (MUTANT != STALE_SPLIT_MERGED) {
        memset(all.out, 0, (size_t)n->value_size * sizeof(float));
    }
    for (int64_t split = 0; split < count; split++) {
        int64_t start = split * size, end = start + size < n->keys ? start + size : n->keys;
        attend_part(r, &one, start, end);
        first_seen = split == 0 ? one.seen : first_seen;
        merge(&all, &one, n->value_size);
    }
    for (int64_t waiting = count; MUTANT == HANGS_WITHOUT_KEYS && n->keys == 0 && waiting < 1;) {
        waiting = *(volatile int64_t *)&count; /* until a split has been done */
    }
    finish(r, &all, &one, first_seen);
    if (MUTANT == LSE_OF_NO_KEYS_FOR_ONE_HEAD && n->keys == 0 && !has(n, HIDING) && r->h > 0) {
        r->lse = 0; /* an early return, before any mask is looked at */
    }
    deliver(r);
}

static uint64_t scratch_bytes(const attn_normal *n) {
    uint64_t bytes = row_bytes(n);
    if (bytes == NOWHERE ||
        __builtin_add_overflow(bytes, 2 * (uint64_t)n->value_size * sizeof(float), &bytes)) {
        return NOWHERE;
    }
    return bytes;
}

static void run(const attn_normal *n) { for_each_row(n, n->problem->workspace, one_row); }

#include "impl/wrong/mutants/mutant_entry.h"
