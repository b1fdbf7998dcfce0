#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""spec/claims.md is what the claims, their results and the sources as they are now make it.
A source that has moved since the results were recorded turns its claims `stale`, so a page that
does not say so is out of date."""

import copy
import os
import sys

from support.tap import Tap
import unittest.mock

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "proofs"))
import claims as book  # noqa: E402
import versions  # noqa: E402

WANTED = {f"C{number}" for number in range(1, 17)}
VALUES = {"proved", "exhaustive", "tested", "assumed", "open", "stale", "not run", "failed",
          "not run: prover missing"}


def problems(claim):
    yield from book.problems(claim)
    if book.status(claim, book.read_results()) not in VALUES:
        yield "unknown status"


def without_twins(claim):
    """Its runs with their twins taken away, and what should be said of each that is missed."""
    bare = copy.deepcopy(claim)
    bare["runs"] = book.parts(bare)
    wanted = set()
    for part in bare["runs"]:
        if part["tool"] == "wp":
            wanted.update(f'"{clause}" of ' for clause in part["pinned"]["clauses"])
            part["pinned"]["twins"] = {}
        elif part["tool"] == "program":
            wanted.add(f"no twin of {part['name']}")
        elif part["expect"] == "proved":
            wanted.update(f'"{name}" of ' for name in book.properties(part))
    return bare, wanted


def misses_twins(claim):
    """Whether a claim that loses its twins is told so, of each property, clause and program."""
    bare, wanted = without_twins(claim)
    said = "\n".join(book.problems(bare))
    return all(text in said for text in wanted)


def keeps_theories(claim):
    """Whether the digest of a WP part moves with the rules by which its theories are proved."""
    for part in book.parts(claim):
        for name in part.get("theories", {}):
            changed = {**part, "theories": {**part["theories"], name: {"goals": 0}}}
            if book.digest(claim, changed) == book.digest(claim, part):
                return False
    return True


def names_tools(claim):
    """Whether every result says with which versions of its tools it was made."""
    found = book.read_results().get(claim["id"], {})
    return all(set(found[part["name"]].get("tools", {})) == set(versions.names(part))
               for part in book.parts(claim) if part["name"] in found)


def notices_versions(claim):
    """Whether a result of another version of a tool is told from one of this."""
    for part in book.parts(claim):
        other = {"tools": {tool: "0" for tool in versions.names(part)}}
        if versions.differ(part, other) != versions.names(part) or versions.differ(
                part, {"tools": versions.of_part(part)}):
            return False
    return True


def misses_tools(claim):
    """Whether a result counts as not run where its tools are not installed."""
    found = book.read_results()
    with unittest.mock.patch("versions.installed", lambda tool: None):
        return all(versions.here(part, book.part_result(claim, part, found))["status"]
                   in (book.MISSING, "not run") for part in book.parts(claim))


def main():
    claims = book.load()
    tap = Tap()
    tap.report(WANTED <= {claim["id"] for claim in claims}, "claims C1 to C16 are all there")
    for claim in claims:
        found = list(problems(claim))
        tap.report(not found, f"{claim['id']} is well formed", found)
        if without_twins(claim)[1]:
            tap.report(misses_twins(claim), f"{claim['id']} without twins is not")
    tap.report(all(map(names_tools, claims)), "results name their tools")
    tap.report(all(map(notices_versions, claims)), "another version is noticed")
    tap.report(all(map(misses_tools, claims)), "a missing tool is noticed")
    tap.report(all(map(keeps_theories, claims)), "a digest holds the rules of the theories")
    with open(os.path.join(ROOT, "spec/claims.md"), encoding="utf-8") as file:
        fresh = file.read() == book.page()
    tap.report(fresh, "spec/claims.md is up to date (else: make claims)")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
