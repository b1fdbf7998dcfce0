# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy, PyTorch, JAX and others on attest's shared memory, and back.

Inside the worker a tensor is a NumPy array of its bits (bfloat16 as uint16, which NumPy has not) and
the name of its type. A framework takes it as its own array, without a copy where it can (DLPack),
and gives its results back the same way.
"""

import importlib
import inspect
import sys

import numpy as np

TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16,
         "bool": np.uint8, "i64": np.int64}
NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}
KNOWN = {np.dtype(ours): name for ours, name in NAMES.items() if name != "bf16"}


class Alias:
    """The same memory without the mark that it is read-only, which DLPack of NumPy 1 cannot say.
    Whoever writes to it is ended by a signal, since it is mapped for reading."""

    def __init__(self, array):
        there = array.__array_interface__
        self.__array_interface__ = {**there, "data": (there["data"][0], False)}
        self.array = array


def writable(array):
    return array if array.size == 0 else np.asarray(Alias(array))


class NumPy:
    name = "numpy"

    def take(self, array, dtype):
        if dtype == "bf16":
            return array.view(importlib.import_module("ml_dtypes").bfloat16)
        return np.asarray(array != 0) if dtype == "bool" else array

    def owns(self, value):
        return isinstance(value, np.ndarray)

    def give(self, value):
        value = np.asarray(value)
        dtype = KNOWN.get(value.dtype)
        if dtype is None:  # bfloat16 is a type of another module
            dtype = NAMES.get(str(value.dtype), str(value.dtype))
        return (value.view(np.uint16) if dtype == "bf16" else value), dtype


class Torch(NumPy):
    name = "torch"

    def __init__(self):
        self.module = importlib.import_module("torch")

    def take(self, array, dtype):
        torch = self.module
        if array.size == 0:
            own = {"bf16": torch.bfloat16, "bool": torch.bool}.get(dtype)
            return torch.from_numpy(np.zeros(array.shape, array.dtype if own is None else np.uint8)).to(own)
        if dtype == "bf16":
            return torch.from_dlpack(writable(array).view(np.int16)).view(torch.bfloat16)
        if dtype == "bool":
            return torch.from_numpy(np.asarray(array != 0))
        return torch.from_dlpack(writable(array))

    def owns(self, value):
        return isinstance(value, self.module.Tensor)

    def give(self, value):
        value = value.detach().cpu()
        dtype = NAMES.get(str(value.dtype).replace("torch.", ""), str(value.dtype))
        return (value.view(self.module.int16) if dtype == "bf16" else value).numpy(), dtype


class Jax(NumPy):
    name = "jax"

    def __init__(self):
        self.module = importlib.import_module("jax.numpy")

    def take(self, array, dtype):
        # A copy: JAX arrays never change, and this memory does, from one call to the next.
        return self.module.array(super().take(array, dtype))

    def owns(self, value):
        return isinstance(value, self.module.ndarray)


class Other(NumPy):
    """Any module that has from_dlpack, or array: MLX, CuPy ..."""

    def __init__(self, name):
        self.name = name
        self.module = importlib.import_module(name)

    def take(self, array, dtype):
        if dtype == "bf16":
            whole = self.module.array(np.ascontiguousarray(array))
            return whole.view(self.module.bfloat16)
        array = np.asarray(array != 0) if dtype == "bool" else array
        from_dlpack = getattr(self.module, "from_dlpack", None)
        if from_dlpack is not None and dtype != "bool":
            return from_dlpack(writable(array))
        return self.module.array(np.ascontiguousarray(array))

    def owns(self, value):
        return type(value).__module__.split(".")[0] == self.name.split(".")[0]

    def give(self, value):
        if str(value.dtype).endswith("bfloat16"):
            return np.asarray(value.view(self.module.uint16)), "bf16"
        return super().give(value)


def framework(name):
    if name == "numpy":
        return NumPy()
    if name == "torch":
        return Torch()
    return Jax() if name in ("jax", "jax.numpy") else Other(name)


def candidates(function):
    """Frameworks a function may want, likeliest first: those its annotations name, those its code
    uses, then all that its import has brought along."""
    hints = " ".join(str(hint) for hint in getattr(function, "__annotations__", {}).values())
    names = getattr(getattr(function, "__code__", None), "co_names", ())
    world = getattr(function, "__globals__", {})
    used = {world[name].__name__.split(".")[0] for name in names if inspect.ismodule(world.get(name))}
    known = ("numpy", "torch", "jax", "mlx.core")
    ranks = {name: 0 if name.split(".")[0] in hints else 1 if name.split(".")[0] in used else 2
             for name in known if name in sys.modules or name.split(".")[0] in hints}
    return sorted(ranks, key=ranks.get)
