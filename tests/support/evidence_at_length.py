#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bundles of many kernels verified, and many single bits altered: make check-evidence."""

import glob
import os
import random
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD", "build/default")
ATTEST = os.path.join(BUILD, "attest")
BUNDLES, BITS = int(os.environ.get("BUNDLES", 100)), int(os.environ.get("BITS", 10000))


def verified(path):
    done = subprocess.run([ATTEST, "verify", path], capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout


def main():
    kernels = sorted(glob.glob(os.path.join(BUILD, "mutants", "*.so")))
    kernels = random.Random(1).sample(kernels, min(BUNDLES, len(kernels)))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.attest")
        accepted = 0
        for kernel in kernels:
            subprocess.run([ATTEST, "certify", kernel, "--level", "smoke", "--quiet", "--only",
                            "heads,empty,repeat,purity,special", "--bundle", path],
                           stdout=subprocess.DEVNULL, check=False)
            good, said = verified(path)
            accepted += good
            if not good:
                print(kernel, said.strip(), flush=True)
        print(f"{accepted} of {len(kernels)} fresh bundles verified", flush=True)
        subprocess.run([ATTEST, "certify", "builtin:naive", "--level", "smoke", "--quiet", "--only",
                        "purity", "--bundle", path], stdout=subprocess.DEVNULL, check=False)
        with open(path, "rb") as file:
            whole = bytearray(file.read())
        draw, refused = random.Random(2), 0
        for _ in range(BITS):
            place = draw.randrange(8 * len(whole))
            whole[place // 8] ^= 1 << place % 8
            with open(path, "wb") as file:
                file.write(whole)
            refused += not verified(path)[0]
            whole[place // 8] ^= 1 << place % 8
        print(f"{refused} of {BITS} single-bit alterations refused", flush=True)
    return 0 if accepted == len(kernels) and refused == BITS else 1


if __name__ == "__main__":
    sys.exit(main())
