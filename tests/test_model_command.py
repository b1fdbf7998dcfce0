#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`attest model` finds the tightest model of right kernels, none of a wrong one, and a failure that is
a matter of rounding says under which model it passes."""

import os
import subprocess
import sys
import tempfile

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
CC = os.environ.get("CC", "gcc").split()
# Of each the tightest model it is built for; the plain one has no wider sums than its operands.
TIGHTEST = {"right/exp2.so": "f32-fastexp", "right/plain.so": "f32-strict", "right/f64.so": "f64-strict"}


def attest(*words):
    return subprocess.run([os.path.join(BUILD, "attest"), *words, "--level", "smoke", "--quiet"],
                          capture_output=True, text=True, timeout=300, check=False)


def tightest(name):
    done = attest("model", os.path.join(BUILD, name))
    said = f'declare .model = "{TIGHTEST[name]}"'
    return "" if done.returncode == 0 and said in done.stdout else done.stdout + done.stderr


def wrong():
    """The template with a wrong scale fits none."""
    with tempfile.TemporaryDirectory() as folder:
        with open("impl/template.c", encoding="ascii") as file:
            text = file.read()
        planted = text.replace("return sum * scale;", "return sum * scale * 1.1f;")
        if planted == text:
            return "impl/template.c has no such line any more"
        source, kernel = os.path.join(folder, "k.c"), os.path.join(folder, "k.so")
        with open(source, "w", encoding="ascii") as file:
            file.write(planted)
        subprocess.run([*CC, "-O2", "-shared", "-fPIC", "-Ispec", source, "-o", kernel, "-lm"], check=True)
        done = attest("model", kernel)
    return "" if done.returncode == 1 and "no model fits" in done.stdout else done.stdout


def says():
    done = attest("certify", os.path.join(BUILD, "right/exp2.so"), "--model", "f32-strict", "--only",
                  "vectors")
    return "" if "passes under model f32-fastexp" in done.stdout else done.stdout[-2000:]


def main():
    tap = Tap()
    for name in TIGHTEST:
        why = tightest(name)
        tap.report(not why, name, why)
    for function in (wrong, says):
        why = function()
        tap.report(not why, function.__name__, why)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
