/* SPDX-License-Identifier: GPL-3.0-or-later */
/* event.h - inside bundles: an event as JSON, and outputs as bytes. */
#ifndef ATTEST_EVENT_H
#define ATTEST_EVENT_H

#include <jansson.h>

#include "certify/host/tape.h"

/* An event with the place of its outputs among the blobs. */
json_t *attest_event_json(const attest_event *event, uint64_t offset, uint64_t bytes);
/* 1, or 0 if it makes no sense. */
int attest_event_load(const json_t *object, attest_event *event, uint64_t *offset, uint64_t *bytes);

/* Elements of o and of the LSE in row-major order, without gaps. */
uint64_t attest_outputs_bytes(const attest_stage *stage);
void attest_outputs_take(const attest_stage *stage, unsigned char *bytes);
void attest_outputs_put(const attest_stage *stage, const unsigned char *bytes);

#endif
