/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/problem/validate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define MAX_STRUCT_BYTES 65536 /* a larger size is a mistake, not a newer version */

typedef struct checker {
    const attest_problem *problem;
    char *message;
    int metadata_only;
} checker;

__attribute__((format(printf, 3, 4))) static attest_status
refuse(const checker *check, attest_status status, const char *format, ...) {
    va_list arguments;
    if (check->message) {
        va_start(arguments, format);
        vsnprintf(check->message, ATTEST_MESSAGE_BYTES, format, arguments);
        va_end(arguments);
    }
    return status;
}

#define INVALID(...) refuse(check, ATTEST_INVALID, __VA_ARGS__)
#define TRY(call)                                                                                  \
    do {                                                                                           \
        attest_status try_status = (call);                                                         \
        if (try_status != ATTEST_OK) {                                                             \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

int64_t attn_dtype_bytes(attest_dtype dtype) {
    switch (dtype) {
    case ATTEST_F32:
        return 4;
    case ATTEST_F64:
    case ATTEST_I64:
        return 8;
    case ATTEST_F16:
    case ATTEST_BF16:
        return 2;
    case ATTEST_BOOL:
        return 1;
    default:
        return 0;
    }
}

static int is_float(attest_dtype dtype) { return dtype >= ATTEST_F32 && dtype <= ATTEST_BF16; }

/* Distance in bytes from the first to past the last element; 0 if there is none, -1 if too large */
static int64_t extent_bytes(const attest_tensor *tensor) {
    int64_t last = 0, elements = 1;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        int64_t length = tensor->shape[axis], step;
        if (length == 0) {
            return 0;
        }
        if (__builtin_mul_overflow(elements, length, &elements) ||
            __builtin_mul_overflow(length - 1, tensor->stride[axis], &step) ||
            __builtin_add_overflow(last, step, &last)) {
            return -1;
        }
    }
    int64_t bytes;
    if (__builtin_add_overflow(last, 1, &last) ||
        __builtin_mul_overflow(last, attn_dtype_bytes(tensor->dtype), &bytes) ||
        __builtin_mul_overflow(elements, attn_dtype_bytes(tensor->dtype), &elements)) {
        return -1;
    }
    return bytes;
}

static attest_status check_tensor(const checker *check, const attest_tensor *tensor,
                                  const char *name) {
    if (attn_dtype_bytes(tensor->dtype) == 0) {
        return INVALID("%s.dtype: %u is not a type", name, tensor->dtype);
    }
    if (tensor->rank > ATTEST_MAX_RANK) {
        return INVALID("%s.rank: %u is more than %d", name, tensor->rank, ATTEST_MAX_RANK);
    }
    for (uint32_t axis = 0; axis < ATTEST_MAX_RANK; axis++) {
        int64_t length = tensor->shape[axis], stride = tensor->stride[axis];
        if (axis >= tensor->rank && (length != 0 || stride != 0)) {
            return INVALID("%s: shape and stride beyond its rank %u must be 0", name, tensor->rank);
        }
        if (length < 0 || length > ATTN_MAX_AXIS) {
            return INVALID("%s.shape[%u]: %lld is not between 0 and 2^40", name, axis,
                           (long long)length);
        }
        if (stride < 0) {
            return INVALID("%s.stride[%u]: %lld is negative", name, axis, (long long)stride);
        }
    }
    int64_t bytes = extent_bytes(tensor);
    if (bytes < 0) {
        return INVALID("%s: shape times stride overflows 64 bits", name);
    }
    if (!check->metadata_only && bytes > 0) {
        uintptr_t address = (uintptr_t)tensor->data;
        if (address == 0) {
            return INVALID("%s.data: is NULL", name);
        }
        if (address % (uintptr_t)attn_dtype_bytes(tensor->dtype) != 0) {
            return INVALID("%s.data: not aligned to its element size", name);
        }
        if ((uintptr_t)bytes > UINTPTR_MAX - address) {
            return INVALID("%s: ends beyond the address space", name);
        }
    }
    return ATTEST_OK;
}

static attest_status check_shape(const checker *check, const attest_tensor *tensor,
                                 const char *name, uint32_t rank, const int64_t *shape) {
    if (tensor->rank != rank) {
        return INVALID("%s.rank: %u, must be %u", name, tensor->rank, rank);
    }
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (tensor->shape[axis] != shape[axis]) {
            return INVALID("%s.shape[%u]: %lld, must be %lld", name, axis,
                           (long long)tensor->shape[axis], (long long)shape[axis]);
        }
    }
    return ATTEST_OK;
}

