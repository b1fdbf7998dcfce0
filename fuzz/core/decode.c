/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "fuzz/core/decode.h"

#include <stdlib.h>
#include <string.h>

#include "reference/problem/normal.h"

int64_t attest_fuzz_count(const attest_tensor *tensor) {
    int64_t count = tensor->dtype ? 1 : 0;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        count *= tensor->shape[axis];
    }
    return count;
}

int64_t attest_fuzz_place(const attest_tensor *tensor, int64_t n) {
    int64_t place = 0;
    for (uint32_t axis = tensor->rank; axis-- > 0;) {
        place += n % tensor->shape[axis] * tensor->stride[axis];
        n /= tensor->shape[axis];
    }
    return place;
}

void *attest_fuzz_address(const attest_tensor *tensor, int64_t n) {
    return (char *)tensor->data + attest_fuzz_place(tensor, n) * attn_dtype_bytes(tensor->dtype);
}

size_t attest_fuzz_extent(const attest_tensor *tensor) {
    int64_t last = 0;
    if (attest_fuzz_count(tensor) == 0) {
        return 0;
    }
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        last += (tensor->shape[axis] - 1) * tensor->stride[axis];
    }
    return (size_t)((last + 1) * attn_dtype_bytes(tensor->dtype));
}

/* 0 gives 1, and the largest value of a round of most + 1 gives the empty axis. */
static int64_t length(unsigned char byte, int64_t most, int may_be_empty) {
    int64_t n = byte % (most + 1);
    return n < most ? n + 1 : may_be_empty ? 0 : 1;
}

