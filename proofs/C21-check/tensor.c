/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What attn_check says of tensors one by one and of two of them, against ERR-03 to ERR-05 written
 * down in wide integers: everything of a tensor is arbitrary, the address of its data, too. An axis
 * has any length, or all four are LENGTH long: extents are products, and a solver does not decide
 * those of two arbitrary 64-bit numbers. With FARTHEST strides are at most that.
 *
 * The source is included, so that its static functions can be asked.
 */
#include <stdarg.h>
#include <stdio.h>

#include "proofs/harness/proof.h"

#include PROOF_SOURCE

typedef __int128 wide;

int vsnprintf(char *text, size_t size, const char *format, va_list arguments) {
    (void)text;
    (void)size;
    (void)format;
    (void)arguments;
    return nondet_int();
}

static attest_tensor any_tensor(void) {
    attest_tensor tensor = {
        .data = (void *)nondet_size(), .dtype = nondet_unsigned(), .rank = nondet_unsigned()};
#ifdef LENGTH
    tensor.rank = ATTEST_MAX_RANK;
#endif
    for (int axis = 0; axis < ATTEST_MAX_RANK; axis++) {
#ifdef LENGTH
        tensor.shape[axis] = LENGTH;
#else
        tensor.shape[axis] = nondet_long();
#endif
#ifdef FARTHEST
        tensor.stride[axis] = nondet_byte() & FARTHEST;
#else
        tensor.stride[axis] = nondet_long();
#endif
    }
    return tensor;
}

static int width(attest_dtype dtype) {
    static const int bytes[] = {0, 4, 8, 2, 2, 1, 8};
    return dtype <= ATTEST_I64 ? bytes[dtype] : 0;
}

static _Bool has_elements(const attest_tensor *t) {
    _Bool some = 1;
    for (uint32_t axis = 0; axis < ATTEST_MAX_RANK; axis++) {
        some = some && (axis >= t->rank || t->shape[axis] > 0);
    }
    return some;
}

#ifdef LENGTH
/* Elements from the first to past the last; by adding, which a solver finds easier. */
static wide span(const attest_tensor *t) {
    wide last = 0;
    for (uint32_t axis = 0; axis < ATTEST_MAX_RANK; axis++) {
        for (int step = 1; step <= LENGTH && axis < t->rank; step++) {
            last += step < t->shape[axis] ? t->stride[axis] : 0;
        }
    }
    return last + 1;
}
#endif

static wide start(const attest_tensor *t) { return (wide)(uintptr_t)t->data; }

static void one_tensor(const attest_tensor *t, _Bool metadata_only) {
    PROVE(width(t->dtype) > 0, "C21 a type that exists");
    PROVE(t->rank <= ATTEST_MAX_RANK, "C21 a rank of at most 4");
    for (uint32_t axis = 0; axis < ATTEST_MAX_RANK; axis++) {
        PROVE(t->shape[axis] >= 0 && t->shape[axis] <= ATTN_MAX_AXIS, "C21 lengths in range");
        PROVE(t->stride[axis] >= 0, "C21 no negative stride");
        PROVE(axis < t->rank || (t->shape[axis] == 0 && t->stride[axis] == 0),
              "C21 nothing beyond the rank");
    }
    if (metadata_only || !has_elements(t)) {
        return;
    }
    PROVE(t->data && start(t) % width(t->dtype) == 0, "C21 data aligned to its element");
#ifdef LENGTH
    PROVE(span(t) * width(t->dtype) <= INT64_MAX, "C21 an extent in 63 bits");
    PROVE(start(t) + span(t) * width(t->dtype) <= UINTPTR_MAX, "C21 an end in the address space");
#endif
}

#ifdef FARTHEST
/* Two places of an output that differ in an axis differ in their element. */
static void no_folds(const attest_tensor *t) {
    int first = 0, second = 0;
    _Bool differ = 0;
    for (int axis = 0; axis < ATTEST_MAX_RANK; axis++) {
        const int a = nondet_byte() & 3, b = nondet_byte() & 3;
        if (a >= LENGTH || b >= LENGTH) {
            return;
        }
        first += a * (int)t->stride[axis];
        second += b * (int)t->stride[axis];
        differ = differ || a != b;
    }
    PROVE(!differ || first != second, "C21 elements of an output are apart");
    REACHED(differ, "two elements of an output");
}
#endif

int main(void) {
    const checker check = {.message = NULL, .metadata_only = nondet_bool()};
    const attest_tensor tensor = any_tensor();
    if (check_tensor(&check, &tensor, "tensor") != ATTEST_OK) {
        REACHED(1, "a tensor that is refused");
        return 0;
    }
#ifdef FARTHEST
    if (check_output(&check, &tensor, "tensor") == ATTEST_OK) {
        no_folds(&tensor);
    }
#else
    one_tensor(&tensor, check.metadata_only != 0);
#endif
#ifdef OVERLAP
    const attest_tensor other = any_tensor();
    if (!check.metadata_only && check_tensor(&check, &other, "other") == ATTEST_OK &&
        !ranges_meet(&tensor, &other)) {
        PROVE(start(&tensor) + span(&tensor) * width(tensor.dtype) <= start(&other) ||
                  start(&other) + span(&other) * width(other.dtype) <= start(&tensor),
              "C21 ranges that do not meet are apart");
        REACHED(start(&tensor) > start(&other), "ranges that are apart");
    }
#endif
    REACHED(tensor.rank == ATTEST_MAX_RANK && !check.metadata_only, "a tensor that is accepted");
}
