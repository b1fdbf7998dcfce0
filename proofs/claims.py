#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Claim definitions (proofs/*/claim.json), committed results (proofs/results.json), and the page
spec/claims.md made from both. Run as a program it prints the page.

A result is bound to the sha256 of every source its claim reads. Where one has moved, the page says
`stale` until `make prove` has been run again; tests/test_claims.py keeps the page honest."""

import hashlib
import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = "proofs/results.json"
INCLUDE_DIRS = ["spec", "reference", "impl", "proofs/harness", "proofs/readings"]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
STATUSES = ("proved", "exhaustive", "tested", "assumed", "open")


def number(claim_id):
    digits = re.sub(r"\D", "", claim_id)
    return (int(digits) if digits else 99, claim_id)


def wp_runs(claim_id, wp_claims):
    """The part that proofs/wp proves and its twins; none while its goals are not pinned."""
    entry = wp_claims.get(claim_id, {})
    if not entry.get("goals"):
        return []
    runs = [{"name": "wp", "tool": "wp", "scope": entry.get("scope", "every n"), "method": "WP",
             "limit": entry.get("limit", 600), "cost": entry.get("cost", 60),
             "group": entry.get("group", "full")}]
    for twin in entry.get("twins", {}):
        runs.append({"name": f"wp-{twin}", "twin-of": "wp", "tool": "wp", "wp-twin": twin,
                     "limit": 300, "cost": 20, "group": runs[0]["group"]})
    return runs


def load():
    claims, wp_claims = [], {}
    wp_path = os.path.join(ROOT, "proofs/wp/claims.json")
    if os.path.exists(wp_path):
        with open(wp_path, encoding="utf-8") as file:
            wp_claims = json.load(file)["claims"]
    for name in sorted(os.listdir(os.path.join(ROOT, "proofs"))):
        path = os.path.join(ROOT, "proofs", name, "claim.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                claim = json.load(file)
            claim["directory"] = os.path.join("proofs", name)
            claim["runs"] = claim.get("runs", []) + wp_runs(claim["id"], wp_claims)
            for run in claim["runs"]:
                run.setdefault("tool", "cbmc")
                run.setdefault("group", "full")
                run.setdefault("expect", "refuted" if "twin-of" in run else "proved")
            claims.append(claim)
    return sorted(claims, key=lambda claim: number(claim["id"]))


def path_of(claim, name):
    """A file of a run: from the project's root, or beside claim.json."""
    return name if "/" in name else os.path.join(claim["directory"], name)


def with_includes(paths):
    found, todo = set(), list(paths)
    while todo:
        path = os.path.normpath(todo.pop())
        if path in found:
            continue
        found.add(path)
        if not path.endswith((".c", ".h")):
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            names = INCLUDE.findall(file.read())
        for name in names:
            for directory in [os.path.dirname(path)] + INCLUDE_DIRS:
                candidate = os.path.join(directory, name)
                if os.path.exists(os.path.join(ROOT, candidate)):
                    todo.append(candidate)
                    break
    return sorted(found)


def wp_sources():
    paths = ["reference/row.c", "reference/mask.c"]
    for directory, _, names in os.walk(os.path.join(ROOT, "proofs/wp")):
        if "__pycache__" not in directory:
            paths += [os.path.relpath(os.path.join(directory, name), ROOT) for name in names]
    return paths


def sources(claim):
    paths = list(claim.get("sources", []))
    for run in claim.get("runs", []):
        paths += [path_of(claim, name) for name in run.get("files", [])]
        paths += [run["source"]] if "source" in run else []
        if "reading" in run:
            paths.append("proofs/readings/" + run["reading"])
        if run["tool"] == "wp":
            paths += wp_sources()
    return with_includes(path for path in paths if os.path.exists(os.path.join(ROOT, path)))


def hashes(claim):
    table = {}
    for path in sources(claim) + [os.path.join(claim["directory"], "claim.json")]:
        with open(os.path.join(ROOT, path), "rb") as file:
            table[path] = hashlib.sha256(file.read()).hexdigest()
    return table


def read_results():
    path = os.path.join(ROOT, RESULTS)
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def status(claim, results):
    """What the committed results are worth for the sources as they are now."""
    if not claim["runs"]:
        return "open"
    result = results.get(claim["id"])
    if result is None:
        return "not run"
    return result["status"] if result["sources"] == hashes(claim) else "stale"


def cell(text):
    return str(text).replace("|", "\\|")


def part_row(part, result):
    solvers = ", ".join(result.get("solvers", [])) or "-"
    twins = result.get("twins", [])
    return (f"| {cell(part.get('scope', part['name']))} | {cell(part.get('method', part['tool']))} "
            f"| {solvers} | {', '.join(twins) or '-'} | {result.get('reachable', '-')} "
            f"| {result.get('status', 'not run')} |")


def page():
    results = read_results()
    claims = load()
    lines = ["<!-- Generated by `make claims` from proofs/*/claim.json and proofs/results.json. -->",
             "# What is claimed, and how it is known", "",
             "`make prove` re-checks every row; `make prove CLAIM=C4` one claim. A claim is `proved` only if",
             "each of its parts is, its must-fail twins are refuted on the named property, and the end of its",
             "harness is reached. `stale` means that a source has changed since; `open` that there is no result.",
             "What the claims rest on is in [soundness.md](soundness.md).", "",
             "| id | claim | scope | status |", "|---|---|---|---|"]
    for claim in claims:
        if claim["id"].startswith("C"):
            lines.append(f"| {claim['id']} | {cell(claim['statement'])} | {cell(claim['scope'])} "
                         f"| {status(claim, results)} |")
    for claim in claims:
        result = results.get(claim["id"], {})
        lines += ["", f"## {claim['id']}: {claim['title']}", "", f"{claim['statement']}", ""]
        lines += [f"Method: {claim['method']}. Status: {status(claim, results)}."]
        parts = [run for run in claim.get("runs", []) if "twin-of" not in run]
        if parts:
            lines += ["", "| scope | method | solvers | refuted twins | reachable | result |",
                      "|---|---|---|---|---|---|"]
            recorded = result.get("parts", {})
            lines += [part_row(part, recorded.get(part["name"], {})) for part in parts]
        for item in claim.get("open", []):
            lines += ["", f"Open: {item}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
