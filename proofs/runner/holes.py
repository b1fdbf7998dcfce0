# SPDX-License-Identifier: Apache-2.0
"""What makes a claim's definition worth less than it says."""

import fnmatch

import claims as book


def wp_problems(part):
    """Each goal that states the claim must be lost by a twin: one that no defect takes away may be
    provable whatever the code does."""
    entry = part["pinned"]
    lost = [goal for twin in entry.get("twins", {}).values() for goal in twin["lost"]]
    if not entry.get("clauses"):
        yield f"{part['name']} names no goal that states the claim"
    for clause in entry.get("clauses", []):
        if not fnmatch.filter(lost, clause):
            yield f"no twin loses \"{clause}\" of {part['name']}"


def run_problems(claim):
    names = [run["name"] for run in claim["runs"]]
    if len(names) != len(set(names)):
        yield "two runs have one name"
    for run in claim["runs"]:
        if run.get("twin-of", names[0]) not in names:
            yield f"{run['name']} is a twin of a run that is not there"
        if "limit" not in run:
            yield f"{run['name']} has no time limit"
        if run["group"] not in book.GROUPS:
            yield f"{run['name']} is in no group that anything runs"


def problems(claim):
    yield from run_problems(claim)
    if claim["id"].startswith("C") and not claim.get("not"):
        yield "does not say what it does not say"
    parts = book.parts(claim)
    refuted = {(base.get("files", [None])[0], name) for base in parts
               for twin in book.twins(claim, base) for name in book.twin_properties(claim, twin)}
    for part in parts:
        if part["tool"] == "wp":
            yield from wp_problems(part)
        if part["tool"] == "program" and not book.twins(claim, part):
            yield f"no twin of {part['name']}"
        if part["tool"] != "cbmc" or part["expect"] != "proved":
            continue
        if not book.properties(part):
            yield f"{part['name']} names no property"
        if not part.get("reach"):
            yield f"{part['name']} does not check that its end is reached"
        for name in book.properties(part):
            if (part["files"][0], name) not in refuted:
                refuted.add((part["files"][0], name))
                yield f"no twin refutes \"{name}\" of {part['name']}"
    if claim["id"].startswith("C") and claim["status"] == "proved" and claim["runs"]:
        if not any("twin-of" in run for run in claim["runs"]):
            yield "no must-fail twin"
