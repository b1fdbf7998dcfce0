#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the profiles of spec/profiles as initialisers for profiles.c, values in the order of profile.h."""

import json
import sys

FIELDS = {
    "corner": ["top-left", "bottom-right", "bottom-right-with-lengths"],
    "window_form": ["not-defined", "w-keys", "left-w", "both-w"],
    "default_scale": ["rsqrt-d", "one", "required"],
    "gqa_order": ["grouped", "tiled"],
    "lse_base": ["natural", "base-2"],
    "lse_empty": ["neg-inf", "pos-inf", "unspecified"],
    "empty_row": ["zero", "nan", "mean-of-all", "unspecified"],
    "mask_with_causal": ["and", "error", "mask-ignored", "causal-ignored"],
}

for path in sorted(sys.argv[1:]):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    values = ", ".join(str(known.index(profile[key])) for key, known in FIELDS.items())
    print(f'{{"{profile["name"]}", {{{values}}}}},')
