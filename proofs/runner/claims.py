# SPDX-License-Identifier: Apache-2.0
"""Claim definitions: proofs/*/claim.json and, for a proof by WP, wp.json beside it.

A part of a claim is one run and its twins. Files are named by their top folder and their base name:
"reference/kernel/row.c" is the file row.c anywhere below reference/, a name without a folder lies beside
claim.json."""

import functools
import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OWN_HEADERS = ["proofs/harness", "proofs/readings"]
TREES = ["spec", "reference", "impl", "certify", "vectors"]
GROUPS = {"quick": "make prove-quick", "full": "make prove", "long": "make check-full"}
MISSING = "not run: prover missing"


class Unknown(Exception):
    """A definition names a file that is not there, or that several folders have."""


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


@functools.lru_cache(maxsize=None)
def files_below(top):
    found = []
    for folder, folders, names in os.walk(os.path.join(ROOT, top)):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in sorted(names)]
    return found


def find(name):
    """The path of a file that is named by its top folder and its base name."""
    if os.path.exists(os.path.join(ROOT, name)):
        return os.path.normpath(name)
    hits = [path for path in files_below(name.split("/")[0])
            if os.path.basename(path) == os.path.basename(name)]
    if len(hits) != 1:
        raise Unknown(f"{name} is {' and '.join(hits) or 'not there'}")
    return hits[0]


@functools.lru_cache(maxsize=None)
def include_dirs():
    """The root, and every folder with a header, so that a base name finds it wherever it lies."""
    folders = ["."]
    for tree in TREES:
        for path in files_below(tree):
            if path.endswith(".h") and os.path.dirname(path) not in folders:
                folders.append(os.path.dirname(path))
    return folders + OWN_HEADERS


def number(claim_id):
    digits = re.sub(r"\D", "", claim_id)
    return (int(digits) if digits else 99, claim_id)


def wp_theories(entry):
    """The theories that a claim's proof imports, or the one that it is."""
    own = entry.get("theories", {})
    shared = json.loads(read("proofs/wp/theories/theories.json"))
    return own if "theory" in entry or not entry.get("uses", True) else {**shared, **own}


def wp_runs(directory):
    """The part that WP proves and its twins."""
    path = os.path.join(directory, "wp.json")
    if not os.path.exists(os.path.join(ROOT, path)):
        return []
    entry = json.loads(read(path))
    runs = [{"name": "wp", "tool": "wp", "scope": entry["scope"],
             "method": entry.get("method", "WP"), "limit": entry["limit"], "cost": entry["cost"],
             "group": "full", "pinned": entry, "theories": wp_theories(entry)}]
    for twin in entry["twins"]:
        runs.append({"name": f"wp-{twin}", "twin-of": "wp", "tool": "wp", "wp-twin": twin,
                     "limit": 300, "cost": 20, "group": "full"})
    return runs


def load():
    claims = []
    for name in sorted(os.listdir(os.path.join(ROOT, "proofs"))):
        directory = os.path.join("proofs", name)
        if os.path.exists(os.path.join(ROOT, directory, "claim.json")):
            claim = json.loads(read(os.path.join(directory, "claim.json")))
            claim["directory"] = directory
            claim["runs"] = claim.get("runs", []) + wp_runs(directory)
            for run in claim["runs"]:
                run.setdefault("tool", "cbmc")
                run.setdefault("group", "full")
                run.setdefault("expect", "refuted" if "twin-of" in run else "proved")
            claims.append(claim)
    return sorted(claims, key=lambda claim: number(claim["id"]))


def path_of(claim, name):
    return find(name) if "/" in name else os.path.join(claim["directory"], name)


def parts(claim):
    return [run for run in claim["runs"] if "twin-of" not in run]


def twins(claim, part):
    return [run for run in claim["runs"] if run.get("twin-of") == part["name"]]


def properties(run):
    names = run.get("property", [])
    return [names] if isinstance(names, str) else names


def twin_properties(claim, twin):
    base = next((run for run in claim["runs"] if run["name"] == twin["twin-of"]), {})
    return properties(twin if "property" in twin else base)