static attest_status check_type(const checker *check, const attest_tensor *tensor, const char *name,
                                attest_dtype dtype) {
    if (tensor->dtype != dtype) {
        return INVALID("%s.dtype: %u, must be %u", name, tensor->dtype, dtype);
    }
    return ATTEST_OK;
}

/*
 * Two elements of an output must not share an address. Sufficient, and true of every layout that
 * nests its axes: taken by growing stride, each axis steps past all that the smaller ones cover.
 */
static attest_status check_output(const checker *check, const attest_tensor *tensor,
                                  const char *name) {
    int64_t covered = 1; /* elements from the first to past the last one reached so far */
    unsigned done = 0;
    if (extent_bytes(tensor) == 0) {
        return ATTEST_OK;
    }
    for (uint32_t round = 0; round < tensor->rank; round++) {
        uint32_t next = ATTEST_MAX_RANK;
        for (uint32_t axis = 0; axis < tensor->rank; axis++) {
            if (!(done >> axis & 1u) && tensor->shape[axis] > 1 &&
                (next == ATTEST_MAX_RANK || tensor->stride[axis] <= tensor->stride[next])) {
                next = axis;
            }
        }
        if (next == ATTEST_MAX_RANK) {
            break;
        }
        if (tensor->stride[next] < covered) {
            return INVALID("%s.stride[%u]: %lld makes elements of an output overlap", name, next,
                           (long long)tensor->stride[next]);
        }
        covered += (tensor->shape[next] - 1) * tensor->stride[next];
        done |= 1u << next;
    }
    return ATTEST_OK;
}

typedef struct operand {
    const attest_tensor *tensor;
    const char *name;
    uint64_t features; /* present where the problem has one of these; 0: always */
    int is_output;
} operand;

#define OPERANDS 10

static void list_operands(const attest_problem *p, operand list[OPERANDS]) {
    const operand all[OPERANDS] = {
        {&p->q, "q", 0, 0},
        {&p->k, "k", 0, 0},
        {&p->v, "v", 0, 0},
        {&p->mask, "mask", ATTEST_MASK_BOOL | ATTEST_MASK_ADD, 0},
        {&p->sinks, "sinks", ATTEST_SINKS, 0},
        {&p->slopes, "slopes", ATTEST_ALIBI, 0},
        {&p->key_lengths, "key_lengths", ATTEST_KEY_LENGTHS, 0},
        {&p->offsets, "offsets", ATTEST_OFFSETS, 0},
        {&p->o, "o", 0, 1},
        {&p->lse, "lse", ATTEST_LSE, 1},
    };
    for (int index = 0; index < OPERANDS; index++) {
        list[index] = all[index];
    }
}

static int is_present(const attest_problem *p, const operand *item) {
    return item->features == 0 || (p->features & item->features) != 0;
}

static int ranges_meet(const attest_tensor *a, const attest_tensor *b) {
    uintptr_t a_start = (uintptr_t)a->data, a_bytes = (uintptr_t)extent_bytes(a);
    uintptr_t b_start = (uintptr_t)b->data, b_bytes = (uintptr_t)extent_bytes(b);
    return a_bytes > 0 && b_bytes > 0 && a_start < b_start + b_bytes && b_start < a_start + a_bytes;
}

static attest_status check_overlap(const checker *check, const operand list[OPERANDS]) {
    for (int out = 0; out < OPERANDS; out++) {
        for (int other = 0; other < OPERANDS; other++) {
            if (out != other && list[out].is_output && is_present(check->problem, &list[out]) &&
                is_present(check->problem, &list[other]) &&
                ranges_meet(list[out].tensor, list[other].tensor)) {
                return INVALID("%s.data: overlaps %s", list[out].name, list[other].name);
            }
        }
    }
    return ATTEST_OK;
}

