/* SPDX-License-Identifier: Apache-2.0 */
/* Bitwise relations between calls; each is asked only where the kernel claims it. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/core/examine.h"
#include "reference/problem/convert.h"

/* A part of a problem: some batch entries, some queries, the first keys. */
typedef struct part {
    int64_t first_entry, entries; /* a negative number repeats the first so many times */
    int64_t first_query, queries;
    int64_t keys;
} part;

typedef struct view {
    attest_problem problem;
    int64_t *lengths, *offsets;
    void *o, *lse;
} view;

static void view_free(view *v) {
    free(v->lengths);
    free(v->offsets);
    free(v->o);
    free(v->lse);
}

static void cut(attest_tensor *t, uint32_t axis, int64_t first, int64_t count) {
    if (t->data) {
        t->data = (char *)t->data + first * t->stride[axis] * attn_dtype_bytes(t->dtype);
    }
    t->shape[axis] = count;
}

static void cut_batch(attest_tensor *t, const part *s) {
    cut(t, 0, s->first_entry, s->entries < 0 ? -s->entries : s->entries);
    if (s->entries < 0) {
        t->stride[0] = 0;
    }
}

/* Axis `axis` of [B,Hq,Sq,Sk] in a mask that is aligned at the right; -1 where it repeats. */
static int mask_axis(const attest_tensor *mask, int axis) {
    int own = axis - (ATTEST_MAX_RANK - (int)mask->rank);
    return own >= 0 && mask->shape[own] != 1 ? own : -1;
}

static void cut_mask(attest_tensor *mask, const part *s) {
    int entry = mask_axis(mask, 0), query = mask_axis(mask, 2), key = mask_axis(mask, 3);
    if (entry >= 0) {
        cut_batch(mask, s);
    }
    if (query >= 0) {
        cut(mask, (uint32_t)query, s->first_query, s->queries);
    }
    if (key >= 0) {
        cut(mask, (uint32_t)key, 0, s->keys);
    }
    if (attest_fuzz_count(mask) == 0) {
        mask->data = NULL;
    }
}

static void *dense_output(attest_tensor *t, int64_t batch, int64_t queries) {
    int64_t step = 1;
    t->shape[0] = batch;
    t->shape[2] = queries;
    for (uint32_t axis = t->rank; axis-- > 0;) {
        t->stride[axis] = step;
        step *= t->shape[axis];
    }
    t->data = step > 0 ? malloc((size_t)step * (size_t)attn_dtype_bytes(t->dtype)) : NULL;
    if (t->data) {
        memset(t->data, 0x77, (size_t)step * (size_t)attn_dtype_bytes(t->dtype));
    }
    return t->data;
}

/* Positions stay where they were: offsets are made explicit where something depends on them. */
static int keep_positions(const attest_fuzz_run *run, view *v, const part *s, int64_t batch) {
    const attn_normal *n = &run->normal;
    attest_problem *p = &v->problem;
    const uint64_t positional = ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_WINDOW_SIZE | ATTEST_ALIBI;
    int moved = s->first_query != 0 || s->queries != n->queries || s->keys != n->keys;
    if (!(p->features & ATTEST_OFFSETS) && (!moved || !(p->features & positional))) {
        return 1;
    }
    if (!(run->subject->scope.kernel->features & ATTEST_OFFSETS)) {
        return 0;
    }
    v->offsets = calloc((size_t)batch + 1, sizeof *v->offsets);
    for (int64_t b = 0; v->offsets && b < batch; b++) {
        int64_t entry = s->first_entry + (s->entries < 0 ? 0 : b);
        v->offsets[b] = attn_offset(n, entry) + s->first_query;
    }
    p->features |= ATTEST_OFFSETS;
    p->offsets = (attest_tensor){v->offsets, {batch}, {1}, ATTEST_I64, 1};
    return v->offsets != NULL;
}

/* 1, or 0 where the part cannot be asked for (no memory, or the kernel has no offsets). */
static int view_make(const attest_fuzz_run *run, view *v, const part *s) {
    const attn_normal *n = &run->normal;
    int64_t batch = s->entries < 0 ? -s->entries : s->entries;
    *v = (view){.problem = run->made->problem};
    attest_problem *p = &v->problem;
    cut_batch(&p->q, s);
    cut_batch(&p->k, s);
    cut_batch(&p->v, s);
    cut(&p->q, 2, s->first_query, s->queries);
    cut(&p->k, 2, 0, s->keys);
    cut(&p->v, 2, 0, s->keys);
    if (p->mask.dtype) {
        cut_mask(&p->mask, s);
    }
    if (p->slopes.rank == 2) {
        cut_batch(&p->slopes, s);
    }
    if (p->features & ATTEST_KEY_LENGTHS) {
        v->lengths = calloc((size_t)batch + 1, sizeof *v->lengths);
        for (int64_t b = 0; v->lengths && b < batch; b++) {
            int64_t length = attn_key_length(n, s->first_entry + (s->entries < 0 ? 0 : b));
            v->lengths[b] = length < s->keys ? length : s->keys;
        }
        p->key_lengths = (attest_tensor){v->lengths, {batch}, {1}, ATTEST_I64, 1};
    }
    v->o = dense_output(&p->o, batch, s->queries);
    v->lse = p->lse.dtype ? dense_output(&p->lse, batch, s->queries) : NULL;
    return (v->o || attest_fuzz_count(&p->o) == 0) && (v->lse || attest_fuzz_count(&p->lse) == 0) &&
           (v->lengths || !(p->features & ATTEST_KEY_LENGTHS)) && keep_positions(run, v, s, batch);
}

