#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""spec/claims.md is what the claims, their results and the sources as they are now make it.
A source that has moved since the results were recorded turns its claims `stale`, so a page that
does not say so is out of date."""

import os
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "proofs"))
import claims as book  # noqa: E402

WANTED = {f"C{number}" for number in range(1, 17)}
VALUES = {"proved", "exhaustive", "tested", "assumed", "open", "stale", "not run", "failed",
          "not run: prover missing"}


def problems(claim):
    yield from book.problems(claim)
    if book.status(claim, book.read_results()) not in VALUES:
        yield "unknown status"


def main():
    claims = book.load()
    results = [("claims C1 to C16 are all there", WANTED <= {claim["id"] for claim in claims})]
    for claim in claims:
        found = list(problems(claim))
        results.append((": ".join([f"{claim['id']} is well formed"] + found), not found))
    with open(os.path.join(ROOT, "spec/claims.md"), encoding="utf-8") as file:
        fresh = file.read() == book.page()
    results.append(("spec/claims.md is up to date (else: make claims)", fresh))
    for number, (name, ok) in enumerate(results, 1):
        print(f"{'ok' if ok else 'not ok'} {number} - {name}")
    print(f"1..{len(results)}")
    return 0 if all(ok for _, ok in results) else 1


if __name__ == "__main__":
    sys.exit(main())
