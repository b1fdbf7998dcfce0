#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attest's worker for kernels written in Python: any callable on NumPy arrays.

    attest certify py:attention.py:forward

The callable gets q, k and v as read-only arrays [B,H,S,D] and what else is in force by keyword:

    causal=True  offsets=int64[B]  window=(left, right)  window_size=W  key_lengths=int64[B]
    mask=array (boolean or additive, rank 0-4)  scale=float  softcap=float  sinks=[Hq]
    slopes=[Hq] or [B,Hq]  lse=True  threads=n

and returns o [B,Hq,Sq,Dv], or (o, lse) when lse=True was passed. What it can do follows from its
parameters, or is said by the decorator:

    from attest_worker import kernel

    @kernel(features=["causal"], types=["f32"], finite_only=True, isolation="extreme")
    def forward(q, k, v, causal=False): ...

spec/protocol.md describes what this program says to attest. NumPy is all it needs.
"""

import importlib.util
import inspect
import json
import math
import mmap
import os
import sys
import traceback

import numpy as np

PROTOCOL = 1
TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bool": np.uint8,
         "i64": np.int64}
OPERANDS = {"q", "k", "v", "mask", "sinks", "slopes", "key_lengths", "offsets", "o", "lse"}
BY_PARAMETER = {"causal": ["causal"], "offsets": ["offsets"], "window": ["window"],
                "window_size": ["window-size"], "key_lengths": ["lengths"],
                "mask": ["mask-bool", "mask-add"], "scale": ["scale"], "softcap": ["softcap"],
                "sinks": ["sinks"], "slopes": ["alibi"], "lse": ["lse"]}
MAX_AXIS = 1 << 40


class Refusal(Exception):
    """A problem that is not computed: status and message."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def kernel(name=None, vendor="", version="", profile="attest", model="f32-strict", features=None,
           shapes=("strides",), types=("f32",), max_head_size=0, max_queries=0,
           max_keys=0, max_abs_score=0, exp_ulps=0, finite_only=False, isolation="full",
           determinism=()):
    """Declares what a callable can do and promises; every argument is a field of attest.h."""
    def decorate(function):
        function.attest = {
            "name": name or function.__name__, "vendor": vendor, "version": version,
            "profile": profile, "model": model,
            "features": list(parameters(function) if features is None else features),
            "shapes": list(shapes), "types": list(types), "max_head_size": max_head_size,
            "max_queries": max_queries, "max_keys": max_keys, "max_abs_score": max_abs_score,
            "exp_ulps": exp_ulps, "finite_only": bool(finite_only), "isolation": isolation,
            "determinism": list(determinism)}
        return function
    return decorate


def parameters(function):
    """Features that the names of a callable's parameters promise."""
    names = inspect.signature(function).parameters
    return [feature for name in BY_PARAMETER if name in names for feature in BY_PARAMETER[name]]


