#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attest fuzz: finds kernels that are wrong, is silent about one that is right, says what to do."""

import os
import re
import subprocess
import sys
import tempfile

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
ATTEST = os.path.join(BUILD, "attest")
# One of each kind, and the cases within which it must be found.
WRONG = {"mask-window-left-exclusive": 300, "tiled-tail-of-one-dropped": 300,
         "memory-output-read-first": 300, "score-softcap-after-mask": 300}
RIGHT_CASES = 400
tap = Tap()


def attest(*arguments):
    return subprocess.run([ATTEST, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=600, check=False)


def finds(name, cases, folder):
    kernel = os.path.join(BUILD, "mutants", name + ".so")
    program, binary = os.path.join(folder, "shown.c"), os.path.join(folder, "shown")
    done = attest("fuzz", kernel, "--cases", str(cases), "--output", program)
    found = re.search(r"found at case (\d+) with seed 1", done.stdout)
    tap.report(done.returncode == 1 and found, f"{name} is found within {cases} cases",
               done.stdout + done.stderr)
    line = re.search(r"reproduce    attest replay '([^']+)'", done.stdout)
    again = attest("replay", line.group(1) if line else "", kernel)
    tap.report(again.returncode == 1, f"{name}: the shrunk case fails again from its line", again.stdout)
    return kernel, program, binary


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, cases in WRONG.items():
            kernel, program, binary = finds(name, cases, folder)
        first, second = (attest("fuzz", kernel, "--cases", "300", "--jobs", jobs) for jobs in "14")
        tap.report(first.stdout.splitlines()[:2] == second.stdout.splitlines()[:2] != [],
                   "what is found depends on the seed, not on the number of jobs",
                   first.stdout + second.stdout)
        built = subprocess.run([os.environ.get("CC", "cc"), "-Ispec", program, "-ldl", "-o", binary],
                               capture_output=True, text=True, check=False)
        shown = subprocess.run([binary, os.path.abspath(kernel)], capture_output=True, text=True,
                               check=False) if built.returncode == 0 else built
        tap.report("status" in shown.stdout, "--output writes a program that runs the kernel",
                   shown.stdout + shown.stderr)
    done = attest("fuzz", "builtin:naive", "--cases", str(RIGHT_CASES))
    tap.report(done.returncode == 0 and f"nothing found: {RIGHT_CASES} cases" in done.stdout,
               f"nothing is found in a right kernel in {RIGHT_CASES} cases", done.stdout + done.stderr)
    tap.report(attest("fuzz", "./Makefile").returncode == 1, "a kernel that cannot be loaded has failed")
    tap.report(attest("fuzz").returncode == 2 and attest("fuzz", "x", "--cases", "0").returncode == 2,
               "usage errors exit with 2")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
