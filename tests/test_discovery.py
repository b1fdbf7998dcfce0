#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where a kernel takes another path is found from bits alone: copies of impl/template.c that sum in
another order from some length on, and are right there."""

import json
import os
import subprocess
import sys
import tempfile

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
ATTEST = os.path.join(BUILD, "attest")
# The place where a row is worked on, and the order of its keys.
LOOP = "for (int64_t j = 0; j < count; j++) {"
BACK = ("for (int64_t turn = 0; turn < count; turn++) {{"
        " const int64_t j = {when} ? count - 1 - turn : turn;")
PATHS = {  # condition: axis, first length
    "p->q.shape[2] >= 64": ("queries", 64),
    "p->k.shape[2] >= 512": ("keys", 512),
    "p->threads >= 4": ("threads", 4),
    "p->q.shape[1] / p->k.shape[1] >= 3": ("group", 3),
}
tap = Tap()


def boundaries(condition, folder):
    with open("impl/template.c", encoding="utf-8") as file:
        text = file.read()
    assert LOOP in text
    if condition:
        text = text.replace(LOOP, BACK.format(when=condition))
    source, kernel = os.path.join(folder, "k.c"), os.path.join(folder, "k.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-Ispec", source, "-lm", "-o", kernel], check=True)
    path = os.path.join(folder, "report.json")
    subprocess.run([ATTEST, "certify", kernel, "--only", "descriptor", "--quiet", "--json", path],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=300, check=False)
    with open(path, encoding="utf-8") as file:
        return [(b["axis"], b["at"]) for b in json.load(file)["boundaries"]]


with tempfile.TemporaryDirectory() as directory:
    found = boundaries("", directory)
    tap.report(not found, "a kernel with one path has no boundary", f"{found}")
    for when, where in PATHS.items():
        found = boundaries(when, directory)
        tap.report(where in found, f"a path from {where[1]} {where[0]} on", f"found {found}")
sys.exit(tap.end())
