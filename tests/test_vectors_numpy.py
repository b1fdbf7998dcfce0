#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The NumPy example tells right kernels from wrong ones; the manifest keeps what it promises."""
import json
import os
import sys

from support.tap import Tap

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, "vectors/examples")
import check_numpy  # noqa: E402
import jsonschema  # noqa: E402
import numpy as np  # noqa: E402


def attention(vector, x, diagonal=0, group_first=True, no_shift=False):
    """Plain softmax attention in binary32, for what it knows; shares nothing with attest."""
    options = vector["options"]
    if vector["profile"] != "attest" or vector["dtype"] != {"q": "F32", "kv": "F32", "o": "F32"}:
        return None
    if "window_size" in options or "window" in options or "softcap" in options or \
            {"slopes", "sinks"} & set(x):
        return None
    q, k, v = x["q"], x["k"], x["v"]
    batch, heads, rows, size = q.shape
    keys, repeat = k.shape[2], heads // k.shape[1]
    if group_first:
        k, v = np.repeat(k, repeat, axis=1), np.repeat(v, repeat, axis=1)
    else:
        k, v = np.tile(k, (1, repeat, 1, 1)), np.tile(v, (1, repeat, 1, 1))
    scale = np.float32(options.get("scale", 1 / np.sqrt(size)))
    seen = np.ones((batch, heads, rows, keys), bool)
    lengths = x.get("key_lengths", np.full(batch, keys))
    offsets = x.get("offsets", lengths - rows)
    at = np.arange(keys)
    seen &= (at < lengths[:, None])[:, None, None, :]
    if options.get("causal"):
        frontier = np.arange(rows)[None, :] + offsets[:, None] + diagonal
        seen &= (at[None, None, :] <= frontier[:, :, None])[:, None]
    bias = np.float32(0)
    if "mask" in x:
        mask = x["mask"]
        bias = np.float32(0) if mask.dtype == bool else mask
        seen &= (mask if mask.dtype == bool else mask != -np.inf)
    with np.errstate(all="ignore"):
        score = np.where(seen, np.einsum("bhid,bhjd->bhij", q, k) * scale + bias, -np.inf)
        top = np.zeros((batch, heads, rows, 1), np.float32)
        if keys and not no_shift:
            top = np.max(score, axis=-1, keepdims=True)
        top = np.where(seen.any(-1, keepdims=True), top, 0) if keys else top
        e = np.where(seen, np.exp(score - top, dtype=np.float32), 0)
        total = e.sum(-1, keepdims=True)
        w = np.where(seen, e / np.where(seen.any(-1, keepdims=True), total, 1), 0)
        out = np.zeros((batch, heads, rows, v.shape[3]), np.float32)
        for j in range(keys):  # a hidden value is left out, not multiplied by 0
            term = w[:, :, :, j:j + 1] * v[:, :, j:j + 1, :]
            out = np.where(seen[:, :, :, j:j + 1], out + term, out)
    return out


def tally(**defects):
    pairs = check_numpy.check(lambda v, x: attention(v, x, **defects))
    verdicts = [verdict for _, verdict in pairs]
    return verdicts.count(True), verdicts.count(False), verdicts.count(None)


def schema_errors():
    schema = json.load(open("spec/vectors.schema.json"))
    manifest = json.load(open("vectors/manifest.json"))
    validator = jsonschema.Draft202012Validator(schema)
    return [error.message for error in validator.iter_errors(manifest)]


def without_power():
    """Vectors that no cheat, defect or mutant would fail, and that do not say so."""
    for group in json.load(open("vectors/manifest.json"))["groups"]:
        for vector in group["vectors"]:
            if not set(vector["flags"]) & {"documentation", "invalid"} and \
                    not any(vector["rejects"].values()):
                yield vector["name"]


def main():
    tap = Tap()
    right, wrong, left_out = tally()
    tap.report(right > 150 and wrong == 0,
               f"a right kernel: {right} right, {wrong} wrong, {left_out} not tried")
    for defects in {"diagonal": 1}, {"group_first": False}, {"no_shift": True}:
        right, wrong, _ = tally(**defects)
        tap.report(wrong > 0, f"a kernel with {defects} is refused by {wrong} vectors")
    errors = schema_errors()
    tap.report(not errors, "the manifest follows its schema", [error[:300] for error in errors[:5]])
    weak = list(without_power())
    tap.report(not weak, "every vector rejects something", weak)
    power = json.load(open("vectors/mutants.json"))
    tap.report(power["value_killed"] >= 0.85 * power["value_mutants"] > 0,
               f"{power['value_killed']} of {power['value_mutants']} mutants that change values killed")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
