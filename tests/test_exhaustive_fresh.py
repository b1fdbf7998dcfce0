#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recorded exhaustive sweeps passed, and were made on the sources that are here now.

usage: test_exhaustive_fresh.py [RECORD], default proofs/C05-elementary-functions/sweeps.json"""

import json
import pathlib
import sys

from support.tap import Tap

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "proofs/C05-elementary-functions"))
sys.dont_write_bytecode = True
import record  # noqa: E402


def by_gcc_o2(entry):
    return entry["compiler"].startswith("gcc") and entry["flags"].startswith("-O2 ")


def problems(function, entries):
    if not any(by_gcc_o2(e) for e in entries):
        yield "no sweep with gcc -O2 is recorded"
    clauses = record.contract(function)
    if not clauses:
        yield "the contract has no clause"
    for e in entries:
        where = f"{e['compiler']}, {e['flags']}"
        if e["inputs"] != 2**32:
            yield f"{where}: {e['inputs']} inputs instead of 2^32"
        for count in ("misrounded", "not_monotone", "clause_failures"):
            if e[count] != 0:
                yield f"{where}: {count} is {e[count]}"
        unchecked = set(clauses) - set(e["clauses"].split())
        if unchecked:
            yield f"{where}: clauses not checked: {' '.join(sorted(unchecked))}"
        if e["digest"] != record.measured_on(function):
            yield f"{where}: sources or contract changed since; run make exhaustive-elementary"


def main():
    entries = json.loads(pathlib.Path(sys.argv[1] if sys.argv[1:] else record.RESULTS).read_text())
    tap = Tap()
    for function in sorted(record.SOURCES):
        found = list(problems(function, [e for e in entries if e["function"] == function]))
        tap.report(not found, f"{function}: recorded sweeps are fresh and passed", found)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