static attest_status check_header(const checker *check) {
    const attest_problem *p = check->problem;
    if (p->struct_bytes < sizeof *p || p->struct_bytes > MAX_STRUCT_BYTES) {
        return INVALID("struct_bytes: %llu, version 1 has %llu",
                       (unsigned long long)p->struct_bytes, (unsigned long long)sizeof *p);
    }
    const unsigned char *tail = (const unsigned char *)p;
    for (uint64_t byte = sizeof *p; byte < p->struct_bytes; byte++) {
        if (tail[byte] != 0) {
            return refuse(check, ATTEST_UNSUPPORTED, "byte %llu: a field of a later version is set",
                          (unsigned long long)byte);
        }
    }
    if ((p->features & ~ATTEST_ALL_FEATURES) != 0) {
        return refuse(check, ATTEST_UNSUPPORTED, "features: unknown bits 0x%llx",
                      (unsigned long long)(p->features & ~ATTEST_ALL_FEATURES));
    }
    uint64_t reserved = p->reserved32;
    for (unsigned word = 0; word < sizeof p->reserved / sizeof p->reserved[0]; word++) {
        reserved |= p->reserved[word];
    }
    if (reserved != 0) {
        return refuse(check, ATTEST_UNSUPPORTED, "reserved: must be 0");
    }
    if (p->threads < 1) {
        return INVALID("threads: %d, must be at least 1", p->threads);
    }
    return ATTEST_OK;
}

static attest_status check_main(const checker *check) {
    const attest_problem *p = check->problem;
    if (p->q.rank != 4 || p->k.rank != 4 || p->v.rank != 4) {
        return INVALID("q, k, v: rank %u, %u, %u, must be 4", p->q.rank, p->k.rank, p->v.rank);
    }
    int64_t batch = p->q.shape[0], q_heads = p->q.shape[1], queries = p->q.shape[2];
    int64_t kv_heads = p->k.shape[1], keys = p->k.shape[2];
    const int64_t k_shape[4] = {batch, kv_heads, keys, p->q.shape[3]};
    const int64_t v_shape[4] = {batch, kv_heads, keys, p->v.shape[3]};
    const int64_t o_shape[4] = {batch, q_heads, queries, p->v.shape[3]};
    if (!is_float(p->q.dtype) || !is_float(p->k.dtype) || !is_float(p->o.dtype)) {
        return INVALID("q, k, o: type %u, %u, %u, must be floating", p->q.dtype, p->k.dtype,
                       p->o.dtype);
    }
    TRY(check_type(check, &p->v, "v", p->k.dtype));
    if (p->q.shape[3] < 1) {
        return INVALID("q.shape[3]: the head size must be at least 1");
    }
    TRY(check_shape(check, &p->k, "k", 4, k_shape));
    TRY(check_shape(check, &p->v, "v", 4, v_shape));
    TRY(check_shape(check, &p->o, "o", 4, o_shape));
    if (kv_heads == 0 ? q_heads != 0 : q_heads % kv_heads != 0) {
        return INVALID("k.shape[1]: %lld KV heads do not divide %lld query heads",
                       (long long)kv_heads, (long long)q_heads);
    }
    return check_output(check, &p->o, "o");
}

static attest_status check_mask(const checker *check, attest_dtype wide) {
    const attest_problem *p = check->problem;
    const int64_t full[4] = {p->q.shape[0], p->q.shape[1], p->q.shape[2], p->k.shape[2]};
    if ((p->features & ATTEST_MASK_BOOL) && (p->features & ATTEST_MASK_ADD)) {
        return INVALID("features: ATTEST_MASK_BOOL and ATTEST_MASK_ADD exclude each other");
    }
    if (p->features & ATTEST_MASK_BOOL) {
        TRY(check_type(check, &p->mask, "mask", ATTEST_BOOL));
    } else if (p->mask.dtype != wide) {
        TRY(check_type(check, &p->mask, "mask", p->q.dtype));
    }
    for (uint32_t axis = 0; axis < p->mask.rank; axis++) {
        int64_t target = full[ATTEST_MAX_RANK - p->mask.rank + axis];
        if (p->mask.shape[axis] != 1 && p->mask.shape[axis] != target) {
            return INVALID("mask.shape[%u]: %lld, must be 1 or %lld", axis,
                           (long long)p->mask.shape[axis], (long long)target);
        }
    }
    return ATTEST_OK;
}

