/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/evidence/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/plan/data.h"
#include "certify/plan/requirement.h"
#include "certify/result/text.h"
#include "reference/problem/normal.h"

json_t *attest_event_json(const attest_event *e, uint64_t offset, uint64_t bytes) {
    const attest_observation *seen = &e->seen;
    char hash[24], text[sizeof e->outcome.text];
    snprintf(hash, sizeof hash, "%016" PRIx64, seen->inputs_hash);
    attest_text_copy(text, sizeof text, e->outcome.text);
    attest_printable(text, sizeof text);
    json_t *o =
        json_pack("{s:I,s:I,s:I,s:s}", "kind", (json_int_t)e->kind, "callers",
                  (json_int_t)e->callers, "ending", (json_int_t)e->outcome.ending, "inputs", hash);
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"status", e->outcome.status},
        {"faults", e->outcome.faults},
        {"changed", seen->inputs_changed},
        {"unsettled", seen->unsettled},
        {"stray", seen->stray},
        {"stray_slot", seen->stray_slot},
        {"stray_distance", seen->stray_distance},
        {"workspace", (int64_t)e->outcome.workspace_bytes},
        {"at", (int64_t)offset},
        {"bytes", (int64_t)bytes},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) { /* 0 is left out */
        if (numbers[i].value != 0) {
            json_object_set_new(o, numbers[i].name, json_integer((json_int_t)numbers[i].value));
        }
    }
    if (text[0] != '\0') {
        json_object_set_new(o, "text", json_string(text));
    }
    if (e->outcome.requirement != NULL) {
        json_object_set_new(o, "requirement", json_string(e->outcome.requirement));
    }
    return o;
}

static int64_t number(const json_t *o, const char *name) {
    return (int64_t)json_integer_value(json_object_get(o, name));
}

int attest_event_load(const json_t *o, attest_event *e, uint64_t *offset, uint64_t *bytes) {
    const char *inputs = json_string_value(json_object_get(o, "inputs"));
    const char *id = json_string_value(json_object_get(o, "requirement"));
    const int64_t ending = number(o, "ending"), slot = number(o, "stray_slot");
    const attest_requirement *broken =
        id != NULL ? attest_requirement_at(attest_requirement_index(id)) : NULL;
    if (inputs == NULL || ending < 0 || ending > ATTEST_ENDING_TROUBLE || slot < 0 ||
        slot >= ATTEST_SLOTS || (id != NULL && broken == NULL)) {
        return 0;
    }
    *e = (attest_event){.kind = (uint32_t)number(o, "kind"),
                        .callers = (uint32_t)number(o, "callers"),
                        .outcome = {.ending = (attest_ending)ending,
                                    .status = (attest_status)number(o, "status"),
                                    .faults = (uint32_t)number(o, "faults"),
                                    .workspace_bytes = (uint64_t)number(o, "workspace"),
                                    .requirement = broken != NULL ? broken->id : NULL},
                        .seen = {.inputs_hash = strtoull(inputs, NULL, 16),
                                 .inputs_changed = number(o, "changed") != 0,
                                 .unsettled = number(o, "unsettled") != 0,
                                 .stray = number(o, "stray") != 0,
                                 .stray_slot = (int32_t)slot,
                                 .stray_distance = number(o, "stray_distance")}};
    attest_text_copy(e->outcome.text, sizeof e->outcome.text,
                     json_string_value(json_object_get(o, "text")));
    *offset = (uint64_t)number(o, "at");
    *bytes = (uint64_t)number(o, "bytes");
    return 1;
}

static uint64_t tensor_bytes(const attest_tensor *t) {
    uint64_t bytes = t->dtype ? (uint64_t)attn_dtype_bytes(t->dtype) : 0;
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        bytes *= (uint64_t)t->shape[axis];
    }
    return bytes;
}

uint64_t attest_outputs_bytes(const attest_stage *stage) {
    return tensor_bytes(&stage->problem.o) + tensor_bytes(&stage->problem.lse);
}

static int64_t extent(const attest_tensor *t, uint32_t axis) {
    return axis < t->rank ? t->shape[axis] : 1;
}

/* Copies between the tensor and the bytes; returns how many. */
static uint64_t copy(const attest_tensor *t, unsigned char *bytes, int put) {
    const size_t size = t->dtype ? (size_t)attn_dtype_bytes(t->dtype) : 0;
    uint64_t at = 0;
    for (int64_t a = 0; size > 0 && tensor_bytes(t) > 0 && a < extent(t, 0); a++) {
        for (int64_t b = 0; b < extent(t, 1); b++) {
            for (int64_t c = 0; c < extent(t, 2); c++) {
                for (int64_t d = 0; d < extent(t, 3); d++, at += size) {
                    void *cell = attest_at(t, a, b, c, d);
                    memcpy(put ? cell : bytes + at, put ? bytes + at : cell, size);
                }
            }
        }
    }
    return at;
}

void attest_outputs_take(const attest_stage *stage, unsigned char *bytes) {
    const uint64_t used = copy(&stage->problem.o, bytes, 0);
    copy(&stage->problem.lse, bytes + used, 0);
}

/* Into the shared memory, where a worker would have written them. */
void attest_outputs_put(const attest_stage *stage, const unsigned char *bytes) {
    attest_tensor o = stage->problem.o, lse = stage->problem.lse;
    unsigned char *from = (unsigned char *)(uintptr_t)bytes; /* copy() only reads it here */
    o.data = attest_arena_at(stage->arena, ATTEST_SLOT_O, stage->place[ATTEST_SLOT_O].data_offset);
    lse.data =
        attest_arena_at(stage->arena, ATTEST_SLOT_LSE, stage->place[ATTEST_SLOT_LSE].data_offset);
    const uint64_t used = copy(&o, from, 1);
    copy(&lse, from + used, 1);
}