static int same_row(const attest_fuzz_run *run, const char *id, const char *what, int which,
                    const attest_problem *other, const int64_t mine[3], const int64_t theirs[3]) {
    const attest_tensor *a = attn_operand(&run->made->problem, which);
    attest_problem copy = *other;
    const attest_tensor *b = attn_operand(&copy, which);
    int64_t size = which == ATTN_O ? run->normal.value_size : 1;
    for (int64_t c = 0; a->dtype && c < size; c++) {
        const int64_t at[] = {mine[0], mine[1], mine[2], c};
        const int64_t to[] = {theirs[0], theirs[1], theirs[2], c};
        const void *left = attn_element(a, at), *right = attn_element(b, to);
        if (!attest_fuzz_same(a->dtype, left, right)) {
            return !attest_fuzz_fail(run->finding, id,
                                     "%s: %s[b=%lld h=%lld i=%lld c=%lld] is %a, and %a there",
                                     what, attn_operand_name(which), (long long)mine[0],
                                     (long long)mine[1], (long long)mine[2], (long long)c,
                                     attn_load(a->dtype, left), attn_load(a->dtype, right));
        }
    }
    return 1;
}

/* Runs the part and compares every row of it with the whole. 1 if the relation does not hold. */
static int holds_not(const attest_fuzz_run *run, const char *id, const char *what, const part *s) {
    view v;
    int broken = 0;
    if (view_make(run, &v, s)) {
        broken = attest_fuzz_call(run, &v.problem, ATTEST_OK, 0x11);
        int64_t batch = v.problem.q.shape[0];
        for (int64_t n = 0; !broken && n < batch * run->normal.q_heads * s->queries; n++) {
            const int64_t theirs[] = {n / s->queries / run->normal.q_heads,
                                      n / s->queries % run->normal.q_heads, n % s->queries};
            const int64_t mine[] = {s->first_entry + (s->entries < 0 ? 0 : theirs[0]), theirs[1],
                                    s->first_query + theirs[2]};
            broken = !same_row(run, id, what, ATTN_O, &v.problem, mine, theirs) ||
                     !same_row(run, id, what, ATTN_LSE, &v.problem, mine, theirs);
        }
    }
    view_free(&v);
    return broken;
}

/* One past the last key that a row of these sees; all keys where an empty row means all. */
static int64_t keys_needed(const attn_normal *n, int64_t first, int64_t count) {
    unsigned char *visible = calloc((size_t)n->keys + 1, 1);
    int64_t needed = visible ? 0 : n->keys;
    for (int64_t r = 0; visible && r < n->batch * n->q_heads * count; r++) {
        int64_t seen = attn_visible_keys(n, r / count / n->q_heads, r / count % n->q_heads,
                                         first + r % count, visible);
        if (seen == 0 && n->profile.empty_row == ATTN_EMPTY_MEAN_OF_ALL) {
            needed = n->keys;
        }
        for (int64_t j = n->keys; seen > 0 && j-- > needed;) {
            needed = visible[j] ? j + 1 : needed;
        }
    }
    free(visible);
    return needed;
}

/* What an invisible place may hold, by the rung that the kernel claims. */
static double poison_value(uint32_t isolation, int which, unsigned char choice) {
    static const double anything[] = {NAN, INFINITY, -INFINITY, 0x1p100};
    if (isolation >= ATTEST_ISOLATION_FULL ||
        (isolation == ATTEST_ISOLATION_BAD_KEYS && which == ATTN_K)) {
        return anything[choice & 3];
    }
    return isolation >= ATTEST_ISOLATION_EXTREME ? (choice & 1 ? 0x1p14 : 0x1p-24) : 3.5;
}

/* The whole of one input becomes `value`, but for the rows that the chosen row may read. */
static unsigned char *poisoned(const attest_fuzz_run *run, attest_tensor *t, int which,
                               double value, const int64_t row[3], const unsigned char *visible) {
    const attest_fuzz_block *block = &run->made->block[which];
    const size_t element = (size_t)attn_dtype_bytes(t->dtype);
    const int64_t head = which == ATTN_Q ? row[1] : attn_kv_head(&run->normal, row[1]);
    unsigned char *copy = NULL;
    if (block->memory == NULL || posix_memalign((void **)&copy, 64, block->bytes) != 0) {
        return NULL;
    }
    const size_t shift = (size_t)((unsigned char *)t->data - block->memory);
    for (size_t at = shift; at + element <= block->bytes; at += element) {
        attn_store(t->dtype, copy + at, value);
    }
    for (int64_t s = 0; s < t->shape[2]; s++) {
        if (which == ATTN_Q ? s != row[2] : !visible[s]) {
            continue;
        }
        for (int64_t c = 0; c < t->shape[3]; c++) {
            const int64_t at[] = {row[0], head, s, c};
            size_t place = (size_t)((const unsigned char *)attn_element(t, at) - block->memory);
            memcpy(copy + place, block->memory + place, element);
        }
    }
    t->data = copy + shift;
    return copy;
}

