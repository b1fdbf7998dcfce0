# SPDX-License-Identifier: Apache-2.0
"""A problem as the protocol says it: checked, its tensors found in the shared files, and as the
arguments of a function."""

import math
import mmap

import numpy as np

from .frameworks import TYPES

OPERANDS = {"q", "k", "v", "mask", "sinks", "slopes", "key_lengths", "offsets", "o", "lse"}
FLOATS = {"f32", "f64", "f16", "bf16"}
MAX_AXIS = 1 << 40
BYTES = {name: np.dtype(kind).itemsize for name, kind in TYPES.items()}


class Refusal(Exception):
    """A problem that is not computed: status and message."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def refuse(condition, field, why, status="invalid"):
    if condition:
        raise Refusal(status, f"{field}: {why}")


def check_tensor(name, t, types, shape):
    """Texts are made only where one is needed: this is most of what a call costs."""
    got, strides = t["shape"], t["stride"]
    if t["dtype"] not in types:
        refuse(True, name, f"type {t['dtype']} is not one of {sorted(types)}")
    if len(got) != len(shape):
        refuse(True, name, f"rank must be {len(shape)}")
    extent = 1
    for n, wanted, stride in zip(got, shape, strides):
        refuse(n < 0 or n > MAX_AXIS, name, "an axis is out of range")
        refuse(stride < 0, name, "a stride is negative")
        if wanted is not None and n != wanted:
            refuse(True, name, f"shape {got} must be {list(shape)}")
        extent += (n - 1) * stride if n > 1 else 0
    refuse(extent * BYTES[t["dtype"]] > 1 << 62, name, "does not fit in memory")


def check_problem(problem, features, said):
    """What the C kernels check in reference/problem/validate.c, as far as the protocol can express it."""
    missing = sorted(features - set(said["features"]))
    refuse(bool(missing), "features", f"{missing} not supported", "unsupported")
    refuse("reserved" in problem, "reserved", "must be zero", "unsupported")
    tensors = problem["tensors"]
    refuse(bool(set(tensors) - OPERANDS), "tensors", "unknown operand", "unsupported")
    for name in ("q", "k", "v", "o"):
        dtype = tensors[name]["dtype"]
        if dtype in FLOATS and dtype not in said["types"]:
            refuse(True, name, f"{dtype} is not among the types declared", "unsupported")
    check_tensor("q", tensors["q"], FLOATS, (None,) * 4)
    b, hq, sq, d = tensors["q"]["shape"]
    check_tensor("k", tensors["k"], FLOATS, (b, None, None, d))
    hkv, sk = tensors["k"]["shape"][1:3]
    check_tensor("v", tensors["v"], {tensors["k"]["dtype"]}, (b, hkv, sk, None))
    check_tensor("o", tensors["o"], FLOATS, (b, hq, sq, tensors["v"]["shape"][3]))
    refuse(hq % hkv != 0 if hkv else hq != 0, "k", "query heads are no multiple of its heads")
    wide = "f64" if tensors["q"]["dtype"] == "f64" else "f32"
    if "lse" in tensors:
        check_tensor("lse", tensors["lse"], {wide}, (b, hq, sq))
    if "mask" in tensors:
        allowed = {"bool"} if "mask-bool" in features else {wide, tensors["q"]["dtype"]}
        mask = tensors["mask"]
        check_tensor("mask", mask, allowed, (None,) * len(mask["shape"]))
        full = (b, hq, sq, sk)[4 - len(mask["shape"]):]
        refuse(any(n not in (1, f) for n, f in zip(mask["shape"], full)), "mask",
               f"shape {mask['shape']} does not broadcast to {list(full)}")
    for scalar in ("scale", "softcap"):
        if scalar in problem:
            value = float(problem[scalar])
            refuse(not math.isfinite(value), scalar, "is not finite")
            refuse(scalar == "softcap" and value <= 0, scalar, "is not positive")
    refuse(any(side < -1 for side in problem.get("window", [])), "window", "a side is below -1")
    refuse(problem.get("window_size", 1) < 1, "window_size", "is below 1")


class Problem:
    """What a supports() hook is asked about: numbers, no data.

    batch, q_heads, kv_heads, queries, keys, head_size, value_size; causal, window, window_size,
    scale, softcap, lse, mask (None, "bool" or "add"), offsets, key_lengths, sinks, slopes;
    types ("q", "k", "o" -> "f32" ...), strides ("q", "k", "v" -> elements an axis).
    """

    def __init__(self, problem):
        tensors, features = problem["tensors"], set(problem["features"])
        self.batch, self.q_heads, self.queries, self.head_size = tensors["q"]["shape"]
        _, self.kv_heads, self.keys, self.value_size = tensors["v"]["shape"]
        self.causal, self.lse = "causal" in features, "lse" in features
        self.window = tuple(problem["window"]) if "window" in problem else None
        self.window_size = problem.get("window_size")
        self.scale, self.softcap = problem.get("scale"), problem.get("softcap")
        masks = {"mask-bool": "bool", "mask-add": "add"}
        self.mask = next((word for name, word in masks.items() if name in features), None)
        self.offsets, self.key_lengths = "offsets" in features, "lengths" in features
        self.sinks, self.slopes = "sinks" in features, "alibi" in features
        self.types = {name: tensors[name]["dtype"] for name in ("q", "k", "v", "o")}
        self.strides = {name: tuple(tensors[name]["stride"]) for name in ("q", "k", "v", "o")}


def ask_supports(hook, problem):
    if hook is None:
        return
    answer = hook(Problem(problem))
    if answer is not None and answer is not True:
        raise Refusal("unsupported", answer if isinstance(answer, str) else "supports() said no")


class Files:
    """Arrays on the two shared files."""

    def __init__(self):
        # By descriptor: where Landlock is missing, no path may be opened for writing.
        self.inputs = mmap.mmap(4, 0, prot=mmap.PROT_READ)
        self.outputs = mmap.mmap(5, 0)

    def array(self, t):
        dtype = np.dtype(TYPES[t["dtype"]])
        if 0 in t["shape"]:
            return np.zeros(t["shape"], dtype)
        strides = [s * dtype.itemsize for s in t["stride"]]
        return np.ndarray(t["shape"], dtype, getattr(self, t["file"]), t["offset"], strides)


def arguments(problem, files, take):
    """q, k, v and what else is in force, by our names; take(bits, dtype) makes the arrays."""
    features, tensors = set(problem["features"]), problem["tensors"]
    bits = {name: files.array(t) for name, t in tensors.items() if name not in ("o", "lse")}
    if "key_lengths" in bits:
        lengths, keys = bits["key_lengths"], tensors["k"]["shape"][2]
        refuse(bool(((lengths < 0) | (lengths > keys)).any()), "key_lengths", "outside 0..Sk")
    arrays = {name: take(array, tensors[name]["dtype"]) for name, array in bits.items()}
    q, k, v = (arrays.pop(name) for name in ("q", "k", "v"))
    given = {"threads": problem["threads"], **arrays}
    given.update({name: problem[name] for name in ("scale", "softcap", "window_size") if name in problem})
    if "window" in problem:
        given["window"] = tuple(problem["window"])
    given.update({name: True for name in ("causal", "lse") if name in features})
    return q, k, v, given
