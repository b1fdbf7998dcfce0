#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the profiles of spec/profiles as initialisers for profiles.c, values in the order of
profile.h, which is that of the schema (tests/test_spec.py)."""

import json
import sys

with open("spec/profile.schema.json", encoding="utf-8") as file:
    words = {field: said["enum"] for field, said in json.load(file)["properties"].items() if "enum" in said}

for path in sorted(sys.argv[1:]):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    values = ", ".join(str(known.index(profile[key])) for key, known in words.items())
    print(f'{{"{profile["name"]}", {{{values}}}}},')