def load(path, name):
    sys.modules["attest_worker"] = sys.modules[__name__]
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("kernel_under_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name)
    if not callable(function):
        raise TypeError(f"{name} is not callable")
    return function if hasattr(function, "attest") else kernel()(function)


def refuse(condition, field, why, status="invalid"):
    if condition:
        raise Refusal(status, f"{field}: {why}")


def check_tensor(name, t, types, shape):
    refuse(t["dtype"] not in types, name, f"type {t['dtype']} is not one of {sorted(types)}")
    refuse(len(t["shape"]) != len(shape), name, f"rank must be {len(shape)}")
    refuse(any(n < 0 or n > MAX_AXIS for n in t["shape"]), name, "an axis is out of range")
    refuse(any(s < 0 for s in t["stride"]), name, "a stride is negative")
    refuse(any(want is not None and got != want for got, want in zip(t["shape"], shape)), name,
           f"shape {t['shape']} must be {list(shape)}")
    extent = 1 + sum(max(n - 1, 0) * s for n, s in zip(t["shape"], t["stride"]))
    refuse(extent * np.dtype(TYPES[t["dtype"]]).itemsize > 1 << 62, name, "does not fit in memory")


def check_problem(problem, features, kernel_info):
    """What the C kernels check in reference/problem/validate.c, as far as the protocol can express it."""
    refuse(bool(features - set(kernel_info["features"])), "features",
           f"{sorted(features - set(kernel_info['features']))} not supported", "unsupported")
    refuse("reserved" in problem, "reserved", "must be zero", "unsupported")
    tensors = problem["tensors"]
    floats = {"f32", "f64", "f16"}
    for name in ("q", "k", "v", "o"):
        refuse(tensors[name]["dtype"] == "bf16", name, "bf16 is not supported", "unsupported")
    check_tensor("q", tensors["q"], floats, (None,) * 4)
    b, hq, sq, d = tensors["q"]["shape"]
    check_tensor("k", tensors["k"], floats, (b, None, None, d))
    hkv, sk = tensors["k"]["shape"][1:3]
    check_tensor("v", tensors["v"], {tensors["k"]["dtype"]}, (b, hkv, sk, None))
    check_tensor("o", tensors["o"], floats, (b, hq, sq, tensors["v"]["shape"][3]))
    refuse(hkv == 0 or hq % max(hkv, 1) != 0, "k", "query heads are no multiple of its heads")
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
    return sk


class Files:
    """Arrays on the two shared files."""

    def __init__(self, start):
        with open(start["inputs"], "rb") as file:
            self.inputs = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        with open(start["outputs"], "r+b") as file:
            self.outputs = mmap.mmap(file.fileno(), 0)

    def array(self, t):
        dtype = np.dtype(TYPES[t["dtype"]])
        if 0 in t["shape"]:
            return np.zeros(t["shape"], dtype)
        last = sum((n - 1) * s for n, s in zip(t["shape"], t["stride"]))
        flat = np.frombuffer(getattr(self, t["file"]), dtype, last + 1, t["offset"])
        strides = [s * dtype.itemsize for s in t["stride"]]
        return np.lib.stride_tricks.as_strided(flat, t["shape"], strides)


def arguments(problem, features, files, keys):
    tensors = {name: files.array(t) for name, t in problem["tensors"].items()
               if name not in ("o", "lse")}
    given = {"threads": problem["threads"]}
    for name in ("scale", "softcap", "window_size"):
        if name in problem:
            given[name] = problem[name]
    for name in ("offsets", "key_lengths", "sinks", "slopes", "mask"):
        if name in tensors:
            given[name] = tensors[name]
    if "window" in problem:
        given["window"] = tuple(problem["window"])
    for name in ("causal", "lse"):
        if name in features:
            given[name] = True
    if "mask-bool" in features:
        given["mask"] = tensors["mask"] != 0
    if "key_lengths" in given:
        lengths = given["key_lengths"]
        refuse(bool(((lengths < 0) | (lengths > keys)).any()), "key_lengths", "outside 0..Sk")
    return tensors["q"], tensors["k"], tensors["v"], given


def store(files, t, value, name):
    """A result of the wrong kind is the kernel's mistake, not something to convert quietly."""
    target = files.array(t)
    value = np.asarray(value)
    if value.shape != target.shape:
        raise Refusal("internal", f"{name}: returned shape {value.shape}, must be {target.shape}")
    if value.dtype != target.dtype:
        raise Refusal("internal", f"{name}: returned type {value.dtype}, must be {target.dtype}")
    return target, value


def run(function, accepted, message, files):
    problem = message["problem"]
    features = set(problem["features"])
    refuse(bool(set(problem["tensors"]) - OPERANDS), "tensors", "unknown operand", "unsupported")
    keys = check_problem(problem, features, function.attest)
    if message["kind"] == "supports":
        return
    q, k, v, given = arguments(problem, features, files, keys)
    if accepted is not None:
        given = {name: value for name, value in given.items() if name in accepted}
    result = function(q, k, v, **given)
    outputs = result if "lse" in features else (result,)
    if len(outputs) != 1 + ("lse" in features):
        raise Refusal("internal", "must return o, or o and lse")
    ready = [store(files, problem["tensors"][name], value, name)
             for name, value in zip(("o", "lse"), outputs)]
    for target, value in ready:
        target[...] = value


def validator(message):
    """With --validate: a function that checks messages both ways against the published schema."""
    if not message.get("validate"):
        return lambda message: None
    import jsonschema  # only here: an ordinary run needs NumPy alone
    here = os.path.dirname(os.path.abspath(__file__))
    for place in ("../../../spec", "../../spec", "../share/attest"):
        path = os.path.join(here, place, "protocol.schema.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return jsonschema.Draft202012Validator(json.load(file)).validate
    raise FileNotFoundError("protocol.schema.json")


def main():
    # What the kernel prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    files = function = accepted = None
    validate = validator({})
    for line in sys.stdin:
        message = json.loads(line)
        command = message["cmd"]
        if command == "stop":
            break
        if command == "start":
            validate = validator(message)
            files = Files(message)
            answer = {"protocol": PROTOCOL}
        elif command == "declare":
            try:
                function = load(sys.argv[1], sys.argv[2])
                names = inspect.signature(function).parameters
                takes_any = any(p.kind == p.VAR_KEYWORD for p in names.values())
                accepted = None if takes_any else set(names)
                answer = {"kernel": function.attest}
            except Exception as error:  # pylint: disable=broad-except
                answer = {"message": summary(error)}
        else:
            answer = {"seq": message["seq"], "status": "ok"}
            try:
                run(function, accepted, message, files)
            except Refusal as refusal:
                answer.update(status=refusal.status, message=str(refusal)[:250])
            except MemoryError as error:
                answer.update(status="no-memory", message=str(error)[:250])
            except Exception as error:  # pylint: disable=broad-except
                answer.update(status="internal", message=summary(error))
        validate(message)
        validate(answer)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def summary(error):
    """An exception on one line, the place that raised it first: attest keeps 255 characters."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if frame.filename != __file__]
    places = [f"{os.path.basename(f.filename)}:{f.lineno} in {f.name}" for f in reversed(frames)]
    return " | ".join([f"{type(error).__name__}: {error}"[:150], *places])[:250]


if __name__ == "__main__":
    main()
