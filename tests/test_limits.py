#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A slow or crashing kernel does not hold a run: --time and --first-failure also cut the
look for boundaries."""

import json
import os
import subprocess
import sys
import tempfile
import time

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
ATTEST = os.path.abspath(os.path.join(BUILD, "attest"))
SLOW = """
import time
def attention(q, k, v):
    time.sleep(0.1)
    return q
"""


def certify(target, folder, *more):
    report, began = os.path.join(folder, "report.json"), time.monotonic()
    done = subprocess.run([ATTEST, "certify", target, "--level", "smoke", "--quiet", "--jobs", "1",
                           "--json", report, *more], capture_output=True, text=True, check=False, timeout=100)
    with open(report, encoding="utf-8") as file:
        return done, json.load(file), time.monotonic() - began


def slow(folder):
    path = os.path.join(folder, "slow.py")
    with open(path, "w", encoding="ascii") as file:
        file.write(SLOW)
    done, report, seconds = certify(f"py:{path}:attention", folder, "--time", "3")
    assert done.returncode == 1 and "cut by --time" in report["incomplete"], report["incomplete"]
    assert seconds < 12 and report["probes"] < 60, (seconds, report["probes"])


def crashing(folder):
    done, report, _ = certify(os.path.join(BUILD, "hostile", "crash.so"), folder, "--first-failure")
    assert done.returncode == 1 and report["probes"] == 1, report["probes"]
    assert sum(c["verdict"] not in ("PASS", "NOT_RUN") for c in report["cases"]) >= 1
    assert "first failure" in report["incomplete"], report["incomplete"]


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        tap.run("--time cuts all of a run", slow, folder)
        tap.run("--first-failure cuts all of a run", crashing, folder)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
