#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The edits that the proofs are asked about fit the sources, each once, and spec/sabotage.md says what
is on record. What the answers are is found by `make sabotage`."""

import os
import sys

from support.tap import Tap

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "proofs/sabotage"))
import edits as table  # noqa: E402
import report  # noqa: E402
import claims as book  # noqa: E402
import tools  # noqa: E402

LEAST = 60
AREAS = {"row functions", "shell", "normal form", "check of a problem", "tile frame",
         "walk over blocks", "elementary functions", "conversion", "merge", "judge"}


def misfits(chosen):
    for edit in chosen:
        try:
            table.applied(edit)
        except (tools.Broken, book.Unknown) as why:
            yield str(why)
        if edit["test"] and not os.path.exists(os.path.join(ROOT, edit["test"])) and \
                not os.path.exists(os.path.join(ROOT, edit["test"] + ".c")):
            yield f"{edit['id']} names a test that is not there: {edit['test']}"


def notices_change(chosen, claims):
    """Whether an answer turns stale with the edit that it is about."""
    results = table.read_results()
    for edit in chosen:
        if table.fresh(edit, results.get(edit["id"]), claims):
            changed = {**edit, "to": edit["to"] + " "}
            return not table.fresh(changed, results[edit["id"]], claims)
    return False


def main():
    tap, chosen, claims = Tap(), table.load(), book.load()
    names = [edit["id"] for edit in chosen]
    tap.report(len(chosen) >= LEAST and len(set(names)) == len(names), f"at least {LEAST} edits")
    found = list(misfits(chosen))
    tap.report(not found, "each fits one place and names a test that is there", found)
    tap.report(AREAS <= set(map(table.area, chosen)), "every area is edited")
    tap.report({edit.get("attack") for edit in chosen} >= set(report.ATTACKS),
               "every objection has an edit")
    known = {claim["id"] for claim in claims}
    tap.report(all(known >= set(edit["claims"]) for edit in chosen if "check" not in edit),
               "every edit names claims that are there")
    tap.report(notices_change(chosen, claims), "another edit makes an answer stale")
    tap.report(book.read("spec/sabotage.md") == report.page(),
               "spec/sabotage.md is up to date (else: make claims)")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
