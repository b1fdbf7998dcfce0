#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""spec/claims.md is what the claims, their results and the sources as they are now make it.
A source that has changed since the results were recorded turns its claims `stale`, so a page that
does not say so is out of date; a part that is not proved takes down every claim above it."""

import copy
import os
import re
import sys

from support.tap import Tap
import unittest.mock

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "proofs/runner"))
import claims as book  # noqa: E402
import holes  # noqa: E402
import page  # noqa: E402
import records  # noqa: E402
import status  # noqa: E402
import strip  # noqa: E402
import versions  # noqa: E402

WANTED = {f"C{number}" for number in range(1, 22)}
VALUES = {"proved", "exhaustive", "tested", "assumed", "open", "stale", "not run", "failed",
          "not run: prover missing"}


def problems(claims, claim, worth):
    yield from holes.problems(claim)
    if worth[claim["id"]] not in VALUES and not worth[claim["id"]].startswith("not proved: "):
        yield "unknown status"
    try:
        for part in book.parts(claim):
            yield from missing_rests(claims, claim, part)
    except book.Unknown as unknown:
        yield str(unknown)


def proved_elsewhere():
    """File -> the claims that, as the table of spec/soundness.md says, prove what it assumes."""
    rows = re.findall(r"^\| (?:assume|stub) \| `([^`]+)` \|.*\| ([^|]*) \|$",
                      book.read("spec/soundness.md"), re.MULTILINE)
    found = {}
    for path, why in rows:
        found.setdefault(path, set()).update(re.findall(r"\bC\d+\b", why))
    return found


def missing_rests(claims, claim, part):
    """What a part visibly uses of other claims and does not name: an assumption that they prove, or
    a copy of the shell's loops, which stands for the shell because of C17."""
    named = {node[0] for name in status.rests(claims, claim, part)
             for node in status.nodes(claims, name)}
    reads = records.sources(claim, part)
    for path, owners in proved_elsewhere().items():
        if path in reads and not owners <= named:
            yield f"{part['name']} rests on {', '.join(sorted(owners - named))} without saying so"
    if "proofs/harness/pass.h" in reads and "C17" not in named:
        yield f"{part['name']} has a copy of the shell's loops, but does not rest on C17"


def falls_with(claims, node):
    """Whether a part that failed takes down its claim and every claim above it, and no other."""
    verdicts = {(claim["id"], part["name"]): part.get("worth", "proved")
                for claim in claims for part in book.parts(claim)}
    before = status.of_claims(claims, verdicts)
    after = status.of_claims(claims, {**verdicts, node: "failed"})
    edges = status.graph(claims)
    above = {claim for claim, part in edges if node in status.below(edges, [(claim, part)])}
    fallen = {claim for claim in before if after[claim] != before[claim]}
    return after[node[0]] == "failed" and fallen == above | {node[0]} and all(
        after[claim] == f"not proved: rests on {node[0]}" for claim in above - {node[0]})


def strips_labels():
    """Whether the text that WP reads has the clauses of the named claims, and the same code."""
    text = book.read(book.find("reference/row.c")) + book.read(book.find("reference/row.h"))
    bare = strip.stripped(text, {"C2"}, set())
    labels = {label for label in ("C2", "C3", "C4", "C12") if f" {label}:" in bare}
    code = [re.sub(r"/\*.*?\*/|//[^\n]*", "", t, flags=re.DOTALL).split() for t in (text, bare)]
    return labels == {"C2"} and code[0] == code[1] and bare.count("\n") == text.count("\n")


def strips_lemmas():
    text = book.read(book.find("reference/row_lemmas.h"))
    names = strip.lemmas(text)
    return len(names) > 2 and strip.lemmas(strip.stripped(text, set(), {names[1]})) == (
        names[:1] + names[2:])


def ignores_folders(claim):
    """Whether a digest is the same wherever the files of a part lie."""
    part = book.parts(claim)[0]
    moved = {"files": [f"elsewhere/{name}" for name in part.get("files", [])]}
    return records.by_base_name({**part, **moved}) == records.by_base_name(
        {**part, "files": part.get("files", [])})


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
    said = "\n".join(holes.problems(bare))
    return all(text in said for text in wanted)


def keeps_theories(claim):
    """Whether the digest of a WP part moves with the rules by which its theories are proved."""
    for part in book.parts(claim):
        for name in part.get("theories", {}):
            changed = {**part, "theories": {**part["theories"], name: {"goals": 0}}}
            if records.digest(claim, changed) == records.digest(claim, part):
                return False
    return True


def names_tools(claim):
    """Whether every result says with which versions of its tools it was made."""
    found = records.read_results().get(claim["id"], {})
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
    found = records.read_results()
    with unittest.mock.patch("versions.installed", lambda tool: None):
        return all(versions.here(part, records.part_result(claim, part, found))["status"]
                   in (book.MISSING, "not run") for part in book.parts(claim))


def main():
    claims = book.load()
    tap = Tap()
    tap.report(WANTED <= {claim["id"] for claim in claims}, "claims C1 to C21 are all there")
    worth = status.of_claims(claims, status.on_record(claims, records.read_results()))
    for claim in claims:
        found = list(problems(claims, claim, worth))
        tap.report(not found, f"{claim['id']} is well formed", found)
        if without_twins(claim)[1]:
            tap.report(misses_twins(claim), f"{claim['id']} without twins is not")
    nodes = [(claim["id"], part["name"]) for claim in claims for part in book.parts(claim)]
    tap.report(all(falls_with(claims, node) for node in nodes),
               "a part that fails takes down every claim above it, and no other")
    c2 = {claim for claim, part in status.graph(claims)
          if ("C2", "wp") in status.below(status.graph(claims), [(claim, part)])}
    tap.report({"C3", "C4", "C6", "C12", "C15"} <= c2, "C3, C4, C6, C12 and C15 rest on C2")
    tap.report(strips_labels(), "WP reads the clauses of the named claims alone")
    tap.report(strips_lemmas(), "WP reads no lemma of another claim")
    tap.report(all(map(ignores_folders, claims)), "a digest does not know folders")
    tap.report(all(map(names_tools, claims)), "results name their tools")
    tap.report(all(map(notices_versions, claims)), "another version is noticed")
    tap.report(all(map(misses_tools, claims)), "a missing tool is noticed")
    tap.report(all(map(keeps_theories, claims)), "a digest holds the rules of the theories")
    with open(os.path.join(ROOT, "spec/claims.md"), encoding="utf-8") as file:
        fresh = file.read() == page.page()
    tap.report(fresh, "spec/claims.md is up to date (else: make claims)")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
