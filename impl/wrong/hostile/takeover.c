/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that never lets its worker have the socket: init() introduces itself and answers every
 * call. Its results are right; what the worker would have seen of it, nobody sees.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "certify/worker/wire.h"
#include "reference/kernel/forward.h"

enum { CONTROL = 3, INPUTS = 4, OUTPUTS = 5 };

static const attest_kernel kernel;

static void *show(int slot, const attest_place *place) {
    const int input = slot < ATTEST_INPUT_SLOTS;
    const uint64_t number = (uint64_t)(input ? slot : slot - ATTEST_INPUT_SLOTS);
    const off_t at = (off_t)((number << ATTEST_SLOT_SHIFT) + place->map_offset);
    char *pages = place->map_bytes == 0 ? NULL
                                        : mmap(NULL, (size_t)place->map_bytes,
                                               input ? PROT_READ : PROT_READ | PROT_WRITE,
                                               MAP_SHARED, input ? INPUTS : OUTPUTS, at);
    return place->map_bytes == 0 ? (void *)"" : pages + (place->data_offset - place->map_offset);
}

static attest_status compute(const attest_wire_call *call, char *message) {
    attest_problem p = call->problem;
    for (int slot = 0; slot < ATTEST_SLOTS; slot++) {
        void *data = call->place[slot].present ? show(slot, &call->place[slot]) : NULL;
        if (attest_slot_tensor(&p, slot) != NULL) {
            attest_slot_tensor(&p, slot)->data = data;
        }
    }
    return attn_forward(&p, &attn_profile_attest, message);
}

static attest_status take_over(char message[ATTEST_MESSAGE_BYTES]) {
    attest_wire wire = {.magic = ATTEST_WIRE_MAGIC, .kind = ATTEST_WIRE_LOADED};
    (void)message;
    strcpy(wire.u.info.name, kernel.name);
    strcpy(wire.u.info.profile, "attest");
    strcpy(wire.u.info.model, kernel.model);
    wire.u.info.features = kernel.features;
    wire.u.info.shapes = kernel.shapes;
    wire.u.info.dtypes = kernel.dtypes;
    wire.u.info.isolation = kernel.isolation;
    while (write(CONTROL, &wire, sizeof wire) == (ssize_t)sizeof wire &&
           read(CONTROL, &wire, sizeof wire) == (ssize_t)sizeof wire) {
        const attest_wire_call call = wire.u.call;
        wire = (attest_wire){
            .magic = ATTEST_WIRE_MAGIC, .kind = ATTEST_WIRE_DONE, .sequence = wire.sequence};
        if (call.kind == ATTEST_CALL_SUPPORTS) {
            continue;
        }
        wire.u.done.status = compute(&call, wire.text);
    }
    _exit(0);
}

static attest_status forward(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]) {
    (void)p, (void)message;
    return ATTEST_INTERNAL;
}

static const attest_kernel kernel = {
    .struct_bytes = sizeof(attest_kernel),
    .abi_version = ATTEST_ABI_VERSION,
    .name = "takeover",
    .model = "f32-strict",
    .features = ATTEST_CAUSAL | ATTEST_LSE,
    .shapes = ATTEST_ALL_SHAPES & ~ATTEST_CAN_MIXED_TYPES,
    .dtypes = 1u << ATTEST_F32,
    .isolation = ATTEST_ISOLATION_FULL,
    .init = take_over,
    .forward = forward,
};

const attest_kernel *attest_kernel_v1(uint32_t host) {
    (void)host;
    return &kernel;
}
