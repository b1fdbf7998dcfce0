/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include "impl/wrong/mutants/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "reference/problem/convert.h"
#include "reference/problem/normal.h"

enum { PAGE = 4096 };

uint64_t trial_draw(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int trial_same(double a, double b) {
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

const char *trial_field(const char *line, const char *key, char value[64]) {
    size_t length = strlen(key);
    for (const char *at = line; (at = strstr(at, key)); at += length) {
        if ((at == line || at[-1] == ' ') && at[length] == '=') {
            size_t size = strcspn(at + length + 1, " ");
            size = size < 63 ? size : 63;
            memcpy(value, at + length + 1, size);
            value[size] = '\0';
            return value;
        }
    }
    return NULL;
}

static double number(const char *line, const char *key, double otherwise) {
    char text[64];
    return trial_field(line, key, text) ? strtod(text, NULL) : otherwise;
}

static int64_t integer(const char *line, const char *key, int64_t otherwise) {
    char text[64];
    return trial_field(line, key, text) ? strtoll(text, NULL, 10) : otherwise;
}

static attest_dtype dtype(const char *line, const char *key, attest_dtype otherwise) {
    char text[64];
    if (!trial_field(line, key, text)) {
        return otherwise;
    }
    return strcmp(text, "f16") == 0    ? ATTEST_F16
           : strcmp(text, "bf16") == 0 ? ATTEST_BF16
                                       : ATTEST_F32;
}

static int is(const char *line, const char *key, const char *word) {
    char text[64];
    return trial_field(line, key, text) && strcmp(text, word) == 0;
}

/* Values a/b/c, the last one repeated; 0 where the field is not given. */
static int list(const char *line, const char *key, int64_t *values, int64_t count) {
    char text[64], *next = text;
    if (!trial_field(line, key, text)) {
        return 0;
    }
    for (int64_t at = 0, last = 0; at < count; at++) {
        last = *next ? strtoll(next, &next, 10) : last;
        next += *next == '/';
        values[at] = last;
    }
    return 1;
}

/* Strides for the layout the line asks for. */
static void lay_out(const trial *t, attest_tensor *x, int index) {
    int output = index >= ATTN_INPUTS, four = x->rank == 4, wide = x->rank >= 1 && !output;
    int64_t gap = is(t->line, "layout", "padded") ? 3 : 0, step = 1;
    if (is(t->line, "layout", "spread") && (wide || four)) {
        step = 2;
    }
    for (int axis = (int)x->rank - 1; axis >= 0; axis--) {
        x->stride[axis] = step;
        step = step * (x->shape[axis] > 0 ? x->shape[axis] : 1) + (axis >= 2 || gap == 0 ? gap : 1);
    }
    if (is(t->line, "layout", "tokens") && four && index != ATTN_MASK) {
        x->stride[2] = x->shape[1] * x->shape[3];
        x->stride[1] = x->shape[3];
    }
    if (is(t->line, "layout", "repeat") && (index == ATTN_K || index == ATTN_V)) {
        x->stride[0] = 0;
    }
    char far[64];
    if (trial_field(t->line, "far", far) && strcmp(far, attn_operand_name(index)) == 0) {
        x->stride[0] = (INT64_C(1) << 32) + 8;
    }
}

static uint64_t extent(const attest_tensor *x) {
    int64_t last = 0;
    for (uint32_t axis = 0; axis < x->rank; axis++) {
        if (x->shape[axis] == 0) {
            return 0;
        }
        last += (x->shape[axis] - 1) * x->stride[axis];
    }
    return (uint64_t)(last + 1) * (uint64_t)attn_dtype_bytes(x->dtype);
}

static int place(trial_buffer *buffer, uint64_t bytes, int at_start) {
    size_t body = (size_t)(bytes + PAGE - 1) / PAGE * PAGE;
    buffer->map_bytes = body + 2 * PAGE;
    buffer->map = mmap(NULL, buffer->map_bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (buffer->map == MAP_FAILED) {
        buffer->map = NULL;
        return 0;
    }
    buffer->bytes = (size_t)bytes;
    buffer->data = buffer->map + PAGE + (at_start ? 0 : body - bytes);
    return body == 0 || mprotect(buffer->map + PAGE, body, PROT_READ | PROT_WRITE) == 0;
}

int trial_workspace(trial *t, uint64_t bytes) {
    if (t->workspace.map) {
        munmap(t->workspace.map, t->workspace.map_bytes);
    }
    t->workspace = (trial_buffer){0};
    t->p.workspace_bytes = bytes;
    t->p.workspace = NULL;
    if (bytes == 0) {
        return 1;
    }
    if (bytes > (UINT64_C(1) << 34) || !place(&t->workspace, bytes, 0)) {
        return 0;
    }
    size_t lost = (uintptr_t)t->workspace.data % 64; /* 64-byte alignment costs a short fence */
    t->workspace.data -= lost;
    t->p.workspace = t->workspace.data;
    t->workspace.bytes = (size_t)bytes + lost;
    return 1;
}

void trial_dirty(trial *t, unsigned char pattern) {
    for (int index = ATTN_INPUTS; index < ATTN_OPERANDS; index++) {
        char far[64];
        trial_buffer *x = &t->buffer[index];
        int is_far = trial_field(t->line, "far", far) && strcmp(far, attn_operand_name(index)) == 0;
        if (x->map && !is_far) {
            memset(x->map + PAGE, pattern, x->map_bytes - 2 * PAGE);
        }
    }
    if (t->workspace.map) {
        memset(t->workspace.map + PAGE, pattern, t->workspace.map_bytes - 2 * PAGE);
    }
}

void trial_protect(trial *t, int writable) {
    for (int index = 0; index < ATTN_INPUTS; index++) {
        if (t->buffer[index].map) {
            mprotect(t->buffer[index].map + PAGE, t->buffer[index].map_bytes - 2 * PAGE,
                     writable ? PROT_READ | PROT_WRITE : PROT_READ);
        }
    }
}

/* Multiples of 1/64 in [-2, 2]. */
static double coarse(uint64_t *state) { return ((double)(trial_draw(state) % 257) - 128) / 64; }

static void *element(const attest_tensor *x, const int64_t at[ATTEST_MAX_RANK]) {
    return (void *)(uintptr_t)attn_element(x, at);
}

/* About normal: twelve uniform draws less their mean. */
static double bell(uint64_t *state) {
    double sum = -6;
    for (int draw = 0; draw < 12; draw++) {
        sum += (double)(trial_draw(state) >> 11) * 0x1p-53;
    }
    return sum;
}

static double value_at(const trial *t, int index, const int64_t *at, uint64_t *state) {
    double value = t->normal && index < 3 ? bell(state) : coarse(state);
    if (index == ATTN_Q) {
        return (t->signs ? fabs(value) + 0.25 : value) * t->amp;
    }
    if (index == ATTN_K) {
        value = t->signs ? -fabs(value) - 0.25 : value;
        return at[2] == t->p.k.shape[2] - 1 ? value * t->late : value;
    }
    if (index == ATTN_V) {
        return value * t->vamp + t->vshift;
    }
    if (index == ATTN_SINKS) {
        return number(t->line, "sinks", 0) * (isinf(number(t->line, "sinks", 0)) ? 1 : value);
    }
    return 0.25 * (double)(at[t->p.slopes.rank - 1] + 1) + (double)at[0] / 16; /* slopes */
}

static double mask_value(const trial *t, const int64_t *at, uint64_t *state) {
    const attest_tensor *m = &t->p.mask;
    uint64_t draw = trial_draw(state);
    int64_t j = m->rank ? at[m->rank - 1] : 0, i = m->rank > 1 ? at[m->rank - 2] : 0;
    double hidden = (double)-INFINITY, open = t->normal ? bell(state) : coarse(state);
    if (is(t->line, "mvalues", "lowest")) {
        return -1e30;
    }
    int shows = is(t->line, "mvalues", "sparse") ? draw % 8 == 0 : draw % 4 != 0;
    shows = is(t->line, "mvalues", "tri") ? j <= i : shows;
    shows = is(t->line, "mvalues", "head") ? j >= t->p.k.shape[2] / 2 : shows;
    shows = is(t->line, "mvalues", "none") ? 0 : shows;
    shows = is(t->line, "mvalues", "single") ? j == (i * 5 + 3) % t->p.k.shape[2] : shows;
    if (m->dtype == ATTEST_BOOL) {
        return shows ? (is(t->line, "mvalues", "bytes") ? (double)(2 + draw % 250) : 1) : 0;
    }
    return shows ? open : hidden;
}

static void fill(trial *t, int index, uint64_t seed) {
    attest_tensor *x = attn_operand_of(&t->p, index);
    uint64_t state = seed * 1000 + (uint64_t)index;
    int64_t count = x->rank > 0 || x->dtype ? 1 : 0;
    for (uint32_t axis = 0; axis < x->rank; axis++) {
        count *= x->shape[axis];
    }
    for (int64_t number_of = 0; number_of < count; number_of++) {
        int64_t at[ATTEST_MAX_RANK] = {0}, rest = number_of;
        for (int axis = (int)x->rank - 1; axis >= 0; axis--) {
            at[axis] = rest % x->shape[axis];
            rest /= x->shape[axis];
        }
        if (x->dtype == ATTEST_I64) {
            *(int64_t *)element(x, at) =
                index == ATTN_KEY_LENGTHS ? t->lengths[at[0]] : t->offsets[at[0]];
        } else if (x->dtype == ATTEST_BOOL) {
            *(unsigned char *)element(x, at) = (unsigned char)mask_value(t, at, &state);
        } else {
            attn_store(x->dtype, element(x, at),
                       index == ATTN_MASK ? mask_value(t, at, &state)
                                          : value_at(t, index, at, &state));
        }
    }
}

static void spoil(trial *t) {
    char bad[64], text[64];
    double value = trial_field(t->line, "badvalue", text) ? strtod(text, NULL) : (double)NAN;
    int64_t key = integer(t->line, "at", 0);
    if (!trial_field(t->line, "bad", bad)) {
        return;
    }
    for (int index = 0; index < 4; index++) {
        attest_tensor *x = attn_operand_of(&t->p, index);
        const char *found = strstr(bad, attn_operand_name(index));
        int64_t at[ATTEST_MAX_RANK] = {0};
        if (!found || x->dtype == 0 || (index == ATTN_K && strcmp(bad, "mask") == 0)) {
            continue;
        }
        if (index > 0 && x->rank > 0) {
            at[index == ATTN_MASK ? x->rank - 1 : 2] = key;
        }
        for (int64_t c = 0; c < (index == ATTN_K ? x->shape[3] : 1); c++) {
            at[index == ATTN_K ? 3 : 0] = index == ATTN_K ? c : 0;
            attn_store(x->dtype, element(x, at), value);
        }
    }
}

static void shape_mask(trial *t) {
    char text[64] = "bhqk";
    attest_tensor *m = &t->p.mask;
    const int64_t full[4] = {t->p.q.shape[0], t->p.q.shape[1], t->p.q.shape[2], t->p.k.shape[2]};
    trial_field(t->line, "mshape", text);
    size_t rank = strcmp(text, "-") == 0 ? 0 : strlen(text);
    m->rank = (uint32_t)rank;
    for (size_t axis = 0; axis < rank; axis++) {
        m->shape[axis] = text[axis] == '1' ? 1 : full[4 - rank + axis];
    }
    int boolean = is(t->line, "mask", "bool");
    m->dtype = boolean ? ATTEST_BOOL : dtype(t->line, "mtype", ATTEST_F32);
    t->p.features |= boolean ? ATTEST_MASK_BOOL : ATTEST_MASK_ADD;
}

static void describe(trial *t) {
    const char *line = t->line;
    attest_problem *p = &t->p;
    int64_t b = integer(line, "b", 1), hq = integer(line, "hq", 2), sq = integer(line, "sq", 4);
    int64_t hkv = integer(line, "hkv", hq), sk = integer(line, "sk", 7), d = integer(line, "d", 8);
    int64_t dv = integer(line, "dv", d), window[2];
    char text[64];
    attest_dtype type = dtype(line, "type", ATTEST_F32), kv = dtype(line, "kv", type);
    *p = (attest_problem){.struct_bytes = sizeof *p};
    p->threads = (int32_t)integer(line, "threads", 1);
    p->q = (attest_tensor){.shape = {b, hq, sq, d}, .dtype = type, .rank = 4};
    p->k = (attest_tensor){.shape = {b, hkv, sk, d}, .dtype = kv, .rank = 4};
    p->v = (attest_tensor){.shape = {b, hkv, sk, dv}, .dtype = kv, .rank = 4};
    p->o = (attest_tensor){.shape = {b, hq, sq, dv}, .dtype = dtype(line, "o", type), .rank = 4};
    if (integer(line, "lse", 1)) {
        p->features |= ATTEST_LSE;
        p->lse = (attest_tensor){.shape = {b, hq, sq}, .dtype = ATTEST_F32, .rank = 3};
    }
    p->features |= integer(line, "causal", 0) ? ATTEST_CAUSAL : 0;
    if (list(line, "offsets", t->offsets, b)) {
        p->features |= ATTEST_OFFSETS;
        p->offsets = (attest_tensor){.shape = {b}, .dtype = ATTEST_I64, .rank = 1};
    }
    if (list(line, "lengths", t->lengths, b)) {
        p->features |= ATTEST_KEY_LENGTHS;
        p->key_lengths = (attest_tensor){.shape = {b}, .dtype = ATTEST_I64, .rank = 1};
    }
    if (list(line, "window", window, 2)) {
        p->features |= ATTEST_WINDOW;
        p->window_left = window[0];
        p->window_right = window[1];
    }
    if ((p->window_size = integer(line, "wsize", 0)) > 0) {
        p->features |= ATTEST_WINDOW_SIZE;
    }
    if (trial_field(line, "scale", text)) {
        p->features |= ATTEST_SCALE;
        p->scale = strtod(text, NULL);
    }
    if ((p->softcap = number(line, "softcap", 0)) > 0) {
        p->features |= ATTEST_SOFTCAP;
    }
    if (trial_field(line, "sinks", text)) {
        p->features |= ATTEST_SINKS;
        p->sinks = (attest_tensor){.shape = {hq}, .dtype = ATTEST_F32, .rank = 1};
    }
    if (trial_field(line, "slopes", text)) {
        int two = text[0] == '2';
        p->features |= ATTEST_ALIBI;
        p->slopes = (attest_tensor){.shape = {two ? b : hq, two ? hq : 0}, .dtype = ATTEST_F32};
        p->slopes.rank = two ? 2 : 1;
    }
    if (trial_field(line, "mask", text)) {
        shape_mask(t);
    }
}

int trial_build(trial *t, const char *line, int at_start, char why[ATTEST_MESSAGE_BYTES]) {
    memset(t, 0, sizeof *t);
    snprintf(t->line, sizeof t->line, "%s", line);
    t->at_start = at_start;
    t->amp = number(line, "amp", 1);
    t->vamp = number(line, "vamp", 1);
    t->late = number(line, "late", 1);
    t->vshift = number(line, "vshift", 0);
    t->signs = (int)integer(line, "signs", 0);
    t->normal = (int)integer(line, "normal", 0);
    describe(t);
    for (int index = 0; index < ATTN_OPERANDS; index++) {
        attest_tensor *x = attn_operand_of(&t->p, index);
        if (x->dtype == 0) {
            continue;
        }
        lay_out(t, x, index);
        if (!place(&t->buffer[index], extent(x), at_start)) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "no memory for %s", attn_operand_name(index));
            trial_free(t);
            return 0;
        }
        x->data = t->buffer[index].data;
        if (index < ATTN_INPUTS) {
            fill(t, index, (uint64_t)integer(line, "seed", 1));
        }
    }
    spoil(t);
    trial_protect(t, 0);
    return 1;
}

void trial_free(trial *t) {
    for (int index = 0; index < ATTN_OPERANDS; index++) {
        if (t->buffer[index].map) {
            munmap(t->buffer[index].map, t->buffer[index].map_bytes);
        }
    }
    if (t->workspace.map) {
        munmap(t->workspace.map, t->workspace.map_bytes);
    }
    memset(t, 0, sizeof *t);
}

double *trial_results(const attest_problem *p, size_t *n) {
    int64_t rows = p->o.shape[0] * p->o.shape[1] * p->o.shape[2], dv = p->o.shape[3];
    int has_lse = (p->features & ATTEST_LSE) != 0;
    *n = (size_t)(rows * (dv + has_lse));
    double *values = calloc(*n + 1, sizeof *values);
    for (int64_t row = 0; values && row < rows; row++) {
        int64_t at[4] = {row / p->o.shape[2] / p->o.shape[1], row / p->o.shape[2] % p->o.shape[1],
                         row % p->o.shape[2], 0};
        if (has_lse) {
            values[rows * dv + row] = attn_load(p->lse.dtype, attn_element(&p->lse, at));
        }
        for (at[3] = 0; at[3] < dv; at[3]++) {
            values[row * dv + at[3]] = attn_load(p->o.dtype, attn_element(&p->o, at));
        }
    }
    return values;
}
