# SPDX-License-Identifier: Apache-2.0
"""The digest that ties a recorded result to the files it was measured on.

It depends on what the files say, not on where they lie, what they are called or how they are laid
out: of C it takes the tokens and the contracts (ACSL comments). Other comments do not count, nor do
lines that include a header of the tree, which is among the files itself. So moving, renaming or
formatting a file makes no result stale, and any other edit of code or contract does."""

import hashlib
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"[^"\n]*"[^\n]*$', re.MULTILINE)
TOKEN = re.compile(r"""
    /\*.*?\*/ | //[^\n]*                        # comments
  | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'   # literals
  | [\w.]+                                      # names and numbers
  | <<=|>>=|->|\+\+|--|<<|>>|&&|\|\||\#\#|[-+*/%&|^<>=!]=
  | \\\n | \n | \S""", re.VERBOSE | re.DOTALL)


def tokens(text):
    """The tokens of C and its contracts; an end of line only where it ends a directive."""
    directive, first = False, True
    for token in TOKEN.findall(INCLUDE.sub("", text)):
        if token == "\n":
            if directive:
                yield token
            directive, first = False, True
        elif token.startswith(("/*@", "//@")):
            yield " ".join(token.split())
        elif token != "\\\n" and not token.startswith(("/*", "//")):
            directive, first = directive or (first and token == "#"), False
            yield token


def content(path):
    """What a file says: of C the tokens, of anything else the bytes."""
    with open(os.path.join(ROOT, path), "rb") as file:
        data = file.read()
    if not path.endswith((".c", ".h", ".def")):
        return data
    return "\n".join(tokens(data.decode())).encode()


def digest(paths, *words):
    """Of files of the tree and of words (definitions, flags) that belong to them."""
    state = hashlib.blake2b(digest_size=16)
    for item in sorted(hashlib.blake2b(content(path)).digest() for path in paths):
        state.update(item)
    for word in words:
        state.update(b"\0" + word.encode())
    return state.hexdigest()
