# SPDX-License-Identifier: Apache-2.0
"""The digest that ties a recorded result to the files it was measured on.

It depends on what files hold and on their base names, not on where they lie: a directory in front of
an included header is dropped before hashing, so moving a file makes no result stale."""

import hashlib
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = re.compile(rb'^(\s*#\s*include\s+")(?:[^"/]+/)+', re.MULTILINE)


def content(path):
    """The bytes of a file of the tree, includes by base name."""
    with open(os.path.join(ROOT, path), "rb") as file:
        data = file.read()
    return INCLUDE.sub(rb"\1", data) if path.endswith((".c", ".h", ".def")) else data


def digest(paths, *words):
    """Of files of the tree and of words (definitions, flags) that belong to them."""
    state = hashlib.blake2b(digest_size=16)
    for line in sorted(f"{os.path.basename(path)} {hashlib.blake2b(content(path)).hexdigest()}"
                       for path in paths):
        state.update(line.encode() + b"\n")
    for word in words:
        state.update(b"\0" + word.encode())
    return state.hexdigest()
