# SPDX-License-Identifier: Apache-2.0
"""A function under test with all that calling it takes; and what it can do, found by trying."""

import json
import os
import traceback

import numpy as np

from . import declaration
from .frameworks import NAMES, TYPES, candidates, framework
from .problem import Refusal

HERE = os.path.dirname(os.path.abspath(__file__))
MOST = 900  # characters of what attest keeps of an exception


def summary(error):
    """An exception on one line, the place that raised it first."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if not frame.filename.startswith(HERE)]
    places = [f"{os.path.basename(f.filename)}:{f.lineno} in {f.name}" for f in reversed(frames)]
    said = " ".join(f"{type(error).__name__}: {error}".split())
    if len(said) > MOST - 200:  # the reason may stand at either end
        said = said[:400] + " ... " + said[-300:]
    return " | ".join([said, *places])[:MOST]


class Callee:
    """Calls a function with its own names for the options and arrays of its framework."""

    def __init__(self, function, arrays):
        self.function, self.framework = function, framework(arrays)
        self.names = declaration.parameters(function)
        self.takes_anything = declaration.takes_anything(function)
        self.required = declaration.required(function)
        self.owned = False  # whether the last results were arrays of the framework

    def call(self, q, k, v, given, outputs):
        """The results as bits with the names of their types."""
        if not self.takes_anything:
            given = {self.names[ours]: value for ours, value in given.items() if ours in self.names}
        for ours, theirs in self.required.items():
            given.setdefault(theirs, False if ours in ("causal", "lse") else None)
        result = self.function(q, k, v, **given)
        results = result if outputs > 1 else (result,)
        if not isinstance(results, (tuple, list)) or len(results) != outputs:
            raise Refusal("internal", "must return o, or o and lse")
        self.owned = all(self.framework.owns(value) for value in results)
        return [self.framework.give(value) for value in results]


def checked(value, dtype, shape, wanted, name):
    """A result of the wrong kind is the kernel's mistake, not something to convert quietly."""
    if value.shape != tuple(shape):
        raise Refusal("internal", f"{name}: returned shape {value.shape}, must be {tuple(shape)}")
    if dtype != wanted:
        full = {ours: theirs for theirs, ours in NAMES.items()}
        raise Refusal("internal", f"{name}: returned type {full.get(dtype, dtype)}, must be "
                                  f"{full.get(wanted, wanted)}")
    return value


