#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The mutants are what their table says: each is wrong on its trigger, each base is right.

The judge here is impl/wrong/mutants/probe.c, not the certifier, so a mutant that nobody finds is known to
be wrong all the same.
"""

import json
import os
import re
import subprocess
import sys

from support.tap import Tap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "impl/wrong/mutants"))
from lines import random_line  # noqa: E402

BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build/default"))
SOURCES = os.path.join(ROOT, "impl/wrong/mutants")
FAMILIES = ["mask", "score", "memory", "tiled", "decode", "threaded", "stateful", "cheats"]
RANDOM_PROBLEMS = 25
# A signal shows in whatever check makes the call; these make it in different ways.
CALLING = ["value", "threads", "late", "unseen"]


def load_table():
    with open(os.path.join(SOURCES, "mutants.json"), encoding="utf-8") as file:
        return json.load(file)


def declared(family):
    """Mutants in the enum of a family's source."""
    with open(os.path.join(SOURCES, f"{family}_mutants.c"), encoding="utf-8") as file:
        enum = re.search(r"enum \{\n    CORRECT,(.*?)\n\};", file.read(), re.DOTALL).group(1)
    names = re.findall(r"^    ([A-Z0-9_]+),?$", enum, re.MULTILINE)
    return [f"{family}/{name.lower().replace('_', '-')}" for name in names]


def probe(kernel, words, lines):
    command = [f"{BUILD}/mutants/probe", *(["-o", ",".join(words)] if words else []),
               f"{BUILD}/mutants/{kernel.replace('/', '-')}.so", "-"]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True)
    return done.stdout.splitlines(), done.stderr


def main():
    tap = Tap()
    report = tap.report
    table = load_table()
    listed = [mutant["id"] for mutant in table["mutants"]]
    sources = [name for family in FAMILIES for name in declared(family)]
    report(sorted(listed) == sorted(sources), "the table lists every mutant of every family once",
           str(sorted(set(listed) ^ set(sources))))
    for mutant in table["mutants"]:
        promised = mutant["breaks"].split()
        words = sorted({word for name in promised
                        for word in (CALLING if name in ("fault", "hang", "status") else [name])})
        output, errors = probe(mutant["id"], words, [mutant["trigger"]])
        found = set(output[0].split()) if output else set()
        report(bool(found & set(promised)), f"{mutant['id']} is wrong on its trigger",
               f"promised {promised}, found {sorted(found)} {errors}")
    lines = [random_line(seed) for seed in range(RANDOM_PROBLEMS)]
    for family in FAMILIES:
        output, errors = probe(f"{family}/correct", [], lines)
        wrong = [f"{line}: {words}" for line, words in zip(lines, output) if words != "agrees"]
        report(len(output) == len(lines) and not wrong,
               f"{family}/correct is right on random problems", "; ".join(wrong[:3]) + errors)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