static attest_status check_integers(const checker *check, const attest_tensor *tensor,
                                    const char *name, int64_t low, int64_t high) {
    TRY(check_type(check, tensor, name, ATTEST_I64));
    TRY(check_shape(check, tensor, name, 1, check->problem->q.shape));
    for (int64_t b = 0; !check->metadata_only && b < tensor->shape[0]; b++) {
        int64_t value = ((const int64_t *)tensor->data)[b * tensor->stride[0]];
        if (value < low || value > high) {
            return INVALID("%s[%lld]: %lld is not between %lld and %lld", name, (long long)b,
                           (long long)value, (long long)low, (long long)high);
        }
    }
    return ATTEST_OK;
}

static attest_status check_options(const checker *check) {
    const attest_problem *p = check->problem;
    attest_dtype wide = p->q.dtype == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    const int64_t *q_shape = p->q.shape;
    if (p->features & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
        TRY(check_mask(check, wide));
    }
    if (p->features & ATTEST_SINKS) {
        TRY(check_type(check, &p->sinks, "sinks", wide));
        TRY(check_shape(check, &p->sinks, "sinks", 1, q_shape + 1));
    }
    if (p->features & ATTEST_ALIBI) {
        TRY(check_type(check, &p->slopes, "slopes", wide));
        uint32_t rank = p->slopes.rank == 2 ? 2 : 1;
        TRY(check_shape(check, &p->slopes, "slopes", rank, q_shape + 2 - rank));
    }
    if (p->features & ATTEST_KEY_LENGTHS) {
        TRY(check_integers(check, &p->key_lengths, "key_lengths", 0, p->k.shape[2]));
    }
    if (p->features & ATTEST_OFFSETS) {
        TRY(check_integers(check, &p->offsets, "offsets", -ATTN_MAX_OFFSET, ATTN_MAX_OFFSET));
    }
    if (p->features & ATTEST_LSE) {
        TRY(check_type(check, &p->lse, "lse", wide));
        TRY(check_shape(check, &p->lse, "lse", 3, q_shape));
        TRY(check_output(check, &p->lse, "lse"));
    }
    if ((p->features & ATTEST_SCALE) && !isfinite(p->scale)) {
        return INVALID("scale: %g is not finite", p->scale);
    }
    if ((p->features & ATTEST_SOFTCAP) && !(isfinite(p->softcap) && p->softcap > 0)) {
        return INVALID("softcap: %g is not finite and positive", p->softcap);
    }
    if ((p->features & ATTEST_WINDOW) && (p->features & ATTEST_WINDOW_SIZE)) {
        return INVALID("features: ATTEST_WINDOW and ATTEST_WINDOW_SIZE exclude each other");
    }
    if ((p->features & ATTEST_WINDOW) &&
        (p->window_left < ATTEST_UNBOUNDED || p->window_right < ATTEST_UNBOUNDED)) {
        return INVALID("window_left, window_right: %lld, %lld, must be at least -1",
                       (long long)p->window_left, (long long)p->window_right);
    }
    if ((p->features & ATTEST_WINDOW_SIZE) && p->window_size < 1) {
        return INVALID("window_size: %lld, must be at least 1", (long long)p->window_size);
    }
    return ATTEST_OK;
}

attest_status attn_check(const attest_problem *problem, int metadata_only,
                         char message[ATTEST_MESSAGE_BYTES]) {
    const checker state = {problem, message, metadata_only};
    const checker *check = &state;
    operand list[OPERANDS];
    if (!problem) {
        return INVALID("problem: is NULL");
    }
    TRY(check_header(check));
    list_operands(problem, list);
    for (int index = 0; index < OPERANDS; index++) {
        if (is_present(problem, &list[index])) {
            TRY(check_tensor(check, list[index].tensor, list[index].name));
        } else if (list[index].tensor->dtype != 0 || list[index].tensor->data) {
            return INVALID("%s: is given, but its feature bit is not set", list[index].name);
        }
    }
    TRY(check_main(check));
    TRY(check_options(check));
    return metadata_only ? ATTEST_OK : check_overlap(check, list);
}
