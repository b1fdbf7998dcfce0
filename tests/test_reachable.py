#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What shrink or a hand may make of a case: smaller sizes, fewer options, plainer data. A right kernel
fails none of it, nor does attest: every check knows where it has nothing to say."""

import os
import random
import subprocess
import sys

from support.tap import Tap

ATTEST = os.path.join(os.environ.get("BUILD", "build/default"), "attest")
PER_CHECK, VARIANTS = 6, 40
SIZES = {"b": (1, 2), "sq": (0, 1, 2), "sk": (0, 1, 2, 3), "d": (1, 2), "dv": (0, 1, 2)}
PLAIN = {"layout": "dense", "threads": "1", "qk": "zero", "v": "unit"}


def attest(*words):
    return subprocess.run([ATTEST, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=20, text=True)


def cases():
    """Lines of the plan, by check; spread over the plan of each."""
    by_check = {}
    for line in attest("list", "cases", "builtin:reference", "--level", "smoke").stdout.splitlines():
        fields = line.split()[1:]
        if fields[0] != "check=vectors":  # a vector is what it is, and says so
            by_check.setdefault(fields[0], []).append(fields)
    return {check: lines[::max(1, len(lines) // PER_CHECK)][:PER_CHECK]
            for check, lines in by_check.items()}


def smaller(fields, rng):
    """One to three steps, each on another field."""
    case = dict(field.split("=", 1) for field in fields)
    for step in rng.sample([*SIZES, *PLAIN, "heads", "features"], rng.randint(1, 3)):
        if step in SIZES:
            case[step] = str(rng.choice(SIZES[step]))
        elif step in PLAIN:
            case[step] = PLAIN[step]
        elif step == "heads":
            case["hq"] = case["hkv"] = "1"
        elif "features" in case:
            names = case["features"].split(",")
            names.remove(rng.choice(names))
            case["features"] = ",".join(names)
            if not names:
                del case["features"]
    return " ".join(f"{name}={value}" for name, value in case.items())


def main():
    tap = Tap()
    for check, lines in cases().items():
        rng, wrong, ran = random.Random(check), [], 0
        for fields in lines:
            for line in sorted({smaller(fields, rng) for _ in range(VARIANTS)}):
                try:
                    done = attest("replay", line, "builtin:reference")
                    ran += done.returncode == 0
                    if done.returncode not in (0, 2) or (
                            done.returncode == 2 and not done.stdout.startswith("attest: ")):
                        wrong.append(f"{done.returncode} {line}\n{done.stdout[-400:]}")
                except subprocess.TimeoutExpired:
                    wrong.append(f"does not end: {line}")
        tap.report(not wrong and ran > 0, f"{check[6:]}: {ran} cases ran",
                   "\n".join(wrong[:5]) + f"\n{len(wrong)} in all")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
