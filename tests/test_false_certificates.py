#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults that shipped kernels were once certified with are rejected by the requirement they break, and
what they answer differently by size is said."""

import json
import os
import subprocess
import sys
import tempfile

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
ATTEST = os.path.join(BUILD, "attest")
KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "support/false_certificates.py")
# kernel: the requirement that is broken
BROKEN = {
    "overflow_behind_the_mask": "ISO-03",
    "swallowed_nan_from_64_rows": "SPV-01",
    "all_minus_infinity_is_zero": "SPV-02",
    "filler_for_infinity": "SEM-12",
}
tap = Tap()


def certify(name, folder):
    path = os.path.join(folder, "report.json")
    subprocess.run([ATTEST, "certify", f"py:{KERNELS}:{name}", "--level", "smoke", "--only",
                    "poison,special,empty", "--quiet", "--json", path], stdin=subprocess.DEVNULL,
                   capture_output=True, timeout=240, check=False)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def broken(report):
    bad = [case for case in report["cases"] if case["verdict"] not in
           ("PASS", "MISTRUSTED", "OUT_OF_DOMAIN", "UNSUPPORTED")]
    return sorted({case.get("broken") or case["verdict"] for case in bad})


def fingerprint(name):
    done = subprocess.run([ATTEST, "fingerprint", f"py:{KERNELS}:{name}"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=240, check=False)
    return done.stdout


with tempfile.TemporaryDirectory() as directory:
    found = broken(certify("right", directory))
    tap.report(not found, "the right one fails nothing", f"{found}")
    for kernel, requirement in BROKEN.items():
        found = broken(certify(kernel, directory))
        tap.report(requirement in found, f"{kernel} breaks {requirement}", f"broken: {found}")
text = fingerprint("swallowed_nan_from_64_rows")
tap.report("a NaN in a visible k" in text and "query rows, wrong from 6" in text,
           "fingerprint says from how many rows a NaN is swallowed", text[-600:])
tap.report("nothing that is asked changes" in fingerprint("right"),
           "and says of the right one that nothing changes")
sys.exit(tap.end())
