#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Merges results of exhaustive sweeps into sweeps.json beside this file.

    record.py FILE...      each FILE holds one JSON object a line, from exhaustive_elementary --json

An entry replaces the one of the same function, compiler and flags. It carries the hash of the
sources it was measured on and of the contract it checked, so that a test can tell when it is stale.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "ci"), str(ROOT / "proofs/runner")]
import claims as book  # noqa: E402
import digest as contents  # noqa: E402

RESULTS = pathlib.Path(__file__).resolve().parent / "sweeps.json"
SOURCES = {
    "attn_expf": ["exp.c", "elementary_dd.h"],
    "attn_logf": ["log.c", "elementary_dd.h"],
    "attn_tanhf": ["tanh.c", "exp.c", "elementary_dd.h"],
}
# That the result depends on the argument alone holds by reading: the bodies use no state.
NOT_SWEPT = {"value"}


def contract(function):
    """The ACSL clauses above the prototype of the function, without layout: {label: text}."""
    header = book.read(book.find("reference/arithmetic/elementary.h"))
    pattern = r"/\*@((?:(?!\*/).)*)\*/\s*\w+ " + function + r"\("
    block = re.search(pattern, header, re.DOTALL).group(1)
    clauses = re.findall(r"ensures\s+(\w+):(.*?);", re.sub(r"[\s@]+", " ", block))
    return {label: text.strip() for label, text in clauses if label not in NOT_SWEPT}


def measured_on(function):
    sources = [book.find("reference/" + name) for name in SOURCES[function]]
    return contents.digest(sources, json.dumps(contract(function), sort_keys=True))


def key(entry):
    return entry["function"], entry["compiler"], entry["flags"]


def main(paths):
    entries = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    merged = {key(e): e for e in entries}
    for path in paths:
        for line in pathlib.Path(path).read_text().splitlines():
            entry = json.loads(line)
            entry["digest"] = measured_on(entry["function"])
            merged[key(entry)] = entry
    RESULTS.write_text(json.dumps([merged[k] for k in sorted(merged)], indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
