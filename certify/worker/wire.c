/* SPDX-License-Identifier: Apache-2.0 */
#include "certify/worker/wire.h"

#include <math.h>
#include <string.h>

void attest_printable(char *text, size_t size) {
    if (size == 0) {
        return;
    }
    text[size - 1] = '\0';
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        if (text[i] < ' ' || text[i] > '~') {
            text[i] = '?';
        }
    }
    memset(text + length, 0, size - length);
}

static int info_is_sane(attest_kernel_info *info, const char **why) {
    attest_printable(info->name, sizeof info->name);
    attest_printable(info->vendor, sizeof info->vendor);
    attest_printable(info->version, sizeof info->version);
    attest_printable(info->profile, sizeof info->profile);
    attest_printable(info->model, sizeof info->model);
    if (info->name[0] == '\0') {
        *why = "descriptor: name is empty";
    } else if (info->features & ~ATTEST_ALL_FEATURES) {
        *why = "descriptor: features has bits that are not defined";
    } else if (info->shapes & ~ATTEST_ALL_SHAPES) {
        *why = "descriptor: shapes has bits that are not defined";
    } else if (info->dtypes == 0 || (info->dtypes & ~UINT64_C(0x1e))) {
        *why = "descriptor: dtypes is empty or names a type that is not one of q, k, v, o";
    } else if (info->max_head_size < 0 || info->max_queries < 0 || info->max_keys < 0) {
        *why = "descriptor: a size limit is negative";
    } else if (!(info->max_abs_score >= 0) || !isfinite(info->max_abs_score)) {
        *why = "descriptor: max_abs_score is negative or not finite";
    } else if (!(info->exp_ulps >= 0) || !isfinite(info->exp_ulps)) {
        *why = "descriptor: exp_ulps is negative or not finite";
    } else if (info->finite_only > 1 || info->reentrant > 1) {
        *why = "descriptor: finite_only or reentrant is neither 0 nor 1";
    } else if (info->isolation > ATTEST_ISOLATION_FULL) {
        *why = "descriptor: isolation is not a rung";
    } else if (info->determinism >> 6) {
        *why = "descriptor: determinism has bits that are not defined";
    } else if ((info->alignment & (info->alignment - 1)) || info->alignment > 4096) {
        *why = "descriptor: alignment is not a power of two up to 4096, nor 0";
    } else {
        return 1;
    }
    return 0;
}

int attest_wire_accept(attest_wire *message, const void *bytes, size_t size, const char **why) {
    *why = "message has a wrong size";
    if (size != sizeof *message) {
        return 0;
    }
    memcpy(message, bytes, sizeof *message);
    attest_printable(message->text, sizeof message->text);
    *why = "message has a wrong magic number";
    if (message->magic != ATTEST_WIRE_MAGIC) {
        return 0;
    }
    switch (message->kind) {
    case ATTEST_WIRE_READY:
    case ATTEST_WIRE_REFUSED:
        return 1;
    case ATTEST_WIRE_LOADED:
        return info_is_sane(&message->u.info, why);
    case ATTEST_WIRE_CALL:
        *why = "call is of an unknown kind";
        return message->u.call.kind >= ATTEST_CALL_SUPPORTS &&
               message->u.call.kind <= ATTEST_CALL_TOGETHER && message->u.call.callers <= 16;
    case ATTEST_WIRE_DONE:
        *why = "status is not one of attest.h";
        return message->u.done.status >= ATTEST_OK && message->u.done.status <= ATTEST_INTERNAL &&
               message->u.done.faults < 16;
    default:
        *why = "message is of an unknown kind";
        return 0;
    }
}

int attest_wire_places_fit(const attest_wire_call *call, uint64_t page) {
    for (int slot = 0; slot < ATTEST_SLOTS; slot++) {
        const attest_place *p = &call->place[slot];
        if (!p->present) {
            continue;
        }
        if (p->map_offset % page != 0 || p->map_bytes % page != 0 ||
            p->map_offset >= ATTEST_SLOT_BYTES ||
            p->map_bytes > ATTEST_SLOT_BYTES - p->map_offset) {
            return 0;
        }
        if (p->data_offset < p->map_offset || p->data_offset > p->map_offset + p->map_bytes ||
            p->data_bytes > p->map_offset + p->map_bytes - p->data_offset) {
            return 0;
        }
    }
    return 1;
}
