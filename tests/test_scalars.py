#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/check-scalars passes on the proved files, and rejects each way around the layer, and each way
to build another text than the one that is proved."""

import os
import subprocess
import sys
import tempfile

from support.tap import Tap

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
CHECK = os.path.join(ROOT, "ci", "check-scalars")

FRAME = """#include "reference/arithmetic/scalar.h"
{top}
attn_real ATTN_NAME(planted)(const attn_real *s, attn_real x, attn_real y, int flag);
attn_real ATTN_NAME(planted)(const attn_real *s, attn_real x, attn_real y, int flag) {{
    attn_real z = ADD(MUL(x, y), s[0]);
    {body}
    return flag ? z : SELECT(GT(x, y), x, ZERO);
}}
"""

# name -> body, or (top, body)
PLANTED = {
    "addition": "z = x + y;",
    "multiplication in place": "z *= y;",
    "negation": "z = -x;",
    "comparison": "if (x > y) { z = y; }",
    "equality": "flag = x == y;",
    "truth value": "if (x) { z = y; }",
    "condition of a choice": "z = x ? y : z;",
    "cast to float": "z = (float)x;",
    "cast to integer": "flag = (int)x;",
    "cast of a literal": "z = (attn_real)0;",
    "literal": "z = 1;",
    "literal as argument": "z = ADD(x, 0.5f);",
    "literal initialiser": "attn_real t = 0; z = t;",
    "brace initialiser": "attn_real t = {0}; z = t;",
    "brace initialiser of an array": "attn_real t[2] = {0}; z = t[1];",
    "compound literal": "z = (attn_real){0};",
    "static zero": "static attn_real t; z = t;",
    "math function": ("#include <math.h>", "z = expf(x);"),
    "builtin": "z = __builtin_expf(x);",
    "memcpy": ("#include <string.h>", "uint32_t t; memcpy(&t, &x, 4); flag = (int)t;"),
    "memset": ("#include <string.h>", "memset(&z, 0, sizeof z);"),
    "memcmp": ("#include <string.h>", "flag = memcmp(&x, &y, sizeof x);"),
    "union": "union { attn_real r; uint32_t t; } u; u.r = x; flag = (int)u.t;",
    "pointer cast": "flag = (int)*(const uint32_t *)s;",
    "pointer cast of an address": "flag = (int)*(uint32_t const *)&x;",
    "pointer cast to char": "flag = *(unsigned char *)&x;",
    "pointer by way of void": "const void *t = s; const uint32_t *u = t; flag = (int)*u;",
    "pointer by way of a cast to void": "flag = (int)*(uint32_t *)(void *)&x;",
    "member of the struct": "flag = x.hidden_from_proved_code;",
    "another text for another reading": "\n#ifdef ATTN_READING\n    z = y;\n#endif\n",
    "another text for Frama-C": "\n#ifndef __FRAMAC__\n    z = y;\n#endif\n",
    "another text for CBMC": "\n#if !defined(__CPROVER__)\n    z = y;\n#endif\n",
    "another text for a width": "\n#if ATTN_BITS == 64\n    z = y;\n#endif\n",
    "another text for a tile size": "\n#if ATTN_TILE_KEYS > 8\n    z = y;\n#endif\n",
    "another text after elif": "\n#  if 0\n#  elif 1\n    z = y;\n#endif\n",
    "a guard that guards a part": ("#ifndef PLANTED_H\n#define PLANTED_H\nint planted_twice;\n"
                                   "#endif", ""),
    "a name of the layer taken away": ("#undef ADD\n#define ADD(x, y) SUB(x, y)", ""),
    "a width as a value": "if (ATTN_BITS == 64) { z = y; }",
    "a compiler's own macro": "if (__GNUC__ > 3) { z = y; }",
}
ALLOWED = {
    "operations of the layer": "z = FMA(x, y, NEG(z)); flag = ISNINF(z);",
    "copies": "attn_real t[2]; t[0] = x; t[1] = t[0]; z = t[1];",
    "scalars in raw storage": "const void *t = s; z = ((const attn_real *)t)[0];",
    "integers": "flag = (int)((size_t)flag + sizeof x) + 1;",
    "words in comments": "/* memcpy, union, (float *)x, t = {0} */ z = x;",
}


def verdict(planted):
    top, body = planted if isinstance(planted, tuple) else ("", planted)
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "planted.c")
        with open(name, "w", encoding="utf-8") as file:
            file.write(FRAME.format(top=top, body=body))
        return subprocess.run([CHECK, name], capture_output=True, text=True, check=False)


def main():
    done = subprocess.run([CHECK], capture_output=True, text=True, check=False)
    tap = Tap()
    tap.report(done.returncode == 0, "the proved files use the layer, and have one text",
               done.stdout + done.stderr)
    for name, planted in ALLOWED.items():
        done = verdict(planted)
        tap.report(done.returncode == 0, f"allowed: {name}", done.stdout + done.stderr)
    for name, planted in PLANTED.items():
        done = verdict(planted)
        found = done.returncode == 1 and "planted.c" in done.stderr
        tap.report(found, f"rejected: {name}", done.stdout + done.stderr)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
