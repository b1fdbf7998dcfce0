# SPDX-License-Identifier: Apache-2.0
"""Checks an attention function against the golden vectors, with NumPy alone (spec/vectors.md)."""
import json
import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "BOOL": "?"}


def load(path):
    raw = open(path, "rb").read()
    start = 8 + int.from_bytes(raw[:8], "little")
    return {name: np.frombuffer(raw[start + t["data_offsets"][0]:start + t["data_offsets"][1]],
                                TYPES[t["dtype"]]).reshape(t["shape"])
            for name, t in json.loads(raw[8:start]).items() if name != "__metadata__"}


def right(tensors, name, model, actual):
    """high NaN: NaN is due (low inf: or an infinity); radius NaN: no verdict."""
    high, low, radius = (tensors[f"{name}/o.{part}"] for part in ("high", "low", f"radius.{model}"))
    with np.errstate(invalid="ignore"):
        near = np.abs(actual - high - low) <= radius
    nan_due = np.isnan(high) & np.where(low == 0, np.isnan(actual), ~np.isfinite(actual))
    return bool(np.all(near | (actual == high) | nan_due | np.isnan(radius)))


def check(kernel, model="f32-strict", directory="vectors"):
    """Yields (vector, verdict); verdict is None where `kernel(vector, inputs)` returns None."""
    for group in json.load(open(f"{directory}/manifest.json"))["groups"]:
        tensors = load(f"{directory}/data/{group['file']}") if "file" in group else {}
        for vector in group["vectors"]:
            name = vector["name"]
            if model in vector.get("models", ()) and f"{name}/q" in tensors:
                inputs = {key[len(name) + 1:]: value for key, value in tensors.items()
                          if key.startswith(name + "/") and "." not in key}
                result = kernel(vector, inputs)
                yield vector, None if result is None else right(tensors, name, model, result)
