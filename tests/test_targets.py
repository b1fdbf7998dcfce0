#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every target of `make help` has a recipe that make can follow, on a tree with nothing built."""

import os
import re
import subprocess
import sys
import tempfile

from support.tap import Tap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# targets that run, build or time the bundled kernels
WITH_KERNELS = ["all", "kernels", "certify", "bench", "bench-quick", "mutants", "test"]


def make(build, *arguments):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    return subprocess.run(["make", "-n", "--no-print-directory", f"B={build}", *arguments], cwd=ROOT,
                          capture_output=True, text=True, env=environment, check=False)


def targets():
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [line.split()[0] for line in done.stdout.splitlines() if re.match(r"[a-z]", line)]


def kernels(build):
    database = make(build, "-p", "help").stdout
    return re.search(r"^kernel_names :?= *(.*)$", database, re.MULTILINE).group(1).split()


def problem(target, build, names, *settings):
    done = make(build, *settings, target)
    if done.returncode != 0:
        return done.stderr.strip()[-300:]
    if not done.stdout.strip():
        return "does nothing"
    if target in WITH_KERNELS:
        missing = [name for name in names if f"lib{name}.so" not in done.stdout]
        return f"builds no {', '.join(missing)}" if missing else ""
    return ""


def empty_lists(build):
    """Lists that rules loop over; an empty one makes a target do nothing in silence."""
    database = make(build, "-p", "help").stdout
    names = ["kernel_names", "kernels", "fuzz_kernels", "fuzz_targets", "mutants", "hostile", "test_programs",
             "test_scripts", "attest_sources"]
    empty = [name for name in names
             if not re.search(rf"^{name} :?= *\S", database, re.MULTILINE)]
    return f"empty: {', '.join(empty)}" if empty else ""


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        build = os.path.join(folder, "nothing")
        names = kernels(build)
        for target in targets():
            why = problem(target, build, names)
            tap.report(not why, f"make {target}", why)
        why = empty_lists(build)
        tap.report(not why, "no list of kernels, tests or sources is empty", why)
        tap.report(problem("bench", build, names, "kernel_names="), "a bench without kernels is noticed")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
