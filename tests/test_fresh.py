#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every page of recorded results says so where they were measured on other sources, and those that a
certificate rests on most are not stale. That each page says what its data and the sources make of it is
tested beside its data (test_claims, test_sabotage, test_kills, test_fuzz_regress, test_matrix; the page
on generated kernels here)."""

import json
import os
import re
import sys
import unittest.mock

from support.tap import Tap

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, folder)
                for folder in ("fuzz/engine", "impl/wrong/power", "impl/wrong/generated")]
import measure  # noqa: E402
import power  # noqa: E402
import tables  # noqa: E402

PAGES = ("spec/claims.md", "spec/power-generated.md")
MARK = re.compile(r"^\*\*Stale\*\*.*|^.*\| (?:\*\*stale\*\*|stale|not asked|not yet) \|.*", re.MULTILINE)


def generated_page():
    with open(measure.RESULTS, encoding="utf-8") as file:
        results = json.load(file)
    return measure.page.text(results, results["measured_on"] != measure.measured_on(results["level"]))


def says_so(page, module):
    """Whether a page calls its data stale when the sources have another digest than they were measured on."""
    with unittest.mock.patch.object(module, "digest", lambda *_: "other"):
        return MARK.search(page()) is not None


def main():
    tap = Tap()
    for path in PAGES:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        tap.report(not MARK.search(text), f"{path} is not stale", [m[0] for m in MARK.finditer(text)])
        if path == "spec/power-generated.md":
            tap.report(text == generated_page(), f"{path} is what its data say", ["run `make power`"])
    tap.report(says_so(power.page, power.matrix), "spec/power.md would say so")
    tap.report(says_so(generated_page, measure), "spec/power-generated.md would say so")
    tap.report(says_so(tables.text, tables), "fuzz/measured.md would say so")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
