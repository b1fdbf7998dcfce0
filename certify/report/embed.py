#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""embed.py NAME=FILE...: files as C arrays of characters, for the HTML report to carry along."""

import sys


def literal(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


for argument in sys.argv[1:]:
    name, path = argument.split("=", 1)
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    print(f"static const char *const {name}[] = {{")
    for text in lines:
        print(f"    {literal(text)},")
    print("    NULL};")