class Trial:
    """One small call: did it take the problem and give results of the right kind?"""

    B, H, S, D = 2, 4, 16, 16

    def __init__(self, function, arrays):
        self.callee = Callee(function, arrays)
        self.why, self.result = "", None

    def tensor(self, dtype, shape, spread=False):
        """Small numbers, exact in every type; `spread` leaves gaps between the elements' rows."""
        count = int(np.prod(shape))
        values = ((np.arange(count) * 7) % 23 - 11).astype(np.float32).reshape(shape) / 16
        if dtype == "bf16":
            bits = (values.view(np.uint32) >> 16).astype(np.uint16)
        else:
            bits = values.astype(TYPES[dtype])
        if spread:  # as a cache of tokens lies: [B,S,H,D]
            bits = np.ascontiguousarray(bits.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
        return self.callee.framework.take(bits, dtype)

    def works(self, dtype="f32", kv_heads=None, value_size=None, keys=None, spread=False, lse=False,
              batch=None, heads=None, queries=None, **options):
        b, h, s, d = (self.B if batch is None else batch, self.H if heads is None else heads,
                      self.S if queries is None else queries, self.D)
        sizes = (b, kv_heads or h, self.S if keys is None else keys)
        try:
            q = self.tensor(dtype, (b, h, s, d), spread)
            k = self.tensor(dtype, (*sizes, d), spread)
            v = self.tensor(dtype, (*sizes, value_size or d), spread)
            given = {name: self.operand(name, value) for name, value in options.items()}
            given.update({"lse": True} if lse else {})
            results = self.callee.call(q, k, v, given, 1 + lse)
            self.result = checked(*results[0], (b, h, s, value_size or d), dtype, "o").copy()
            if lse:
                checked(*results[1], (b, h, s), "f64" if dtype == "f64" else "f32", "lse")
        except Exception as error:  # pylint: disable=broad-except
            self.why = str(error) if isinstance(error, Refusal) else summary(error)
            return False
        return True

    def operand(self, name, value):
        if isinstance(value, np.ndarray):
            dtype = {np.dtype(np.uint8): "bool", np.dtype(np.int64): "i64",
                     np.dtype(np.float64): "f64"}.get(value.dtype, "f32")
            return self.callee.framework.take(value, dtype)
        return value


MASKS = ("mask-bool", "mask-add")


def close(a, b, dtype):
    """A mask that hides nothing changes nothing: one that takes zeros for "hidden" is no additive one."""
    if dtype == "bf16":
        a, b = ((x.astype(np.uint32) << 16).view(np.float32) for x in (a, b))
    return np.allclose(a.astype(np.float64), b.astype(np.float64), 0.02, 0.02)


def option(feature, dtype):
    """What a feature is tried with."""
    wide = np.float64 if dtype == "f64" else np.float32
    s, h = Trial.S, Trial.H
    lengths = np.array([Trial.S, Trial.S // 2], np.int64)
    return {
        "causal": {"causal": True},
        "offsets": {"causal": True, "offsets": np.array([0, 1], np.int64)},
        "window": {"window": (3, 2)}, "window-size": {"window_size": 4},
        "lengths": {"key_lengths": lengths},
        "mask-bool": {"mask": np.ones((s, s), np.uint8)},
        "mask-add": {"mask": np.zeros((s, s), wide)},
        "scale": {"scale": 0.5}, "softcap": {"softcap": 2.0},
        "sinks": {"sinks": np.zeros(h, wide)}, "alibi": {"slopes": np.full(h, 0.5, wide)},
        "lse": {"lse": True},
    }[feature]


def find_framework(function, arrays, types):
    """A Trial that works with one of the types, and that type."""
    reasons = []
    for name in [arrays] if arrays else candidates(function):
        trial = Trial(function, name)
        for dtype in types:
            try:
                if trial.works(dtype) and (arrays or trial.callee.owned):
                    return trial, dtype
            except ImportError as error:
                trial.why = str(error)
            reasons.append(f"with {name} arrays of {dtype}: {trial.why or 'returned arrays of another kind'}")
    raise TypeError("it cannot be called with q, k, v of shape [2,4,16,16]: " + "; ".join(reasons[:3]))


def find(function, said):
    """What `said` leaves open (features, shapes, types, arrays), found by trying."""
    types = said.get("types") or ["f32", "f64", "f16", "bf16"]
    trial, dtype = find_framework(function, said.get("arrays"), types)
    found = {"arrays": trial.callee.framework.name,
             "types": [other for other in types if other == dtype or trial.works(other)]}
    trial.works(dtype)
    plain = trial.result
    found["features"] = [feature for feature in declaration.parameter_features(function)
                         if trial.works(dtype, **option(feature, dtype)) and
                         (feature not in MASKS or close(trial.result, plain, dtype))]
    shapes = {"gqa": [{"kv_heads": 2}], "dv": [{"value_size": 24}], "strides": [{"spread": True}],
              "empty": [{"keys": 0}, {"queries": 0}, {"batch": 0}, {"heads": 0}]}
    found["shapes"] = [shape for shape, problems in shapes.items()
                       if all(trial.works(dtype, **sizes) for sizes in problems)]
    return found


def keep(found, path):
    """Whoever starts next has it, but where no file may be written (spec/threats.md, without Landlock)."""
    try:
        with open(path + str(os.getpid()), "w", encoding="utf-8") as file:
            json.dump(found, file)
        os.replace(path + str(os.getpid()), path)
    except PermissionError:
        pass


def declared(function, overrides=None):
    """The complete declaration of a function. What had to be tried is kept for the workers that start
    after this one in the directory that attest gives them."""
    said = {**getattr(function, "attest", {}), **(overrides or {})}
    folder = os.environ.get("TMPDIR")
    kept = os.path.join(folder, "declaration.json") if folder else None
    open_fields = declaration.is_left_open(function, overrides)
    if not open_fields and said.get("arrays"):
        return declaration.complete(function, overrides)
    found = None
    if kept and os.path.exists(kept):
        with open(kept, encoding="utf-8") as file:
            found = json.load(file)
    if found is None:
        found = find(function, said) if open_fields else {"arrays": choose(function, said["types"])}
        if kept:
            keep(found, kept)
    chosen = declaration.complete(function, overrides, found)
    return dict(chosen, arrays=chosen.get("arrays") or found["arrays"])


def choose(function, types):
    """Of a function that says what it can do but not on which arrays. It is not called where there is
    nothing to choose from."""
    names = candidates(function)
    if len(names) == 1:
        return names[0]
    return find_framework(function, None, types)[0].callee.framework.name
