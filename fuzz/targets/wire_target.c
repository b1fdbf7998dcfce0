/* SPDX-License-Identifier: Apache-2.0 */
/* A datagram from a worker: what is accepted is clean, and accepted again it is the same. */
#include <math.h>
#include <string.h>

#include "certify/worker/wire.h"
#include "fuzz/core/fuzz_target.h"

static void check_text(const char *text, size_t size) {
    const char *end = memchr(text, 0, size);
    for (const char *at = text; end && at < end; at++) {
        if (*at < ' ' || *at > '~') {
            attest_fuzz_stop("wire: a character that does not print was accepted");
        }
    }
    if (end == NULL) {
        attest_fuzz_stop("wire: a text without an end was accepted");
    }
}

static void check_info(const attest_kernel_info *info) {
    check_text(info->name, sizeof info->name);
    check_text(info->vendor, sizeof info->vendor);
    check_text(info->version, sizeof info->version);
    check_text(info->profile, sizeof info->profile);
    check_text(info->model, sizeof info->model);
    if (!isfinite(info->exp_ulps) || !isfinite(info->max_abs_score) || info->max_keys < 0 ||
        info->isolation > ATTEST_ISOLATION_FULL || (info->features & ~ATTEST_ALL_FEATURES)) {
        attest_fuzz_stop("wire: a descriptor out of range was accepted");
    }
}

/* Each place that fits ends inside its slot, in exact arithmetic. */
static void check_places(const attest_wire_call *call) {
    for (int slot = 0; attest_wire_places_fit(call, 4096) && slot < ATTEST_SLOTS; slot++) {
        const attest_place *p = &call->place[slot];
        __extension__ typedef unsigned __int128 wide;
        if (p->present &&
            ((wide)p->map_offset + p->map_bytes > ATTEST_SLOT_BYTES ||
             (wide)p->data_offset + p->data_bytes > (wide)p->map_offset + p->map_bytes)) {
            attest_fuzz_stop("wire: a place outside its slot was accepted");
        }
    }
}

void attest_fuzz_input(const uint8_t *data, size_t size) {
    unsigned char bytes[sizeof(attest_wire) + 1] = {0};
    attest_wire message, again;
    const char *why = NULL;
    /* Short inputs stand for a whole message, or it would take libFuzzer long to fill one. */
    size_t given = size > sizeof(attest_wire) ? sizeof(attest_wire) + 1 : sizeof(attest_wire);
    if (size > 0) {
        memcpy(bytes, data, size < sizeof bytes ? size : sizeof bytes);
    }
    if (!attest_wire_accept(&message, bytes, given, &why)) {
        if (why == NULL || why[0] == '\0') {
            attest_fuzz_stop("wire: refused without a reason");
        }
        return;
    }
    check_text(message.text, sizeof message.text);
    if (message.kind == ATTEST_WIRE_LOADED) {
        check_info(&message.u.info);
    } else if (message.kind == ATTEST_WIRE_CALL) {
        check_places(&message.u.call);
    }
    if (!attest_wire_accept(&again, &message, sizeof message, &why) ||
        memcmp(&again, &message, sizeof message) != 0) {
        attest_fuzz_stop("wire: what was accepted is not accepted again");
    }
}
