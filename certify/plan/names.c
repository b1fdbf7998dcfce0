/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/names.h"

#include <stddef.h>

const char *const attest_feature_table[] = {
    "causal", "offsets", "window", "window-size", "lengths", "mask-bool", "mask-add",
    "scale",  "softcap", "sinks",  "alibi",       "lse",     NULL};
const char *const attest_shape_table[] = {"gqa", "dv", "empty", "strides", "mixed-types", NULL};
const char *const attest_type_table[] = {"none", "f32", "f64", "f16", "bf16", "bool", "i64", NULL};
const char *const attest_rung_table[] = {"threads", "position", "batch", "chunk",
                                         "decode",  "prefix",   NULL};
const char *const attest_isolation_table[] = {"none",     "finite", "extreme",
                                              "bad-keys", "full",   NULL};
