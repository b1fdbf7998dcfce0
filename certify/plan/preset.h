/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preset.h - the shapes of models that people run: prefill, decode, chunked prefill. */
#ifndef ATTEST_PRESET_H
#define ATTEST_PRESET_H

#include "certify/plan/plan.h"

/* Adds a case a model and use, its lengths such that it costs at most `most` nanoseconds. */
void attest_preset_plan(attest_plan *plan, double most);

/* The model of a preset, which is parameter 1 of its case; NULL if there is none. */
const char *attest_preset_name(int64_t number);

#endif
