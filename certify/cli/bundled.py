#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Certifies bundled kernels one after another and shows a table, a row as soon as it is there.

usage: certify/cli/bundled.py BUILD-DIRECTORY LEVEL KERNEL...
"""

import json
import os
import subprocess
import sys


def main():
    build, level, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    folder = os.path.join(build, "reports")
    os.makedirs(folder, exist_ok=True)
    head = ["kernel", "cases", "pass", "requirements", "worst", "seconds", "verdict"]
    widths = [max(map(len, [head[0], *names])), *(max(6, len(title)) for title in head[1:])]

    def show(row):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip(), flush=True)

    show(head)
    failed = 0
    for name in names:
        path = os.path.join(folder, f"{name}-{level}.json")
        log = os.path.join(folder, f"{name}-{level}.txt")
        with open(log, "w", encoding="utf-8") as out:
            code = subprocess.run([os.path.join(build, "attest"), "certify", "builtin:" + name,
                                   "--level", level, "--json", path, "--quiet"], stdout=out,
                                  check=False).returncode
        failed += code != 0
        if code == 2:
            show([name, *[""] * 5, "did not run"])
            continue
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        certificate, cases = report["certificate"], report["cases"]
        if certificate["certified"]:
            restricted = certificate["restricted"]
            verdict = f"certified (restricted: {restricted})" if restricted else "certified"
        else:
            verdict = f"not certified: see {log}"
        passed = certificate["verdicts"]["PASS"]
        worst = max((c.get("worst", 0) for c in cases if c["verdict"] == "PASS"), default=0)
        states = list(certificate["requirements"].values())
        show([name, str(len(cases)), str(passed), f"{states.count('passed')}",
              f"{worst:.3f}", f"{report['seconds']:.1f}", verdict])
    print(f"level {level}; reports in {folder}; the next level: make certify LEVEL=quick"
          if level == "smoke" else f"level {level}; reports in {folder}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
