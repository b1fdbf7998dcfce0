#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""protocol.py BUILD: what a call through the protocol costs beside the function itself, and how much the
Python API adds. make bench-protocol runs it; it fails above 70 microseconds a call or 20 %."""

import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "impl/wrong/hostile")
MOST_SECONDS, MOST_MORE, ROUNDS = 70e-6, 0.2, 5
ONLY = {"level": "smoke", "only": "repeat", "jobs": 1}


def best_call(cases):
    """Of the cases that ask `supports` once and call nine times."""
    return min(case["seconds"] / 10 for case in cases if " p0=" not in case["line"])


def by_protocol(build):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        words = [word for key, value in ONLY.items() for word in ("--" + key, str(value))]
        subprocess.run([os.path.join(build, "attest"), "certify", f"py:{FOLDER}/kernels.py:nothing",
                        *words, "--quiet", "--json", path], stdout=subprocess.DEVNULL, check=False,
                       env={**os.environ, "ATTEST_PYTHON": sys.executable})
        with open(path, encoding="utf-8") as file:
            return best_call(json.load(file)["cases"])


def by_api():
    import attest_attention
    import kernels
    return best_call(attest_attention.certify(kernels.nothing, progress=False, **ONLY).data["cases"])


def main(build):
    sys.path[:0] = [os.path.join(build, "python"), FOLDER]
    # In turn, so that both have the same machine.
    pairs = [(by_protocol(build), by_api()) for _ in range(ROUNDS)]
    protocol, api = (min(column) for column in zip(*pairs))
    more = api / protocol - 1
    print(f"protocol {protocol * 1e6:.1f} us a call (at most {MOST_SECONDS * 1e6:.0f}); through the API "
          f"{api * 1e6:.1f} us, {more:+.0%} (at most {MOST_MORE:+.0%})")
    return 0 if protocol <= MOST_SECONDS and more <= MOST_MORE else 1


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
