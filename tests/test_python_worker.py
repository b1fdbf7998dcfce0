#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Python kernels, hostile ones among them, each get their right verdict."""

import json
import math
import os
import subprocess
import sys
import tempfile

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
ATTEST = os.path.join(BUILD, "attest")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KERNELS = os.path.join(ROOT, "impl/wrong/hostile/kernels.py")
SKIP = "skip"

# function: verdict that must appear ("certified", "unloadable"), words that one failure must say
EXPECTED = {
    "nothing": ("certified", ""),
    "prints_megabytes": ("certified", ""),
    "raises": ("FAIL", "ValueError: this kernel"),
    "wrong_shape": ("FAIL", "returned shape (1, 2, 3)"),
    "wrong_type": ("FAIL", "returned type float64"),
    "not_an_array": ("FAIL", "returned shape ()"),
    "exits": ("CRASH", "ended by itself with status 0"),
    "kills_the_interpreter": ("CRASH", "signal 9"),
    "aborts": ("CRASH", "signal 6"),
    "never_returns": ("TIMEOUT", "no answer within"),
    "answers_itself": ("ERROR", "does not belong to the question"),
    "writes_inputs": ("FAIL", "read-only"),
    "ignores_the_mask": ("FAIL", "the mask in use is not the one asked for"),
    "writes_a_file": ("FAIL", "PermissionError"),
    "uses_the_network": ("FAIL", "PermissionError"),
    "allocates": ("ERROR", "ran out of memory"),
    "leaks_nan": ("FAIL", "data it may not see"),
    "undecorated": ("FAIL", "data it may not see"),
    "too_proud": ("unloadable", "unknown name"),
    "not_callable": ("unloadable", "not callable"),
    "absent": ("unloadable", "AttributeError"),
}


def certify(folder, target, *more):
    path = os.path.join(folder, "report.json")
    if os.path.exists(path):
        os.unlink(path)
    done = subprocess.run(
        [ATTEST, "certify", target, "--level", "smoke", "--call-time", "2", "--quiet", "--json",
         path, "--env", "HOSTILE_FOLDER", *more], stdin=subprocess.DEVNULL, capture_output=True,
        timeout=240, check=False, env={**os.environ, "HOSTILE_FOLDER": folder})
    with open(path, encoding="utf-8") as file:
        return done, json.load(file)


def problem(name, folder):
    verdict, words = EXPECTED[name]
    # A fresh interpreter for each crash is slow: a few cases of each kind will do.
    part = [] if verdict == "certified" else ["--only", "mask-readback,poison"]
    part += ["--shard", "1/6"] if verdict in ("CRASH", "TIMEOUT", "ERROR") else []
    done, report = certify(folder, f"py:{KERNELS}:{name}", *part)
    if os.path.exists(os.path.join(folder, "made")):
        return "a file was made"
    if any(byte > 126 or (byte < 32 and byte != 10) for byte in done.stdout + done.stderr):
        return "unprintable output"
    if verdict == "certified":
        return "" if done.returncode == 0 else report["certificate"]["reason"]
    if done.returncode != 1:
        return f"exit code {done.returncode}"
    if verdict == "unloadable":
        return "" if words in report["load_error"] else f"load error {report['load_error']!r}"
    said = [c.get("what", "") for c in report["cases"] if c["verdict"] == verdict]
    return "" if any(words in what for what in said) else f"{verdict} says {said[:2]}"


def validated(folder):
    """Every message of a whole run against the published schema."""
    done, report = certify(folder, f"py:{KERNELS}:nothing", "--validate")
    return "" if done.returncode == 0 else report["certificate"]["reason"] + report["load_error"]


def overhead(folder):
    """One small call through the protocol, the callable included, takes less than a millisecond."""
    best = math.inf
    for _ in range(3):
        _, report = certify(folder, f"py:{KERNELS}:nothing", "--only", "repeat", "--jobs", "1")
        cases = [c for c in report["cases"] if " p0=" not in c["line"]]  # supports, 1 + 8 calls
        best = min([best, *(c["seconds"] / 10 for c in cases)])
    print(f"# {best * 1e3:.3f} ms a call")
    if best >= 1e-3 and os.getloadavg()[0] > 2 * os.cpu_count():
        return SKIP
    return "" if best < 1e-3 else f"{best * 1e3:.3f} ms"


def exec_target(folder):
    """The same worker started as a program of its own."""
    program = os.path.join(folder, "program")
    worker = os.path.abspath(os.path.join(BUILD, "python", "attest_attention", "worker.py"))
    with open(program, "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\nexec {sys.executable} -B {worker} {KERNELS} nothing\n")
    os.chmod(program, 0o755)
    granted = ["--read", KERNELS, "--read", os.path.dirname(os.path.dirname(worker)),
               "--read", sys.base_prefix, "--read", sys.prefix]
    done, report = certify(folder, f"exec:{program}", *granted)
    if done.returncode != 0:
        return report["certificate"]["reason"]
    with open(program, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\necho hello\nread x\n")
    done, report = certify(folder, f"exec:{program}")
    return "" if "not a JSON object" in report["load_error"] else report["load_error"] or "accepted"


def main():
    extra = [validated, overhead, exec_target]
    runs = [(name, lambda folder, name=name: problem(name, folder)) for name in EXPECTED]
    runs += [(function.__name__, function) for function in extra]
    runs = [r for r in runs if not sys.argv[1:] or r[0] in sys.argv[1:]]
    tap = Tap()
    for name, function in runs:
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = function(folder)
            except (OSError, ValueError, subprocess.TimeoutExpired) as error:
                found = f"attest did not survive: {error}"
        if found == SKIP:
            tap.skip(name, "the machine is too busy to measure")
        else:
            tap.report(not found, name, found)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