static int64_t key_count(const unsigned char *field, const attest_fuzz_scope *scope) {
    static const int16_t edges[] = {16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
    const int count = (int)(sizeof edges / sizeof *edges);
    int64_t keys = length(field[FUZZ_KEYS], 40, (scope->kernel->shapes & ATTEST_CAN_EMPTY) != 0);
    if (field[FUZZ_KEYS_FAR] >= 0xc0) {
        keys = edges[field[FUZZ_KEYS_FAR] % count] + field[FUZZ_KEYS] % 7 - 3;
    }
    keys = keys < scope->most_keys ? keys : scope->most_keys;
    return scope->kernel->max_keys && keys > scope->kernel->max_keys ? scope->kernel->max_keys
                                                                     : keys;
}

typedef struct sizes {
    int64_t batch, kv_heads, group, queries, keys, d, dv;
} sizes;

/* Smaller until the work fits: what is least likely to matter goes first, keys last. */
static void fit(sizes *s, int64_t most_work) {
    for (;;) {
        int64_t rows = s->batch * s->kv_heads * s->group * s->queries;
        if (rows * s->keys * (s->d + s->dv) <= most_work) {
            return;
        }
        int64_t *const order[] = {&s->queries, &s->d,     &s->dv,   &s->queries,
                                  &s->group,   &s->batch, &s->keys, &s->kv_heads};
        const int64_t least[] = {4, 8, 8, 1, 1, 1, 1, 1};
        size_t k = 0;
        while (k < 7 && *order[k] <= least[k]) {
            k++;
        }
        *order[k] -= (*order[k] + 1) / 2 > 1 ? *order[k] / 2 : 1;
    }
}

static sizes read_sizes(const unsigned char *field, const attest_fuzz_scope *scope) {
    const attest_kernel *kernel = scope->kernel;
    int may_be_empty = (kernel->shapes & ATTEST_CAN_EMPTY) != 0;
    sizes s = {
        .batch = length(field[FUZZ_BATCH], 4, may_be_empty),
        .kv_heads = length(field[FUZZ_KV_HEADS], 3, may_be_empty),
        .group = kernel->shapes & ATTEST_CAN_GQA ? 1 + field[FUZZ_GROUP] % 4 : 1,
        .queries = length(field[FUZZ_QUERIES], 36, may_be_empty),
        .keys = key_count(field, scope),
        .d = 1 + field[FUZZ_HEAD_SIZE] % 40,
    };
    s.dv = s.d;
    if ((kernel->shapes & ATTEST_CAN_DV) && field[FUZZ_VALUE_SIZE] > 0) {
        s.dv = length((unsigned char)(field[FUZZ_VALUE_SIZE] - 1), 40, may_be_empty);
    }
    if (kernel->max_queries && s.queries > kernel->max_queries) {
        s.queries = kernel->max_queries;
    }
    fit(&s, scope->most_work);
    if (kernel->max_head_size) {
        s.d = s.d < kernel->max_head_size ? s.d : kernel->max_head_size;
        s.dv = s.dv < kernel->max_head_size ? s.dv : kernel->max_head_size;
    }
    if (!(kernel->shapes & ATTEST_CAN_DV)) {
        s.dv = s.d;
    }
    return s;
}

static attest_dtype float_type(uint64_t declared, unsigned char byte) {
    attest_dtype types[4];
    unsigned count = 0;
    for (attest_dtype dtype = ATTEST_F32; dtype <= ATTEST_BF16; dtype++) {
        if (declared >> dtype & 1) {
            types[count++] = dtype;
        }
    }
    return count ? types[byte % count] : ATTEST_F32;
}

static attest_tensor shaped(attest_dtype dtype, uint32_t rank, const int64_t *shape) {
    attest_tensor tensor = {.dtype = dtype, .rank = rank};
    for (uint32_t axis = 0; axis < rank; axis++) {
        tensor.shape[axis] = shape[axis];
    }
    return tensor;
}

/*
 * Bits of a layout: 0-1 order of the axes, 2 elements two apart, 3 a gap after each axis, 4-6
 * (inputs) an axis that repeats, 7 a start that is aligned to one element and no more.
 */
static void lay_out(attest_tensor *t, unsigned char layout, int is_output) {
    static const unsigned char orders[4][4] = {
        {3, 2, 1, 0}, {3, 1, 2, 0}, {0, 1, 2, 3}, {2, 3, 0, 1}}; /* innermost first */
    const unsigned char *order = orders[layout & 3];
    int64_t step = layout & 4 ? 2 : 1;
    for (int place = 0; place < ATTEST_MAX_RANK; place++) {
        uint32_t axis = order[place];
        if (axis >= t->rank) {
            continue;
        }
        if (!is_output && (layout >> 4 & 7) == axis + 1) {
            continue; /* stride 0 */
        }
        t->stride[axis] = step;
        step = step * (t->shape[axis] > 0 ? t->shape[axis] : 1) + (layout & 8 ? 3 : 0);
    }
}

static int allocate(attest_fuzz_problem *r, int which, unsigned char layout, size_t alignment) {
    attest_tensor *t = attn_operand_of(&r->problem, which);
    size_t extent = attest_fuzz_extent(t), element = (size_t)attn_dtype_bytes(t->dtype);
    size_t shift = layout & 0x80 && alignment <= element ? element : 0;
    void *memory = NULL;
    if (extent == 0) {
        return 1;
    }
    alignment = alignment < 16 ? 16 : alignment;
    if (posix_memalign(&memory, alignment, extent + shift) != 0) {
        return 0;
    }
    memset(memory, 0x5a, extent + shift);
    r->block[which] = (attest_fuzz_block){memory, extent + shift};
    t->data = (char *)memory + shift;
    return 1;
}

static uint64_t read_features(const unsigned char *field, const attest_fuzz_scope *scope,
                              const attn_profile *profile) {
    uint64_t set = field[FUZZ_FEATURES] | (uint64_t)field[FUZZ_FEATURES_HIGH] << 8;
    set &= scope->kernel->features & ATTEST_ALL_FEATURES;
    if ((set & ATTEST_MASK_BOOL) && (set & ATTEST_MASK_ADD)) {
        set &= ~(field[FUZZ_MASK_TYPE] & 2 ? ATTEST_MASK_BOOL : ATTEST_MASK_ADD);
    }
    if (profile->window_form == ATTN_WINDOW_NOT_DEFINED) {
        set &= ~ATTEST_WINDOW_SIZE;
    }
    if ((set & ATTEST_WINDOW) && (set & ATTEST_WINDOW_SIZE)) {
        set &= ~(field[FUZZ_WINDOW_SIZE] & 1 ? ATTEST_WINDOW : ATTEST_WINDOW_SIZE);
    }
    if (profile->mask_with_causal == ATTN_MASK_CAUSAL_ERROR && (set & ATTEST_CAUSAL)) {
        set &= ~(ATTEST_MASK_BOOL | ATTEST_MASK_ADD);
    }
    if (profile->default_scale == ATTN_SCALE_REQUIRED) {
        set |= ATTEST_SCALE;
    }
    return set;
}

static attn_profile read_profile(const unsigned char *field) {
    unsigned low = field[FUZZ_PROFILE], high = field[FUZZ_PROFILE_HIGH];
    return (attn_profile){
        .corner = (attn_corner)(low % 3),
        .window_form = (attn_window_form)(low / 3 % 4),
        .default_scale = (attn_default_scale)(low / 12 % 3),
        .gqa_order = (attn_gqa_order)(low / 36 % 2),
        .lse_base = (attn_lse_base)(low / 72 % 2),
        .lse_empty = (attn_lse_empty)(high % 3),
        .empty_row = (attn_empty_row)(high / 3 % 4),
        .mask_with_causal = (attn_mask_with_causal)(high / 12 % 4),
    };
}

static double read_scale(unsigned char byte) {
    static const double values[] = {1,   0.5,  0.125,    0,   -1,       2,         4,         -0.25,
                                    16., 1e-3, 0x1p-126, 64., 0x1p-149, 0x1p-1074, 0x1.8p-20, -8};
    return byte < 16 ? values[byte] : (double)(signed char)byte / 64;
}

static double read_softcap(unsigned char byte) {
    static const double values[] = {1, 0.5, 5, 30, 50, 1e-3, 1e3, 1e6, 0x1p-20, 0x1p60};
    return byte < 10 ? values[byte] : (double)byte / 16;
}

static int64_t read_window(unsigned char byte, int64_t keys) {
    return byte == 0xff ? ATTEST_UNBOUNDED : byte == 0xfe ? INT64_MAX : byte % (keys + 2);
}

static void describe(attest_fuzz_problem *r, const attest_fuzz_scope *scope) {
    const unsigned char *field = r->field;
    const attest_kernel *kernel = scope->kernel;
    const sizes s = read_sizes(field, scope);
    const int64_t q_heads = s.kv_heads * s.group;
    int mixed = (kernel->shapes & ATTEST_CAN_MIXED_TYPES) != 0;
    attest_dtype q = float_type(kernel->dtypes, field[FUZZ_Q_TYPE]);
    attest_dtype k = mixed ? float_type(kernel->dtypes, field[FUZZ_K_TYPE]) : q;
    attest_dtype o = mixed ? float_type(kernel->dtypes, field[FUZZ_O_TYPE]) : q;
    attest_dtype wide = q == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    attest_problem *p = &r->problem;
    p->q = shaped(q, 4, (const int64_t[]){s.batch, q_heads, s.queries, s.d});
    p->k = shaped(k, 4, (const int64_t[]){s.batch, s.kv_heads, s.keys, s.d});
    p->v = shaped(k, 4, (const int64_t[]){s.batch, s.kv_heads, s.keys, s.dv});
    p->o = shaped(o, 4, (const int64_t[]){s.batch, q_heads, s.queries, s.dv});
    if (p->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
        const int64_t full[] = {s.batch, q_heads, s.queries, s.keys};
        uint32_t rank = (uint32_t)(4 - field[FUZZ_MASK_RANK] % 5);
        attest_dtype type = p->features & ATTEST_MASK_BOOL ? ATTEST_BOOL
                            : field[FUZZ_MASK_TYPE] & 1    ? q
                                                           : wide;
        p->mask = shaped(type, rank, full + 4 - rank);
        for (uint32_t axis = 0; axis < rank; axis++) {
            p->mask.shape[axis] = field[FUZZ_MASK_ONES] >> axis & 1 ? 1 : p->mask.shape[axis];
        }
    }
    if (p->features & ATTEST_SINKS) {
        p->sinks = shaped(wide, 1, &q_heads);
    }
    if (p->features & ATTEST_ALIBI) {
        uint32_t rank = 1 + (field[FUZZ_SLOPES_RANK] & 1u);
        p->slopes = shaped(wide, rank, p->q.shape + 2 - rank);
    }
    if (p->features & ATTEST_KEY_LENGTHS) {
        p->key_lengths = shaped(ATTEST_I64, 1, &s.batch);
    }
    if (p->features & ATTEST_OFFSETS) {
        p->offsets = shaped(ATTEST_I64, 1, &s.batch);
    }
    if (p->features & ATTEST_LSE) {
        p->lse = shaped(wide, 3, p->q.shape);
    }
    p->scale = read_scale(field[FUZZ_SCALE]);
    p->softcap = read_softcap(field[FUZZ_SOFTCAP]);
    p->window_left = read_window(field[FUZZ_WINDOW_LEFT], s.keys);
    p->window_right = read_window(field[FUZZ_WINDOW_RIGHT], s.keys);
    p->window_size = 1 + field[FUZZ_WINDOW_SIZE] % (s.keys + 2);
}

int attest_fuzz_decode(attest_fuzz_problem *r, const attest_fuzz_scope *scope,
                       const unsigned char *bytes, size_t size) {
    static const unsigned char layout_field[ATTN_OPERANDS] = {
        FUZZ_LAYOUT_Q,     FUZZ_LAYOUT_K,     FUZZ_LAYOUT_V,     FUZZ_LAYOUT_MASK,
        FUZZ_LAYOUT_LISTS, FUZZ_LAYOUT_LISTS, FUZZ_LAYOUT_LISTS, FUZZ_LAYOUT_LISTS,
        FUZZ_LAYOUT_O,     FUZZ_LAYOUT_LSE};
    size_t fields = size < FUZZ_FIELDS ? size : FUZZ_FIELDS;
    *r = (attest_fuzz_problem){.problem = {.struct_bytes = sizeof r->problem, .threads = 1}};
    if (fields > 0) {
        memcpy(r->field, bytes, fields);
    }
    r->profile = scope->any_profile ? read_profile(r->field) : scope->profile;
    r->problem.features = read_features(r->field, scope, &r->profile);
    describe(r, scope);
    for (int which = 0; which < ATTN_OPERANDS; which++) {
        attest_tensor *t = attn_operand_of(&r->problem, which);
        if (t->dtype == 0) {
            continue;
        }
        unsigned char layout = r->field[layout_field[which]];
        if (!(scope->kernel->shapes & ATTEST_CAN_STRIDES)) {
            layout &= 0x80;
        }
        lay_out(t, layout, which >= ATTN_INPUTS);
        if (!allocate(r, which, layout, scope->kernel->alignment)) {
            return 0;
        }
    }
    size_t rest = size - fields < FUZZ_MOST_BYTES ? size - fields : FUZZ_MOST_BYTES;
    attest_fuzz_fill(r, scope, rest ? bytes + fields : NULL, rest);
    return 1;
}

void attest_fuzz_release(attest_fuzz_problem *r) {
    for (int which = 0; which < ATTN_OPERANDS; which++) {
        free(r->block[which].memory);
        r->block[which] = (attest_fuzz_block){0};
    }
}
