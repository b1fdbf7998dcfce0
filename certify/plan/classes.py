#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the bug classes of spec/classes.md; as a program, writes them as a C table.

usage: classes.py spec/classes.md > classes.inc
"""

import re
import sys
from typing import NamedTuple

from requirements import quoted

HEADING = re.compile(r"^## (\d+)\. (.+)$")
NAME = re.compile(r"^`(CLASS_[A-Z0-9_]+)` (.+)$")
EXAMPLE = re.compile(r"^- ([\w.-]+/[\w.-]+#\d+: .+)$")


class BugClass(NamedTuple):
    number: int
    title: str
    name: str
    definition: str
    examples: list


def one_class(number, title, lines):
    """The class of a section. What does not fit the form that the page describes is an error."""
    text = [line for line in lines if line]
    examples = [line for line in text if line.startswith("- ")]
    named = NAME.match(" ".join(text[:len(text) - len(examples)]))
    wrong = [line for line in examples if not EXAMPLE.match(line)]
    if named is None or not named.group(2).endswith(".") or wrong or not examples:
        raise ValueError(f"class {number}: a name, a definition, examples: {wrong or lines}")
    return BugClass(number, title, *named.groups(), [line[2:] for line in examples])


def read(path):
    """All classes, by number from 1 on without a gap; names and titles are different."""
    sections = []
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            heading = HEADING.match(line)
            if heading:
                sections.append((int(heading.group(1)), heading.group(2), []))
            elif sections:
                sections[-1][2].append(line)
    classes = [one_class(*section) for section in sections]
    if not classes or [one.number for one in classes] != list(range(1, len(classes) + 1)):
        raise ValueError(f"{path}: numbers do not go from 1 on without a gap")
    for field in ("name", "title", "definition"):
        values = [getattr(one, field) for one in classes]
        twice = {value for value in values if values.count(value) > 1}
        if twice:
            raise ValueError(f"{path}: a {field} occurs twice: {twice}")
    return classes


def main():
    for one in read(sys.argv[1]):
        words = ", ".join(map(quoted, (one.title, one.definition, "\n".join(one.examples))))
        print(f"BUG_CLASS({one.name}, {one.number}, {words})")


if __name__ == "__main__":
    main()
