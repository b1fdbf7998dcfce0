#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wrong kernels from a seed (impl/wrong/generated): drawn alike each time, right without a defect, and
each effect is found where nothing limits it."""

import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = os.path.join(ROOT, "impl/wrong/generated")
sys.path.insert(0, SOURCES)
import defects  # noqa: E402
import measure  # noqa: E402

BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build/default"))
BASE = f"{BUILD}/generated/kernel.so"
TABLE = "<!-- table: python3 impl/wrong/generated/defects.py table -->\n"


class Tap:
    def __init__(self):
        self.number = self.failures = 0

    def report(self, good, name, why=""):
        self.number += 1
        self.failures += not good
        print(f"{'ok' if good else 'not ok'} {self.number} - {name}{'' if good else f': {why}'}",
              flush=True)


def certified(path, level):
    done = subprocess.run([f"{BUILD}/attest", "certify", path, "--level", level, "--quiet"],
                          capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout[-500:]


def test_drawing(tap):
    drawn = [defects.draw("a seed", i) for i in range(300)]
    tap.report(drawn == [defects.draw("a seed", i) for i in range(300)], "a seed draws the same twice")
    tap.report(len({d.words() for d in drawn}) > 290, "and hardly any kernel twice")
    tap.report({len(d.conditions) for d in drawn} == {1, 2, 3, 4}, "with one to four conditions")
    tap.report([d.block() for d in drawn] != [defects.draw("b", i).block() for i in range(300)],
               "and another seed draws others")
    tap.report(all(defects.work(defects.least_sizes(d)) <= defects.MOST_WORK for d in drawn),
               "no trigger asks for too large a problem")


def test_block(tap):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.so")
        plain = defects.Defect(defects.effect_named("NONE"), 8, ())
        defects.write(plain, BASE, path)
        with open(BASE, "rb") as one, open(path, "rb") as two:
            a, b = one.read(), two.read()
        changed = [i for i in range(len(a)) if a[i] != b[i]]
        at = a.find(defects.MAGIC)
        tap.report(len(a) == len(b) and all(at <= i < at + len(plain.block()) for i in changed),
                   "a defect changes its block of data alone", f"{changed[:9]} around {at}")


def test_readme(tap):
    with open(os.path.join(SOURCES, "README.md"), encoding="utf-8") as file:
        published = file.read().partition(TABLE)[2]
    tap.report(published == defects.table(), "README.md publishes the distribution that is drawn")


def test_none(tap):
    good, text = certified(BASE, "quick")
    tap.report(good, "without an effect the kernel is certified", text)


def test_effects(tap):
    """Nothing limits the effect: it must be shown wrong, and killed."""
    for effect in defects.tables()[0][1:]:
        defect = defects.Defect(effect, 8, ())
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.so")
            defects.write(defect, BASE, path)
            word, _ = measure.show(BUILD, path, defect)
            found = measure.certify(BUILD, path, "quick", folder)
        tap.report(word is not None and found["killed"], f"{effect.name} is wrong and killed",
                   json.dumps([word, found["killed"]]))


def main():
    tap = Tap()
    test_drawing(tap)
    test_block(tap)
    test_readme(tap)
    test_none(tap)
    test_effects(tap)
    print(f"1..{tap.number}")
    return 1 if tap.failures else 0


if __name__ == "__main__":
    sys.exit(main())