/* ISO-01 to ISO-07: nothing that the row does not see may reach it. */
static int poison(const attest_fuzz_run *run) {
    const attn_normal *n = &run->normal;
    const uint32_t isolation = run->subject->scope.kernel->isolation;
    const unsigned char choice = run->made->field[FUZZ_ROW];
    const int64_t rows = n->batch * n->q_heads * n->queries;
    if (rows == 0 || isolation == ATTEST_ISOLATION_NONE) {
        return 0;
    }
    const int64_t number = choice % rows;
    const int64_t row[] = {number / n->queries / n->q_heads, number / n->queries % n->q_heads,
                           number % n->queries};
    const part whole = {0, n->batch, 0, n->queries, n->keys};
    unsigned char *visible = calloc((size_t)n->keys + 1, 1), *owned[3] = {NULL};
    view v = {0};
    int broken = 0;
    int64_t seen = visible ? attn_visible_keys(n, row[0], row[1], row[2], visible) : 0;
    int mean = seen == 0 && n->profile.empty_row == ATTN_EMPTY_MEAN_OF_ALL;
    if (visible && !mean && view_make(run, &v, &whole)) {
        for (int which = ATTN_Q; which <= ATTN_V; which++) {
            owned[which] = poisoned(run, attn_operand_of(&v.problem, which), which,
                                    poison_value(isolation, which, choice >> 5), row, visible);
        }
        broken = attest_fuzz_call(run, &v.problem, ATTEST_OK, 0x22) ||
                 !same_row(run, "ISO-01", "poison", ATTN_O, &v.problem, row, row) ||
                 !same_row(run, "ISO-01", "poison", ATTN_LSE, &v.problem, row, row);
    }
    for (int which = ATTN_Q; which <= ATTN_V; which++) {
        free(owned[which]);
    }
    free(visible);
    view_free(&v);
    return broken;
}

static int threads(const attest_fuzz_run *run, const part *whole) {
    run->made->problem.threads = 3;
    int broken = holds_not(run, "DET-03", "three threads", whole);
    run->made->problem.threads = 1;
    return broken;
}

int attest_fuzz_relations(const attest_fuzz_run *run) {
    const attn_normal *n = &run->normal;
    const attest_kernel *kernel = run->subject->scope.kernel;
    const uint64_t claims = kernel->determinism;
    const unsigned char choice = run->made->field[FUZZ_ROW], extra = run->made->field[FUZZ_EXTRA];
    const part whole = {0, n->batch, 0, n->queries, n->keys};
    const int may_be_empty = (kernel->shapes & ATTEST_CAN_EMPTY) != 0;
    const int strides = (kernel->shapes & ATTEST_CAN_STRIDES) != 0;
    if (poison(run)) {
        return 1;
    }
    int64_t needed = keys_needed(n, 0, n->queries);
    if ((claims & ATTEST_SAME_PREFIX) && strides && needed < n->keys && (needed || may_be_empty)) {
        part s = whole;
        s.keys = needed;
        if (holds_not(run, "DET-09", "without the keys no row sees", &s)) {
            return 1;
        }
    }
    if ((claims & ATTEST_SAME_CHUNK) && strides && n->queries > 1) {
        part s = whole;
        s.first_query = 1 + choice % (n->queries - 1);
        s.queries = n->queries - s.first_query;
        if (holds_not(run, "DET-06", "the last queries alone", &s)) {
            return 1;
        }
    }
    if ((claims & ATTEST_SAME_DECODE) && strides && n->queries > 1) {
        part s = whole;
        s.first_query = choice % n->queries;
        s.queries = 1;
        needed = keys_needed(n, s.first_query, 1);
        s.keys = needed || may_be_empty ? needed : n->keys;
        if (holds_not(run, "DET-07", "one query with its keys", &s)) {
            return 1;
        }
    }
    if ((claims & ATTEST_SAME_BATCH) && strides && n->batch > 1) {
        part s = whole;
        s.first_entry = choice % n->batch;
        s.entries = 1;
        if (holds_not(run, "DET-05", "one batch entry alone", &s)) {
            return 1;
        }
    }
    if ((claims & ATTEST_SAME_POSITION) && strides && n->batch > 1) {
        part s = whole;
        s.first_entry = choice % n->batch;
        s.entries = -n->batch;
        if (holds_not(run, "DET-04", "one batch entry repeated", &s)) {
            return 1;
        }
    }
    return (claims & ATTEST_SAME_THREADS) && extra % 8 == 6 && threads(run, &whole);
}
