#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No false alarm on right kernels of other people: impl/right, and Python kernels that declare what a
transport cannot show, or axes of length 0."""

import json
import os
import subprocess
import sys
import tempfile

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
# Each raised an alarm once: an f64-only kernel, -0 in empty rows, the LSE of a score of +inf.
VARIANTS = ["f64", "minus-zero", "limits", "online-32", "exp2", "fast-math"]

PYTHON = '''
import numpy as np
from attest_attention import kernel

@kernel(features=["causal", "offsets", "lengths"], shapes=["strides", "dv", "gqa", "empty"],
        types=["f32"], isolation="bad-keys")
def attention(q, k, v, causal=False, offsets=None, key_lengths=None):
    """Copies everything, and multiplies hidden values by zero: it may, where MEM-04 cannot be asked."""
    batch, heads, queries, size = q.shape
    keys, out = k.shape[2], np.zeros((batch, heads, queries, v.shape[3]), np.float32)
    for b in range(batch):
        length = keys if key_lengths is None else int(key_lengths[b])
        offset = length - queries if offsets is None else int(offsets[b])
        for h in range(heads):
            g = h // (heads // k.shape[1])
            every_key, every_value = np.array(k[b, g]), np.array(v[b, g])
            for i in range(queries):
                last = min(length, i + offset + 1) if causal else length
                seen = np.arange(keys) < last
                if not seen.any():
                    continue
                with np.errstate(all="ignore"):
                    score = every_key @ q[b, h, i] * np.float32(size ** -0.5 if size else 1)
                    weight = np.where(seen, np.exp(score - score[seen].max()), np.float32(0))
                    out[b, h, i] = weight @ every_value / weight.sum()
    return out
'''


def certify(target, *more):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        done = subprocess.run([os.path.join(BUILD, "attest"), "certify", target, "--level", "smoke",
                               "--quiet", "--json", path, *more], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=300, check=False)
        with open(path, encoding="utf-8") as file:
            return done, json.load(file)


def right(name):
    done, report = certify(os.path.join(BUILD, "right", name + ".so"))
    return "" if done.returncode == 0 else report["certificate"]["reason"]


def python():
    """MEM-04 is not applicable, with the reason; zero heads are an ordinary problem."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "copies.py")
        with open(path, "w", encoding="ascii") as file:
            file.write(PYTHON)
        done, report = certify(f"py:{path}:attention", "--only", "unseen,special,fences,sizes")
    certificate = report["certificate"]
    bad = [case for case in report["cases"] if case["verdict"] in ("FAIL", "ERROR", "CRASH")]
    if bad:
        return f"{bad[0]['line']}: {bad[0]['what']}"
    asked = [case for case in report["cases"] if case["verdict"] == "NOT_APPLICABLE"]
    if not asked or any("memory is there" not in case["what"] for case in asked):
        return "no case of `unseen` is NOT_APPLICABLE with its reason"
    if certificate["requirements"].get("MEM-04") != "not applicable":
        return f"MEM-04 is {certificate['requirements'].get('MEM-04')}"
    if "MEM-04" not in certificate["restricted"]:
        return f"the certificate says only: {certificate['restricted']}"
    none = [case for case in report["cases"] if " hq=0 " in case["line"]]
    return "" if none and none[0]["verdict"] == "PASS" else "no case with zero heads passed"


def emulator():
    """It rounded its LSE twice, the second time in the store: up to twice its radius off."""
    line = ("check=oracle b=7 hq=2 d=7 dv=3 q=bf16 kv=bf16 features=offsets,mask-add,scale,lse "
            "scale=-0x1.5953d5f12e025p+1 mask-type=f32 mask-full=15 mask=all-visible offsets=ragged "
            "layout=padded qk=twins v=bell p0=3 seed=271728233476765")
    done = subprocess.run([os.path.join(BUILD, "attest"), "replay", line,
                           os.path.join(BUILD, "emulators", "f32-strict.so")], capture_output=True,
                          text=True, timeout=60, check=False)
    return "" if done.returncode == 0 else done.stdout


def tried():
    """The certificate says what passed cases had, and what none had."""
    done, report = certify(os.path.join(BUILD, "right", "f64.so"), "--only", "oracle,sizes")
    found = report["tried"]
    passed = [case["line"] for case in report["cases"] if case["verdict"] == "PASS"]
    longest = max(int(word[3:]) for line in passed for word in line.split() if word.startswith("sk="))
    sinks = sum("sinks" in line for line in passed)
    if (found["types"], found["largest"]["keys"], found["options"]["sinks"]) != (["f64"], longest, sinks):
        return f"{found}, longest {longest}, {sinks} with sinks"
    text = done.stdout.decode()
    return "" if "types f32 f16 bf16; anything larger" in text and "count for nothing" in text else text


def main():
    special = {"python": python, "emulator": emulator, "tried": tried}
    tap = Tap()
    for name in sys.argv[1:] or [*VARIANTS, *special]:
        why = special[name]() if name in special else right(name)
        tap.report(not why, name, why)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
