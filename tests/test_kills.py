#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The certifier rejects every mutant and accepts every kernel that is right.

Each mutant is run until its first kill, at smoke and then at quick. Right kernels are run at smoke
with the seed of the day, one of them at quick, and of the emulators of error models one a day. A
mutant with a note "needs" in the table is known to survive; it fails here as soon as it does not.
"""

import os
import sys
import time

from support.tap import Tap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "impl/wrong/power"))
import matrix as kills  # noqa: E402
import power  # noqa: E402

SMOKE_SHARE = 0.9


def main():
    build = os.environ.get("BUILD", "build/default")
    tap = Tap()
    report = tap.report
    matrix = kills.Matrix(build)
    mutants = {mutant["id"]: mutant for mutant in kills.table()["mutants"]}
    left = sorted(mutants)
    for level in ("smoke", "quick"):
        def work(name, level=level):
            return matrix.measure("first", name, kills.mutant_path(build, name), level,
                                  options=["--first-failure"])
        found = dict(kills.each(2, left, work))
        left = [name for name in left if not found[name]["killed"]]
        if level == "smoke":
            share = 1 - len(left) / len(mutants)
            report(share >= SMOKE_SHARE,
                   f"smoke kills at least {SMOKE_SHARE:.0%} of {len(mutants)} mutants",
                   f"{share:.1%}")
    for name, mutant in mutants.items():
        if "needs" not in mutant:
            report(name not in left, f"{name} is rejected", mutant["why"])
        elif name in left:
            tap.skip(name, f"not found yet, needs {mutant['needs']}")
        else:
            report(False, f"{name} is found by now", "take the note `needs` out of mutants.json")
    seed = int(time.time()) // 86400
    kernels, slow = [], []  # emulators take their time: one a day
    for kernel in kills.right_kernels(build):
        (slow if "/emulators/" in kernel else kernels).append(kernel)
    jobs = [(kernel, "smoke") for kernel in kernels + slow[seed % max(len(slow), 1):][:1]]
    jobs.append((kernels[seed % len(kernels)], "quick"))

    def certify(job):
        return matrix.measure("alarm", os.path.basename(job[0]), job[0], job[1], seed)
    for (kernel, level), result in kills.each(2, jobs, certify):
        report(result["certified"],
               f"{os.path.basename(kernel)} is accepted at {level}, seed {seed}",
               f"{result['checks']} {result['case']}")
    with open(power.PAGE, encoding="utf-8") as file:
        report(file.read() == power.page(), "spec/power.md is what its data say", "run `make power`")
    idle = power.by_check(kills.table(), kills.load_json(power.RESULTS, None)["levels"])[1]
    report(not idle, "no check could be dropped without losing a mutant or its class",
           ", ".join(idle))
    matrix.data["summary"] = kills.summaries(matrix)
    matrix.save(force=True)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
