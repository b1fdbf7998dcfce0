#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns spec/attention.md into a C table of requirements: id, title, text."""

import re
import sys

HEADING = re.compile(r"^### ([A-Z]{3,4}-\d\d) (.+)$")


def sections(lines):
    current = None
    for line in lines:
        match = HEADING.match(line)
        if match:
            current = (match.group(1), match.group(2), [])
            yield current
        elif line.startswith("#"):
            current = None
        elif current:
            current[2].append(line)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def main():
    with open(sys.argv[1], encoding="utf-8") as source:
        found = list(sections(source.read().split("\n")))
    if not found:
        sys.exit("no requirement in " + sys.argv[1])
    for name, title, body in found:
        text = "\n".join(body).strip("\n")
        print(f"{{{quoted(name)}, {quoted(title)}, {quoted(text)}}},")


if __name__ == "__main__":
    main()
